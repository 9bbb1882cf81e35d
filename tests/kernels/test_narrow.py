"""Products of long matrices and narrow ones are those of NumPy, whatever the pieces."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab.kernels.base.choose import use_kernels
from autodiff_lab.kernels.matmul import blas, narrow

SIZES = [(3000, 784, 10), (5001, 100, 7), (20_011, 64, 2), (9000, 8, 32), (130_000, 1, 16)]


@pytest.fixture
def as_they_lie(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cut products on every processor."""
    monkeypatch.setattr(narrow, "are_taken_as_they_lie", lambda: True)


def drawn(*shape: int, dtype: str) -> Any:
    return np.random.default_rng(1).normal(size=shape).astype(dtype)


def close(found: Any, x: Any, y: Any) -> None:
    wanted = x.astype("d") @ y.astype("d")
    assert (found.shape, found.dtype, found.flags.c_contiguous) == (wanted.shape, x.dtype, True)
    np.testing.assert_allclose(found, wanted, atol=(1e-3 if x.dtype == "float32" else 1e-10) * wanted.std())


@pytest.mark.usefixtures("as_they_lie")
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("size", SIZES)
def test_rows_and_terms_are_those_of_one_product(size: tuple[int, int, int], dtype: str) -> None:
    m, k, n = size
    x, y, g = drawn(m, k, dtype=dtype), drawn(k, n, dtype=dtype), drawn(m, n, dtype=dtype)
    with use_kernels("auto"):
        for left, right in ((x, y), (x, np.asfortranarray(y)), (x.T, g), (x.T, np.asfortranarray(g))):
            cut = narrow.multiply(left, right)
            if cut is not None:
                close(cut, left, right)
            close(blas.matmul(left, right), left, right)
        assert narrow.multiply(x, y) is not None


@pytest.mark.usefixtures("as_they_lie")
def test_what_would_not_gain_is_left_to_one_call() -> None:
    x, y = drawn(3000, 784, dtype="float32"), drawn(784, 10, dtype="float32")
    with use_kernels("auto"):
        assert narrow.multiply(x, y) is not None
        assert narrow.multiply(x[:200], y) is None
        assert narrow.multiply(x, y[:, :1]) is None
        assert narrow.multiply(x, drawn(784, 40, dtype="float32")) is None
        assert narrow.multiply(x[:, ::2], y[::2]) is None
        assert narrow.multiply(x, y.astype("float64")) is None
        assert narrow.multiply(x.astype(int), y.astype(int)) is None
        assert narrow.multiply(drawn(60, 50_000, dtype="float32"), drawn(50_000, 10, dtype="float32")) is None
        with pytest.raises(ValueError, match="matmul"):
            blas.matmul(x, y[1:])
    with use_kernels("numpy"):  # whose results must not depend on the machine
        assert narrow.multiply(x, y) is None


@pytest.mark.usefixtures("as_they_lie")
def test_infinities_and_nans_stay_where_they_are() -> None:
    x, y = drawn(3000, 784, dtype="float32"), drawn(784, 10, dtype="float32")
    x[7, 3], x[2999, 0] = np.inf, np.nan
    with use_kernels("auto"), np.errstate(invalid="ignore"):
        found = blas.matmul(x, y)
    assert np.isinf(found[7]).all()
    assert np.isnan(found[2999]).all()
    assert np.isfinite(np.delete(found, [7, 2999], axis=0)).all()


@pytest.mark.usefixtures("as_they_lie")
@pytest.mark.parametrize("compiled", [False, True])
def test_a_layer_of_few_units_has_its_gradients(compiled: bool) -> None:
    x = lab.constant(drawn(3000, 300, dtype="float64"))
    w, b = lab.Variable(drawn(300, 10, dtype="float64")), lab.Variable(np.zeros(10))

    def step(x: Any) -> Any:
        with lab.GradientTape() as tape:
            tape.watch(x)
            loss = lab.reduce_mean(lab.sin(x @ w + b))
        return loss, *tape.gradient(loss, [x, w, b])

    found = (lab.function(step) if compiled else step)(x)
    slopes = np.cos(x.numpy() @ w.numpy() + b.numpy()) / 30_000
    wanted = np.sin(x.numpy() @ w.numpy()).mean(), slopes @ w.numpy().T, x.numpy().T @ slopes, slopes.sum(0)
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(one.numpy(), other, rtol=1e-9, atol=1e-14)


def test_the_processor_decides() -> None:
    assert narrow.are_taken_as_they_lie() in (True, False)
    known = blas.describe()
    assert narrow.are_taken_as_they_lie() == any(
        f"({core} kernels" in known for core in ("SkylakeX", "Cooperlake", "SapphireRapids")
    )
