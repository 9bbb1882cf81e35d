"""The op tests can fail: every rule, changed by one percent in turn, is caught by the comparison with differences."""

from collections.abc import Callable
from typing import Any

import pytest

from autodiff_lab.engine.op import REGISTRY
from autodiff_lab.testing import check
from tests.ops.samples import Sample, samples
from tests.ops.test_derivatives import RULED, first_order

# Their derivative is 0, and 1.01 times that is still right.
FLAT = {
    "angle", "below", "floor_quotient", "imaginary_part", "not_below", "not_zero", "positive", "sign",
    "truncated_quotient",
}  # fmt: skip


class Disagrees(Exception):
    """The tape and the differences do not agree; why is not asked, which takes most of the time."""


@pytest.fixture(autouse=True)
def _nothing_is_examined(monkeypatch: pytest.MonkeyPatch) -> None:
    def examine(*_: Any) -> Any:
        raise Disagrees

    monkeypatch.setattr(check, "Program", examine)


def is_caught(sample: Sample) -> bool:
    try:
        return bool(first_order(sample))
    except Disagrees:
        return True


def scaled(rule: Callable[..., Any]) -> Callable[..., Any]:
    """Return a rule whose gradients are one per cent too large."""

    def wrong(*args: Any, **params: Any) -> Any:
        found = rule(*args, **params)
        return [None if g is None else g * 1.01 for g in found] if isinstance(found, list | tuple) else found * 1.01

    return wrong


def mutants(name: str) -> list[Any]:
    """Return the rules of an op with one of them made wrong, each in turn."""
    rules = REGISTRY[name].rules
    if not isinstance(rules, tuple):
        return [scaled(rules)]
    return [
        tuple(scaled(rule) if i == k else rule for i, rule in enumerate(rules))
        for k in range(len(rules))
        if rules[k] is not None
    ]


@pytest.mark.mutants
@pytest.mark.parametrize("name", [name for name in RULED if name not in FLAT])
def test_every_rule_made_wrong_is_caught(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    op = REGISTRY[name]
    monkeypatch.setattr(op, "part", None)  # which a sweep over arrays takes in place of the rule
    for rules in mutants(name):
        monkeypatch.setattr(op, "rules", rules)
        assert any(is_caught(sample) for sample in samples(name))


@pytest.mark.mutants
@pytest.mark.parametrize("name", sorted(FLAT & set(RULED)))
def test_a_slope_in_place_of_a_flat_rule_is_caught(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    op = REGISTRY[name]
    assert isinstance(op.rules, tuple)
    for k in range(len(op.rules)):
        rules = tuple((lambda ops, g, *_: g) if i == k else rule for i, rule in enumerate(op.rules))
        monkeypatch.setattr(op, "rules", rules)
        assert any(is_caught(sample) for sample in samples(name))
