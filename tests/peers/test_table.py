"""Every op that torch also has: the same values and gradients at every sample of the op tests."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from autodiff_lab.engine.op import REGISTRY
from autodiff_lab.testing import gradient
from tests.ops.samples import Sample, samples

torch = pytest.importorskip("torch", reason="torch is not installed, so there is no peer to compare with")
from tests.peers.counterparts import PART, TWINS  # noqa: E402 - it needs torch

SHARED = [name for name in TWINS if name in REGISTRY]


def first(name: str, value: Any) -> Any:
    return value[PART[name]] if name in PART else value


def theirs(sample: Sample) -> tuple[list[np.ndarray], list[np.ndarray] | None]:
    """Return torch's values and gradients at a sample; None in place of gradients where torch has no rule."""
    inputs = [torch.tensor(x, requires_grad=k in sample.differentiable) for k, x in enumerate(sample.inputs)]
    value = TWINS[sample.op.name](*inputs, **sample.params)
    outputs = list(value) if isinstance(value, tuple) else [value]
    floating = [parts(y) for y in outputs if y.requires_grad]
    values = [y.detach().numpy() for y in outputs]
    sources = [inputs[k] for k in sample.differentiable]
    if not floating:
        return values, None
    total = sum((y * weights(y.shape, y.dtype)).sum() for y in floating)
    try:
        found = torch.autograd.grad(total, sources, allow_unused=True)
    except (NotImplementedError, RuntimeError):
        return values, None
    return values, [np.zeros(s.shape) if g is None else g.numpy() for g, s in zip(found, sources, strict=True)]


def parts(y: Any) -> Any:
    """Return a real number for each element, as `autodiff_lab.testing.weighted_sum` makes it of a complex one."""
    return y.real + 0.6 * y.imag if y.is_complex() else y


def weights(shape: Any, dtype: Any) -> Any:
    """Return the weights that `autodiff_lab.testing.weighted_sum` gives the elements of an output."""
    return torch.cos(0.7 * torch.arange(int(np.prod(shape)), dtype=torch.float64)).reshape(shape).to(dtype)


def ours(sample: Sample) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Return our values and gradients at a sample."""
    tensors = sample.tensors()
    value = first(sample.op.name, sample(*tensors))
    outputs = list(value) if isinstance(value, tuple) else [value]
    found = gradient(lambda *inputs: first(sample.op.name, sample(*inputs)), *tensors)
    slopes = [found[k] for k in sample.differentiable]
    return [np.asarray(y.numpy()) for y in outputs], [
        np.zeros(np.shape(sample.inputs[k])) if g is None else g.numpy()
        for g, k in zip(slopes, sample.differentiable, strict=True)
    ]


@pytest.mark.parametrize("name", SHARED)
def test_values_and_gradients_are_those_of_torch(name: str, figure: Callable[[str, str], None]) -> None:
    compared = silent = 0
    for sample in samples(name):
        if any(np.asarray(x).dtype.kind in "OSU" for x in sample.inputs):
            continue
        try:
            values, slopes = theirs(sample)
        except NotImplementedError:
            silent += 1
            continue
        our_values, our_slopes = ours(sample)
        where = f"{[np.shape(x) for x in sample.inputs]} {sample.params}"
        for mine, other in zip(our_values, values, strict=True):
            assert mine.shape == other.shape, where
            np.testing.assert_allclose(mine, other, 1e-6, 1e-8, err_msg=where)
        compared += 1
        for mine, other in zip(our_slopes, slopes or [], strict=False):
            np.testing.assert_allclose(mine, other, 1e-6, 1e-8, err_msg=f"gradient, {where}")
    assert compared, "no sample could be compared"
    if silent:
        figure(f"samples of {name} that torch cannot express", str(silent))


def test_the_table_of_counterparts_names_ops_that_exist(figure: Callable[[str, str], None]) -> None:
    assert set(TWINS) <= set(REGISTRY)
    figure("ops compared with torch", f"{len(SHARED)} of {len(REGISTRY)}")
    figure("ops without a counterpart in torch", ", ".join(sorted(set(REGISTRY) - set(TWINS))))


def test_a_wrong_rule_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The comparison can fail."""
    monkeypatch.setattr(REGISTRY["sin"], "rules", (lambda ops, g, out, x: g * ops.cos(x) * 1.001,))
    sample = next(iter(samples("sin")))
    slopes = theirs(sample)[1]
    assert slopes is not None
    assert not np.allclose(ours(sample)[1][0], slopes[0], 1e-6)
