"""Every kernel with an override, on the operands of the op tests: all layouts, nan, infinities, both orders.

The calls are those that ops and their rules make, forward, backward and backward again; each goes to the override and
to the reference, with unusual layouts and values of the operands.
"""

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab.kernels.base import choose
from autodiff_lab.kernels.base.choose import CHOSEN, Chosen, use_kernels
from tests.ops.samples import Sample, ops_of_the_catalogue, samples

pytestmark = pytest.mark.skipif(not choose.numba_is_there(), reason="Numba is not installed")

ALSO = {"softmax_minus_label", "segment_mean", "gather", "take_axis"}
OPS = [name for name in ops_of_the_catalogue() if name in CHOSEN or name in ALSO]  # asked for first: families load late
WITHIN = {"float32": 3e-5, "float64": 3e-14}


def gapped(x: Any) -> Any:
    """Return an array with gaps along every axis."""
    wide = np.zeros(tuple(2 * n for n in x.shape), x.dtype)
    view = wide[(slice(None, None, 2),) * x.ndim]
    view[...] = x
    return view


def frozen(x: Any) -> Any:
    """Return a read-only array whose numbers are not aligned."""
    return np.frombuffer(b"x" + x.tobytes(), np.uint8)[1:].view(x.dtype).reshape(x.shape)


def backwards(x: Any) -> Any:
    """Return an array that is stored from its end."""
    turned = (slice(None, None, -1),) * x.ndim
    return np.ascontiguousarray(x[turned])[turned]


def filled(*values: float) -> Callable[[Any], Any]:
    """Put values among the numbers of an array."""

    def put(x: Any) -> Any:
        if x.dtype.kind != "f":
            return x
        return np.where(np.arange(x.size).reshape(x.shape) % 3 == 1, np.resize(np.array(values, x.dtype), x.shape), x)

    return put


def one_value(x: Any) -> Any:
    """Return an array all of whose elements are its first, in one place."""
    return np.broadcast_to(x.reshape(-1)[:1].reshape((1,) * x.ndim), x.shape) if x.size else x


WAYS = [
    np.asfortranarray, gapped, frozen, backwards, one_value, filled(np.nan), filled(np.inf, -np.inf),
    filled(np.inf, np.nan, -0.0), filled(-0.0, 0.0, 1e-40),
]  # fmt: skip


def differentiated(sample: Sample, dtype: str) -> None:
    """Call an op and its rules, twice over where it has a second derivative."""
    tensors = sample.tensors(dtype)
    sources = [tensors[k] for k in sample.differentiable]
    with lab.GradientTape() as outer:
        outer.watch(sources)
        with lab.GradientTape() as tape:
            tape.watch(sources)
            out = sample(*tensors)
        found = [g for g in tape.gradient(out, sources) if g is not None] if sources else []
    if found:
        outer.gradient(found, sources)


def calls(name: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Chosen, list[Any], dict[str, Any]]]:
    """Yield the calls of kernels with overrides that the samples of an op lead to, each kind once."""
    heard: dict[Any, Any] = {}

    def listen(kernel: Chosen, *arrays: Any, **params: Any) -> Any:
        key = (kernel.name, *((np.shape(a), a.dtype.char) for a in arrays), repr(params))
        heard.setdefault(key, (kernel, list(arrays), params))
        return kernel.reference(*arrays, **params)

    with monkeypatch.context() as patch:
        patch.setattr(Chosen, "__call__", listen)
        patch.setitem(choose.IN_USE, "mode", "numba")  # small reductions ask too
        for dtype in ("float32", "float64"):
            for sample in islice(samples(name), 3):
                differentiated(sample, dtype)
    yield from heard.values()


@pytest.mark.slow(keep=10)
@pytest.mark.parametrize("name", [name for name in OPS if name != "matmul"])
def test_overrides_give_what_references_give_however_operands_lie(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    heard = list(calls(name, monkeypatch))
    for kernel, plain, params in heard:
        for way in WAYS:
            arrays = [way(a) if a.ndim else a for a in plain]
            before = [a.copy() for a in arrays]
            with np.errstate(all="ignore"):
                expected = kernel.reference(*arrays, **params)
                with use_kernels("numba"):
                    found = kernel(*arrays, **params)
            assert not [k for k in kernel.failures if k in "fd"], kernel.failures
            within = WITHIN[plain[0].dtype.name]
            pairs = zip(found, expected, strict=True) if isinstance(expected, tuple) else [(found, expected)]
            for one, wanted in pairs:
                np.testing.assert_allclose(one, wanted, rtol=within, atol=within, strict=True, err_msg=kernel.name)
            for now, then in zip(arrays, before, strict=True):
                np.testing.assert_array_equal(now, then)
    assert heard
