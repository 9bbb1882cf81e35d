"""Loops over arrays as steps of a sequence: one call of machine code, with the results of the eager function."""

from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab.compile.sequences import steps
from tests.compile.recurrent_programs import PROGRAMS, arguments
from tests.compile.test_recurrences import TOLERANCE, agree, turns_of

pytest.importorskip("numba", reason="recurrences need Numba")


def test_a_small_recurrent_net_is_one_call_forward_and_backward() -> None:
    compiled = agree(PROGRAMS[0], arguments(1, "float32"), TOLERANCE["float32"])
    assert len(compiled.kernels) == 1
    assert len(turns_of(compiled)) >= 2
    assert "iterations, run as loops" in compiled.why()
    assert compiled.source.count("def recurrence_") == len(turns_of(compiled))


@pytest.mark.slow(keep=1)
@pytest.mark.parametrize("program", PROGRAMS)
def test_loops_by_themselves_and_in_sequences_give_the_same_bits(program: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    given = arguments(2, "float64")
    joined, apart = lab.function(program), lab.function(program)
    first = joined(*given), joined(*given)
    monkeypatch.setattr(steps, "MOST_OF_LOOP", 0)
    second = apart(*given), apart(*given)
    assert turns_of(joined) == turns_of(apart)
    assert len(joined.kernels) < len(apart.kernels)
    for a, b in zip(lab.nest.flatten(first), lab.nest.flatten(second), strict=True):
        assert (a is None) == (b is None)
        if a is not None:
            np.testing.assert_array_equal(a.numpy(), b.numpy())


@pytest.mark.slow
def test_arrays_that_other_lines_make_are_put_together_for_the_turns() -> None:
    def run(x: Any, w: Any) -> Any:
        with lab.GradientTape() as tape:
            tape.watch([x, w])
            forces = [lab.sin(w * float(k) + lab.reduce_sum(w) / (k + 1.0) ** 0.7) for k in range(20)]
            forces = [f * f if k % 3 else lab.exp(-f) for k, f in enumerate(forces)]
            y, seen = x, []
            for f in forces:
                y = lab.tanh(y * 0.9 + f)
                seen.append(y)
            loss = lab.reduce_sum(seen[-1] * seen[7]) + lab.reduce_sum(seen[3])
        return [loss, seen[7], *tape.gradient(loss, [x, w])]

    given = [lab.constant(np.linspace(-1, 1, 12).reshape(3, 4)), lab.constant(np.linspace(0.1, 0.5, 12).reshape(3, 4))]
    compiled = agree(run, given, 1e-12)
    assert turns_of(compiled)


def test_a_few_turns_that_read_many_other_arrays_stay_unrolled() -> None:
    def run(x: Any) -> Any:
        with lab.GradientTape() as tape:
            tape.watch(x)
            y = x
            for k in range(5):
                a, b = lab.sin(x * (k + 0.5) ** 0.5), lab.exp(x * -((k + 1.5) ** 0.3))
                y = lab.tanh(y * a + b) * lab.cos(y) + a * b * y
            loss = lab.reduce_sum(y)
        return loss, tape.gradient(loss, x)

    compiled = agree(run, [lab.constant([0.1, 0.2, 0.3])], 2e-5)
    assert len(compiled.kernels) == 1


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_sums_over_any_axis_in_the_turns(axis: int) -> None:
    """Where a sum is kept in memory, turns of the innermost loop may depend on each other."""

    def run(x: Any, w: Any) -> Any:
        with lab.GradientTape() as tape:
            tape.watch([x, w])
            y = x
            for _ in range(12):
                total = lab.reduce_sum(y * w, axis=axis, keepdims=True)
                both = lab.reduce_sum(y * y, axis=[0, 2], keepdims=True)
                y = lab.tanh(y + 0.1 * total - 0.05 * both)
            loss = lab.reduce_sum(y * y)
        return loss, y, *tape.gradient(loss, [x, w])

    draw = np.random.default_rng(axis)
    given = [lab.constant(draw.normal(size=(4, 3, 9))), lab.constant(draw.normal(size=(3, 9)))]
    compiled = agree(run, given, 1e-12)
    assert turns_of(compiled)
