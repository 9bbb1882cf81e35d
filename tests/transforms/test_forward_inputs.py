"""Tangents as users pass them: lists, too few of them, wrong shapes."""

import numpy as np
import pytest

import autodiff_lab as lab


def test_a_tangent_may_be_a_list() -> None:
    """As a primal may."""
    value, tangent = lab.jvp(lambda x: x * x, [[1.0, 2.0]], [[3.0, 4.0]])
    assert value.numpy().tolist() == [1.0, 4.0]
    assert tangent.numpy().tolist() == [6.0, 16.0]


def test_one_tangent_for_each_primal() -> None:
    with pytest.raises(lab.errors.ShapeMismatch, match="1 tangents for 2 primals"):
        lab.jvp(lambda x, y: x * y, [1.0, 2.0], [1.0])
    with pytest.raises(lab.errors.ShapeMismatch, match=r"a primal has shape \(2,\) and its tangent \(3,\)"):
        lab.jvp(lambda x: x, [[1.0, 2.0]], [[1.0, 2.0, 3.0]])


def test_the_tangents_of_several_results_are_those_of_each() -> None:
    x, v, w = lab.constant([0.5, -1.5]), lab.Variable([2.0, 3.0]), lab.Variable(4.0)
    tangents = [lab.constant([1.0, 2.0]), lab.constant([0.5, -0.5]), lab.constant(3.0)]
    with lab.autodiff.ForwardAccumulator([x, v, w], tangents) as accumulator:
        y = lab.sin(x) * v
        with lab.GradientTape() as tape:
            tape.watch(x)
            loss = lab.reduce_sum(y * y * w + lab.exp(x) * v)
        slopes = tape.gradient(loss, [x, v, w])
        results = [y, w, lab.floor(x) * 2.0, slopes, lab.constant([1.0]), y, loss, lab.stop_gradient(y), v * 0.0, x]
    for zeros in ("none", "zero"):
        together = lab.nest.flatten(accumulator.jvp(results, zeros))
        alone = [accumulator.jvp(result, zeros) for result in lab.nest.flatten(results)]
        assert [t is None for t in together] == [t is None for t in alone]
        for a, b in zip(together, alone, strict=True):
            if a is not None:
                np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-6)


def test_results_of_a_gradient_take_two_sweeps_together() -> None:
    x = [lab.Variable(np.full(3, float(k + 1))) for k in range(6)]
    swept: list[int] = []
    with lab.autodiff.ForwardAccumulator(x, [lab.ones_like(one) for one in x]) as accumulator:
        with lab.GradientTape() as tape:
            loss = lab.reduce_sum(lab.sin(lab.add_n(x)) * x[0])
        slopes = tape.gradient(loss, x)
    of_tape = lab.GradientTape.gradient
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lab.GradientTape, "gradient", lambda *given, **how: swept.append(1) or of_tape(*given, **how))
        accumulator.jvp(slopes)
    assert len(swept) == 2
