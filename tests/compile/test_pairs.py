"""A loss and its gradient in one pass: the bits of the two kernels, in all layouts, and what programs do with them."""

from importlib import import_module
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab.compile.loops.pairs import loss_and_grad
from autodiff_lab.kernels.base.choose import CHOSEN
from tests.kernels.agreement import DTYPES, TOLERANCE, layouts
from tests.refusals import refused

pytest.importorskip("numba", reason="loops need Numba")

DRAW = np.random.default_rng(3)
SHAPES = [(1, 1), (5, 3), (64, 10), (7, 149), (9, 150), (3, 5000), (2, 3, 11)]


def apart(g: Any, logits: Any, labels: Any) -> tuple[Any, Any]:
    """What the two kernels give one by one."""
    import_module("autodiff_lab.ops.nn.losses")  # which makes the kernels
    loss, slope = (CHOSEN[f"sparse_softmax_cross_entropy{end}"] for end in ("", "_grad"))
    assert loss.compile(logits.dtype)
    assert slope.compile(logits.dtype)
    return loss.override()(logits, labels), slope.override()(g, logits, labels)


def step(power: float = 1.0, weighted: bool = False) -> Any:
    """A function of logits and labels that gives a target and its gradient."""

    def run(logits: Any, labels: Any) -> Any:
        with lab.GradientTape() as tape:
            tape.watch(logits)
            losses = lab.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
            mean = lab.reduce_mean(losses * lab.exp(-losses) if weighted else losses)
            target = mean if power == 1 else mean**power
        return target, tape.gradient(target, logits)

    return run


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_one_pass_gives_the_bits_of_two(shape: tuple[int, ...], dtype: str) -> None:
    assert loss_and_grad.compile(np.dtype(dtype)), loss_and_grad.failures
    logits, g = (DRAW.normal(size=s).astype(dtype) for s in (shape, shape[:-1]))
    labels = DRAW.integers(0, shape[-1], shape[:-1])
    logits.flat[0] = [np.nan, np.inf, -np.inf, 80.0][shape[0] % 4]
    for (how, x), (_, shares) in zip(layouts(logits), layouts(g), strict=True):
        with np.errstate(all="ignore"):
            reference = loss_and_grad.reference(shares, x, labels)
        ours, wanted = loss_and_grad.override()(shares, x, labels), apart(shares, x, labels)
        within = TOLERANCE[dtype] * 4
        for found, one, plain in zip(ours, wanted, reference, strict=True):
            np.testing.assert_array_equal(found, one, how, strict=True)
            np.testing.assert_allclose(found, plain, rtol=within, atol=within, strict=True)


def test_what_does_not_fit_is_left_to_the_reference() -> None:
    assert loss_and_grad.compile(np.dtype("f4"))
    logits, g, labels = np.zeros((4, 3), "f4"), np.ones(4, "f4"), np.array([0, 1, 2, 0])
    for case in [
        (g, logits, labels - 1),
        (g, logits, labels + 1),
        (g[None], logits, labels),
        (g[:0], logits[:0], labels[:0]),
    ]:
        assert loss_and_grad.override()(*case) is NotImplemented


@pytest.mark.parametrize("mode", ["auto", "numpy", "numba"])
def test_a_program_makes_both_in_one_call(mode: str) -> None:
    x, labels = lab.constant(DRAW.normal(size=(640, 10)), "float32"), lab.constant(DRAW.integers(0, 10, 640))
    with lab.use_kernels(mode):
        compiled: Any = lab.function(step())
        compiled(x, labels)
        assert [k.title for k in compiled.kernels if "losses" in k.title] == ["losses_1"]
        for found, wanted in zip(compiled(x, labels), step()(x, labels), strict=True):
            np.testing.assert_allclose(found.numpy(), wanted.numpy(), rtol=2e-6, atol=2e-7)
    assert not compiled.fallbacks


@pytest.mark.parametrize("how", [{"power": 2.0}, {"weighted": True}])
def test_a_cotangent_that_hangs_on_the_losses_waits_for_them(how: Any) -> None:
    x, labels = lab.constant(DRAW.normal(size=(640, 10)), "float32"), lab.constant(DRAW.integers(0, 10, 640))
    compiled: Any = lab.function(step(**how))
    compiled(x, labels)
    for found, wanted in zip(compiled(x, labels), step(**how)(x, labels), strict=True):
        np.testing.assert_allclose(found.numpy(), wanted.numpy(), rtol=1e-5, atol=1e-6)
    assert "grad_(" in compiled.source
    assert not compiled.fallbacks


def test_a_label_that_is_no_class_is_refused_as_in_eager_calls() -> None:
    x, labels = lab.constant(DRAW.normal(size=(640, 10)), "float32"), lab.constant(DRAW.integers(0, 10, 640))
    compiled = lab.function(step())
    compiled(x, labels)
    with refused(lab.errors.InvalidArgumentError, "label"):
        compiled(x, labels + 10)
