"""What checks deal: no number at which rounding decides, and no program on which a wrong engine happens to be right."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab.lessons import check_entries
from autodiff_lab.lessons.entries import SMALLEST, deal
from autodiff_lab.lessons.taping import BLURRED, _asked


def branching(bound: float) -> Any:
    return lambda t: lab.exp(t) + 1.0 if t < bound else lab.exp(t)


@pytest.mark.parametrize("seed", range(5))
def test_dealt_programs_hold_no_zero(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(100):
        dealt = deal(rng)
        locals_ = [abs(local) for _, uses in dealt.entries for _, local in uses]
        assert min(*locals_, *map(abs, dealt.gradients.values())) >= SMALLEST


@pytest.mark.parametrize(("bound", "exact"), [(2.0, True), (-1.5, True), (2.01, False), (0.3, False)])
def test_both_sides_of_a_boundary_are_asked_and_nothing_that_rounding_decides(bound: float, exact: bool) -> None:
    drawn = [bound - 0.05, float(np.nextafter(bound, -9)), bound, float(np.nextafter(bound, 9)), bound + 0.05]
    asked = _asked(branching(bound), drawn)
    near = [x for x in asked if abs(x - bound) < 1e-3]
    assert [x for x in near if abs(x - bound) <= BLURRED] == ([bound] if exact else [])
    assert {x < bound for x in near if x != bound} == {True, False}


@pytest.mark.parametrize("bound", [2.0, 2.01, 0.3])
def test_a_list_is_judged_alike_whatever_is_drawn(bound: float) -> None:
    def said(order: tuple[str, ...]) -> Any:
        return lambda t: list(order) if t < bound else ["exp"]

    for seed in range(12):
        given = {order: check_entries(said(order), branching(bound), 0.0, 4.0, seed) for order in (
            ("exp", "add"), ("add", "exp"))}  # fmt: skip
        assert {result.code for result in given.values()} == {"", "ORDER"}
    late = check_entries(lambda t: ["exp", "add"] if t <= 2.0 else ["exp"], branching(2.0), 0.0, 4.0, 1)
    assert not late.passed
