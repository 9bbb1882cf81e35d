"""Which of several programs for one signature serves a call, and that one that cannot is left at once."""

from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab.compile.loops import kernels

pytest.importorskip("numba", reason="a sequence of steps needs Numba")
STEPS = 8


def adaptive(x: Any, h: Any) -> tuple[Any, Any]:
    """Steps that are taken or halved, as in an integrator: the values decide how often each happens."""
    with lab.GradientTape() as tape:
        tape.watch(x)
        y = x
        for _ in range(STEPS):
            new = y - h * lab.sin(y)
            if lab.reduce_max(lab.abs(new - y)) < 0.5:
                y = new
            else:
                h = h * 0.5
        loss = lab.reduce_sum(y * y)
    return loss, tape.gradient(loss, x)


def test_the_program_that_served_last_is_tried_first(monkeypatch: pytest.MonkeyPatch) -> None:
    x = lab.constant([0.5, 1.0])
    kinds = [lab.constant(h) for h in (0.25, 0.75, 1.5, 4.0)]
    compiled = lab.function(adaptive)
    for h in kinds:
        compiled.compile(x, h)
    by_numpy: list[Any] = []
    plainly = kernels.plainly
    monkeypatch.setattr(kernels, "plainly", lambda *given: by_numpy.append(given) or plainly(*given))
    for h in (*kinds, *reversed(kinds), kinds[2], kinds[2]):
        for found, wanted in zip(compiled(x, h), adaptive(x, h), strict=True):
            np.testing.assert_allclose(found.numpy(), wanted.numpy(), rtol=1e-6)
    first = compiled._latest
    assert first is not None
    assert len({one.assumed for one in (first, *first.others)}) == len(first.others) + 1 >= 3
    assert first.latest is None or first.latest in first.others
    counts = [one.served for one in (first, *first.others)]
    for _ in range(5):
        compiled(x, kinds[2])
    grown = [one.served - before for one, before in zip((first, *first.others), counts, strict=True)]
    assert sorted(grown) == [*(0,) * len(first.others), 5]
    assert compiled.fallbacks == 0
    assert not by_numpy


def test_a_value_that_differs_does_not_have_the_steps_repeated_by_numpy() -> None:
    def run(x: Any) -> Any:
        y = lab.exp(x) * 2.0 + lab.sin(x)
        return y + 1.0 if lab.reduce_sum(y) > 3.0 else y - lab.cos(x)

    compiled = lab.function(run)
    high, low = lab.constant([1.0, 2.0]), lab.constant([-3.0, -2.0])
    compiled.compile(high)
    (kernel,) = compiled.kernels
    from autodiff_lab.compile.program.lines import OtherValueError

    with pytest.raises(OtherValueError):
        kernel.function(low.numpy())
    np.testing.assert_allclose(compiled(low).numpy(), run(low).numpy(), rtol=1e-6)
