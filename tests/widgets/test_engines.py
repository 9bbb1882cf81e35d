"""Engines side by side: what the accounts show is what the recorded passes did, and bad input gets an answer."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab import lessons, teaching
from autodiff_lab.errors import InvalidArgumentError, MissingPackage, NotInRecording
from autodiff_lab.widgets.engines import EngineComparison

MULTIPLIED = 3.0, 2.0, 5.0


def engines(*given: Any) -> EngineComparison:
    shown = lessons.engines(*given)
    assert isinstance(shown, EngineComparison)
    return shown


def test_without_anywidget_it_is_a_picture(monkeypatch: pytest.MonkeyPatch) -> None:
    live = engines(diamond())

    def missing(name: str, *rest: Any) -> Any:
        if name == "autodiff_lab.widgets.engines":
            raise MissingPackage("no anywidget")
        return imported(name, *rest)

    imported = builtins.__import__
    monkeypatch.setattr(builtins, "__import__", missing)
    still = lessons.engines(diamond())
    assert isinstance(still, lessons.Picture)
    assert (repr(still), still.svg) == (repr(live), live.picture())


def diamond(at: float = 2.0, name: str = "x") -> lab.Recording:
    """Record x that reaches c on two paths through y."""
    first, one, other = MULTIPLIED
    x = lab.Variable(at, name=name)
    with lab.record() as recording, lab.GradientTape() as tape:
        y = first * x
        a = one * y
        b = other * y
        c = a + b
        tape.gradient(c, x)
    return recording


def final(shown: EngineComparison, which: int) -> dict[str, Any]:
    """Return the states of one engine's accounts at its end, by name."""
    names = [account.name for account in shown.accounts.accounts]
    return dict(zip(names, shown.accounts.passes[which].states[-1], strict=True))


def test_every_panel_ends_with_what_its_engine_reports() -> None:
    first, one, other = MULTIPLIED
    shown = engines(diamond(), ["OVERWRITE", "EARLY", "CLOSED", "STALE"])
    right = first * (one + other)
    wanted = [right, first * one, first * one + right, first * one, 4 * right]
    assert [float(final(shown, which)["x"].holds) for which in range(5)] == wanted


def test_a_value_without_a_name_is_called_by_its_formula() -> None:
    x = lab.Variable(3.0, name="x")
    with lab.record() as recording, lab.GradientTape() as tape:
        tape.gradient(lab.sin(x * x), x)
    shown = engines(recording)
    assert shown.account().startswith("right: d(sin(x * x))/dx = ")
    assert "(sin(x * x)) pays" in " ".join(shown.accounts.passes[0].sentences)
    assert "%" not in shown.account() + shown.picture().split("</style>")[1] + str(shown.accounts.facts()["passes"])


def test_slots_orders_and_stamps_follow_the_pass() -> None:
    shown = engines(diamond(), ["EARLY"])
    right, early = final(shown, 0)["y"], final(shown, 1)["y"]
    assert (right.booked, right.order, right.early) == (2, (4,), False)
    assert (early.booked, early.order, early.early) == (2, (3, 5), True)
    assert final(shown, 1)["x"].booked == 2
    assert {a.name: a.due for a in shown.accounts.accounts} == {"x": 1, "y": 2, "a": 1, "b": 1, "c": 0}
    stamped = [
        row[[a.name for a in shown.accounts.accounts].index("y")].early for row in shown.accounts.passes[1].states
    ]
    assert stamped == [False] * 4 + [True] * 3


def test_each_sentence_is_an_equation_that_holds() -> None:
    for each in engines(diamond(1.5), ["EARLY", "CLOSED"]).accounts.passes:
        for sentence in each.sentences[1:]:
            product, _, amount = sentence.partition(" pays ")[2].partition(" to ")[0].partition(" = ")
            one, _, other = product.partition(" × ")
            assert float(one) * float(other) == float(amount)


def test_of_an_engine_of_ones_own_the_panel_has_its_name() -> None:
    halved = teaching.Engine("HALVED", "everything is halved", combine=lambda incoming, local: incoming * local / 2)
    shown = engines(diamond(), [halved, teaching.Engine()])
    assert [each.name for each in shown.accounts.passes] == ["right", "HALVED", "an engine"]
    assert float(final(shown, 1)["x"].holds) == 2.625


def test_saved_it_is_a_picture_and_a_text(tmp_path: Any) -> None:
    shown = engines(diamond())
    bundle = shown._repr_mimebundle_()
    assert bundle is not None
    assert bundle[0]["text/plain"] == repr(shown)
    assert "15 missing" in repr(shown)
    assert bundle[0]["image/svg+xml"].count("lab-account ") + bundle[0]["image/svg+xml"].count('lab-account"') == 20
    assert shown.to_html(tmp_path / "engines.html").stat().st_size < 100_000


def test_names_are_text_and_never_markup() -> None:
    shown = engines(diamond(name="<b>&x"))
    assert "<b>" not in shown.facts["markup"] + shown.picture()


def test_a_source_without_a_path_is_said() -> None:
    x, alone = lab.Variable(2.0, name="x"), lab.Variable(1.0, name="alone")
    with lab.record() as recording, lab.GradientTape() as tape:
        y = x * x
        _ = alone + 1.0
        tape.gradient(y, [x, alone])
    assert "dy/dx = 4" in repr(engines(recording, []))


def chain(length: int) -> lab.Recording:
    x = lab.Variable(1.0, name="x")
    with lab.record() as recording, lab.GradientTape():
        y = x
        for _ in range(length):
            y = y + 1.0
    return recording


def vector() -> lab.Recording:
    x = lab.Variable(np.ones(3), name="x")
    with lab.record() as recording, lab.GradientTape():
        _ = lab.reduce_sum(x * x)
    return recording


@pytest.mark.parametrize(
    ("recording", "wrong", "said"),
    [
        (None, [], "takes a recording"),
        (diamond, ["EARLI"], "Did you mean 'EARLY'"),
        (diamond, [None], "by their codes"),
        (diamond, 3, "a list of codes"),
        (diamond, ["EARLY"] * 6, "Up to 5"),
        (lambda: chain(40), [], "Try a smaller program"),
        (vector, [], "program of scalars"),
    ],
)
def test_bad_input_is_refused(recording: Any, wrong: Any, said: str) -> None:
    with pytest.raises(InvalidArgumentError, match=said):
        lessons.engines(recording() if recording else recording, wrong)


def test_a_recording_without_ops_is_refused() -> None:
    with lab.record() as empty:
        pass
    with pytest.raises(NotInRecording):
        lessons.engines(empty)
