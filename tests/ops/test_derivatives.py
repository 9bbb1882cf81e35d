"""Every rule of every op: against differences, in both modes, stacked, on a tape that keeps only what ops declare."""

from itertools import islice, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import mutually_broadcastable_shapes

import autodiff_lab as lab
from autodiff_lab.engine import apply
from autodiff_lab.engine.op import REGISTRY, UNREGISTERED
from autodiff_lab.testing import check_gradient, weighted_sum
from tests.ops.samples import REFUSES_HALVES, Sample, elementwise, ops_of_the_catalogue, samples

RULED = [name for name in ops_of_the_catalogue() if REGISTRY[name].rules not in (None, UNREGISTERED)]
ELEMENTWISE = [name for name in RULED if REGISTRY[name].elementwise]


def first_order(sample: Sample) -> list[str]:
    """Return what disagrees with differences, a sentence each."""
    check = check_gradient(sample, *sample.inputs)
    return [] if check else [f"{sample.op.name}{[np.shape(x) for x in sample.inputs]} {sample.params}: {check}"]


@pytest.mark.parametrize("name", RULED)
def test_first_order_agrees_with_differences(name: str) -> None:
    wrong = [sentence for sample in samples(name) for sentence in first_order(sample)]
    assert not wrong


@pytest.mark.slow(keep=80)
@pytest.mark.parametrize("name", RULED)
def test_second_order_agrees_with_differences_of_the_first(name: str) -> None:
    for sample in islice(samples(name, seed=1), 6):
        check = check_gradient(sample, *sample.inputs, order=2)
        assert check, f"{[np.shape(x) for x in sample.inputs]} {sample.params}: {check}"


@pytest.mark.slow(keep=25)
@pytest.mark.parametrize("name", ELEMENTWISE)
@given(data=st.data())
@settings(max_examples=8)
def test_first_order_over_shapes_that_hypothesis_finds(name: str, data: st.DataObject) -> None:
    op = REGISTRY[name]
    shapes = data.draw(mutually_broadcastable_shapes(num_shapes=op.arity, max_dims=4, max_side=3, min_side=0))
    seed = data.draw(st.integers(0, 1000))
    assert not first_order(elementwise(op, shapes.input_shapes, np.random.default_rng(seed)))


def gradients(sample: Sample, recorded: bool, persistent: bool = False) -> list[np.ndarray | None]:
    """Gradients by the differentiable inputs, by a raw sweep or one that an outer tape records."""
    tensors = sample.tensors()
    sources = [tensors[k] for k in sample.differentiable]
    with lab.GradientTape() as outer:
        outer.watch(sources)
        with lab.GradientTape(persistent=persistent) as tape:
            tape.watch(sources)
            total = weighted_sum(sample(*tensors))
        found = tape.gradient(total, sources) if recorded else None
    if found is None:
        found = tape.gradient(total, sources)
    return [None if g is None else np.asarray(g) for g in found]


@pytest.mark.parametrize("name", RULED)
def test_a_recorded_sweep_equals_a_raw_one_to_the_last_bit(name: str) -> None:
    for sample in samples(name):
        for raw, recorded in zip(gradients(sample, False), gradients(sample, True), strict=True):
            assert raw is not None
            np.testing.assert_array_equal(raw, recorded, strict=True)


