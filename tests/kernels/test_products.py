"""Matrix products of our own: exact where sums are, in all layouts, with edges, blocks of depth and threads."""

from importlib.util import find_spec

import pytest

from autodiff_lab.kernels import blas, libraries
from tests.kernels.processes import say

needs_numba = pytest.mark.skipif(find_spec("numba") is None, reason="needs numba")


def test_products_of_our_own_run_where_they_can() -> None:
    """Guards the tests called `ours`: the override is compiled on a CPU with AVX-512, and only there."""
    code = """
        import numpy as np
        from autodiff_lab.kernels import blas
        print(json.dumps([blas.matmul.compile(np.dtype("f")), blas.matmul.failures]))
    """
    compiled, failures = say(code, "ours")
    assert compiled == (libraries.has_wide_registers() and find_spec("numba") is not None)
    assert bool(failures) != compiled


OURS = """
    import numpy as np
    from autodiff_lab.kernels.jit import products
    rng = np.random.default_rng(0)
    taken = arranged = 0
    shapes = [(8, 8, 32), (64, 784, 256), (97, 40, 257), (65, 2500, 64), (200, 1025, 300), (16, 30, 2000), (9, 90, 300)]
    for dtype in (np.float32, np.float64):
        for m, k, n in shapes:
            x = rng.integers(-4, 5, (m, k)).astype(dtype)
            y = rng.integers(-4, 5, (k, n)).astype(dtype)
            columns = np.empty((k, m), dtype).T
            columns[:] = x
            spaced = np.empty((2 * k, 2 * n + 64), dtype)[::2, 7 : n + 7]
            spaced[:] = y
            for a in (x, columns, x[::-1][::-1], np.repeat(x, 2, axis=1)[:, ::2]):
                for b in (y, spaced, y[::-1][::-1]):
                    made = products.matmul(a, b)
                    if made is not NotImplemented:
                        taken += 1
                        assert made.dtype == dtype and np.array_equal(made, x @ y), (m, k, n)
            lying = np.empty((n, k), dtype).T
            lying[:] = y
            made = products.matmul(np.tile(x, (64, 1)), lying)
            assert made is NotImplemented or np.array_equal(made, np.tile(x @ y, (64, 1))), (m, k, n)
            arranged += made is not NotImplemented
            backwards = products.matmul(x[::-1], y[::-1])
            assert backwards is NotImplemented or np.array_equal(backwards, x[::-1] @ y[::-1])
        x = rng.normal(size=(64, 2000)).astype(dtype)
        y = rng.normal(size=(2000, 96)).astype(dtype)
        y[0, 3], y[1999, 5], x[7, 9] = np.inf, np.nan, -np.inf
        with np.errstate(all="ignore"):
            got, want = products.matmul(x, y), x @ y
        assert np.array_equal(np.isnan(got), np.isnan(want)) and np.array_equal(np.isinf(got), np.isinf(want))
        bound = 8 * 2000 * np.finfo(dtype).eps
        fine = np.isfinite(want)
        assert np.abs(got[fine] - want[fine]).max() <= bound
    print(json.dumps([taken, arranged]))
"""


@needs_numba
@pytest.mark.skipif(not libraries.has_wide_registers(), reason="needs a CPU with AVX-512 under Linux")
@pytest.mark.parametrize("threads", ["1", "3"])
def test_products_of_our_own_are_exact_for_whole_numbers(threads: str) -> None:
    """For all layouts they take, edges and several blocks of depth included, on one thread and on three."""
    taken, arranged = say(OURS, "ours", AUTODIFF_LAB_THREADS=threads, OPENBLAS_CORETYPE="Haswell")
    assert taken >= 2 * 6 * 12
    if blas.chosen().own is not None:
        assert arranged >= 2 * 6