@pytest.mark.parametrize("name", RULED)
def test_rules_read_only_what_the_op_says_it_keeps(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A one-shot tape lets go of the values that no rule reads; here of all of them, however small."""
    monkeypatch.setattr(apply, "LEAN_BYTES", 0)
    for sample in samples(name):
        for lean, whole in zip(gradients(sample, False), gradients(sample, False, persistent=True), strict=True):
            np.testing.assert_array_equal(lean, whole)


def parts(sample: Sample) -> int:
    """How many outputs an op has."""
    made = sample(*sample.tensors())
    return len(made) if isinstance(made, tuple) else 1


@pytest.mark.slow(keep=70)
@pytest.mark.parametrize("name", [n for n in RULED if REGISTRY[n].stacked])
def test_a_stack_of_cotangents_equals_a_loop(name: str) -> None:
    """The Jacobian is one sweep with a stack of unit cotangents; row by row it must be the same."""
    for sample in samples(name):
        for k, part in product(sample.differentiable, range(parts(sample))):
            tensors = sample.tensors()
            with lab.GradientTape(persistent=True) as tape:
                tape.watch(tensors[k])
                made = sample(*tensors)
                out = made[part] if isinstance(made, tuple) else made
            jacobian = np.asarray(tape.jacobian(out, tensors[k]))
            assert jacobian.shape == (*out.shape, *tensors[k].shape)
            for at in np.ndindex(tuple(out.shape)):
                unit = np.zeros(out.shape, out.dtype.as_numpy_dtype)
                unit[at] = 1
                row = tape.gradient(out, tensors[k], output_gradients=lab.constant(unit))
                np.testing.assert_allclose(jacobian[at], row, 1e-12, 1e-12)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
@pytest.mark.parametrize("name", [n for n in RULED if n != "cast"])
def test_a_gradient_has_the_dtype_of_its_source_and_its_accuracy(name: str, dtype: str) -> None:
    if name in REFUSES_HALVES and dtype != "float32":
        return
    for sample in islice(samples(name), 5):
        tensors = sample.tensors(dtype)
        sources = [tensors[k] for k in sample.differentiable]
        with lab.GradientTape() as tape:
            tape.watch(sources)
            out = sample(*tensors)
        wide = [lab.cast(t, lab.float64) if t.dtype.is_floating else t for t in tensors]
        with lab.GradientTape() as exact_tape:
            exact_tape.watch(wide)
            exact_out = sample(*wide)
        exact = exact_tape.gradient(exact_out, [wide[k] for k in sample.differentiable])
        for source, g, e in zip(sources, tape.gradient(out, sources), exact, strict=True):
            assert g.dtype == source.dtype
            step = float(lab.as_dtype(dtype)._limits().eps)
            scale = np.abs(e.numpy()) + np.max(np.abs(e.numpy()), initial=1.0)
            assert np.all(np.abs(np.asarray(g.numpy(), np.float64) - e.numpy()) <= 64 * step * scale), sample.params


# Kernels that NumPy also has for complex numbers and that are analytic in their domain: f'(x) = Im f(x + ih) / h has
# no cancellation, so it holds to the last digits.
ANALYTIC = {
    "acos", "acosh", "add", "asin", "asinh", "atan", "atanh", "cos", "cosh", "divide", "exp", "expm1", "log", "log1p",
    "multiply", "negative", "pow", "reciprocal", "rsqrt", "sin", "sinh", "sqrt", "square", "subtract", "tan", "tanh",
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(ANALYTIC))
def test_analytic_ops_agree_with_the_complex_step_to_twelve_digits(name: str) -> None:
    op = REGISTRY[name]
    sample = elementwise(op, ((5,),) * op.arity, np.random.default_rng(3))
    step = 1e-30
    for k in sample.differentiable:
        tensors = sample.tensors()
        with lab.GradientTape() as tape:
            tape.watch(tensors[k])
            out = sample(*tensors)
        moved = [x + 1j * step * (i == k) for i, x in enumerate(sample.inputs)]
        np.testing.assert_allclose(tape.gradient(out, tensors[k]), op.kernel(*moved).imag / step, 1e-12)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize(
    ("name", "end", "first", "second"),
    [("acosh", 1.0, np.inf, -np.inf), ("asin", 1.0, np.inf, np.inf), ("asin", -1.0, np.inf, -np.inf),
     ("acos", 1.0, -np.inf, -np.inf), ("atanh", 1.0, np.inf, np.inf), ("sqrt", 0.0, np.inf, -np.inf),
     ("log", 0.0, np.inf, -np.inf), ("log1p", -1.0, np.inf, -np.inf), ("rsqrt", 0.0, -np.inf, np.inf)],
)  # fmt: skip
def test_derivatives_at_the_end_of_a_domain_are_infinite(
    name: str, end: float, first: float, second: float, dtype: str
) -> None:
    """None of the contributions is 0 times infinity, which would make the sum nan."""
    x = lab.constant(end, dtype)

    def both(x: lab.Tensor) -> tuple[lab.Tensor, lab.Tensor]:
        with lab.GradientTape() as outer:
            outer.watch(x)
            with lab.GradientTape() as inner:
                inner.watch(x)
                y = getattr(lab.math, name)(x)
            slope = inner.gradient(y, x)
        return slope, outer.gradient(slope, x)

    for function in (both, lab.function(both)):
        assert tuple(float(value) for value in function(x)) == (first, second)
