"""Calls of the ops of linear algebra: well-conditioned matrices, eigenvalues kept apart."""

import numpy as np

from tests.ops.samples.core import Call, normal, sampler


def positive(rng: np.random.Generator, *shape: int) -> np.ndarray:
    """Draw symmetric positive definite matrices."""
    a = rng.normal(size=shape)
    return a @ np.swapaxes(a, -1, -2) + 3 * np.eye(shape[-1])


def apart(rng: np.random.Generator, n: int) -> np.ndarray:
    """Draw a symmetric matrix whose eigenvalues are far from each other."""
    q = np.linalg.qr(rng.normal(size=(n, n)))[0]
    return q @ np.diag(1.5 * np.arange(1, n + 1)) @ q.T


@sampler("inv", "det", "slogdet", "cholesky", "expm", "logm", "sqrtm")
def _square(rng: np.random.Generator) -> list[Call]:
    return [((0.3 * positive(rng, *s),), {}) for s in ((1, 1), (3, 3), (2, 2, 2))]


@sampler("expm_frechet")
def _directions(rng: np.random.Generator) -> list[Call]:
    return [(normal(rng, s, s), {}) for s in ((1, 1), (3, 3), (2, 2, 2))]


@sampler("lu", "lu_factors")
def _pivoted(rng: np.random.Generator) -> list[Call]:
    return [((np.array([[0.1, 2.0, 0.3], [3.0, 0.2, 0.5], [0.4, 0.6, 4.0]]) + rng.uniform(0, 0.05, (3, 3)),), {})]


@sampler("eigh")
def _eigh(rng: np.random.Generator) -> list[Call]:
    return [((apart(rng, n),), {}) for n in (1, 3)] + [((np.stack([apart(rng, 2), apart(rng, 2)]),), {})]


@sampler("eig")
def _eig(rng: np.random.Generator) -> list[Call]:
    """Not symmetric, with real eigenvalues: the phase of complex vectors is LAPACK's to choose."""

    def turned(n: int) -> np.ndarray:
        triangle = np.diag([1.0, 2.5, 4.0][:n]) + np.triu(rng.uniform(0.3, 1.0, (n, n)), 1)
        turn = np.linalg.qr(rng.normal(size=(n, n)))[0]
        return turn @ triangle @ turn.T

    return [((turned(1),), {}), ((turned(3),), {}), ((np.stack([turned(2), turned(2)]),), {})]


@sampler("qr")
def _qr(rng: np.random.Generator) -> list[Call]:
    calls: list[Call] = [(normal(rng, s), {"full": False}) for s in ((3, 3), (4, 2), (2, 3, 2), (2, 4))]
    return [*calls, (normal(rng, (3, 2)), {"full": True})]


@sampler("svd")
def _svd(rng: np.random.Generator) -> list[Call]:
    whole = apart(rng, 3)
    return [((a,), {"full": full}) for a in (whole, whole[:, :2], whole[:2]) for full in (False, True)]


@sampler("pinv")
def _pinv(rng: np.random.Generator) -> list[Call]:
    return [(normal(rng, s), {"rcond": 1e-6}) for s in ((3, 3), (4, 2), (2, 2, 3))]


@sampler("tridiagonal_solve")
def _tridiagonal(rng: np.random.Generator) -> list[Call]:
    def diagonals(*shape: int) -> np.ndarray:
        packed = rng.normal(size=shape)
        packed[..., 1, :] += 4
        return packed

    return [((diagonals(*s), rng.normal(size=b)), {}) for s, b in (((3, 4), (4, 2)), ((2, 3, 1), (2, 1, 1)))]


@sampler("diag_range_part")
def _packed(rng: np.random.Generator) -> list[Call]:
    return [(normal(rng, (2, 3, 4)), {"low": -1, "high": 2, "align": align}) for align in ("RIGHT_LEFT", "LEFT_RIGHT")]


@sampler("diag_range")
def _ranges(rng: np.random.Generator) -> list[Call]:
    size = {"low": -1, "high": 1, "rows": 3, "columns": 4}
    return [(normal(rng, (2, 3, 3)), {**size, "align": align}) for align in ("RIGHT_LEFT", "LEFT_LEFT")]


@sampler("inverse_gaps")
def _gaps(rng: np.random.Generator) -> list[Call]:
    return [((np.arange(1.0, 4.0) + rng.uniform(0, 0.3, 3),), {}), ((np.array([[1.0, 3.0], [2.0, 5.0]]),), {})]


@sampler("solve")
def _solve(rng: np.random.Generator) -> list[Call]:
    return [((positive(rng, *a), rng.normal(size=b)), {}) for a, b in (((3, 3), (3, 2)), ((2, 2, 2), (2, 2, 1)))]


@sampler("cholesky_solve")
def _by_factor(rng: np.random.Generator) -> list[Call]:
    return [((positive(rng, *a), rng.normal(size=b)), {}) for a, b in (((3, 3), (3, 2)), ((2, 2, 2), (2, 2, 1)))]


@sampler("cholesky_grad")
def _by_factor_and_gradient(rng: np.random.Generator) -> list[Call]:
    return [((positive(rng, *shape), rng.normal(size=shape)), {}) for shape in ((3, 3), (2, 2, 2))]


@sampler("triangular_solve")
def _triangular(rng: np.random.Generator) -> list[Call]:
    return [((positive(rng, 3, 3), rng.normal(size=(3, 2))), {"lower": lower}) for lower in (True, False)]


@sampler("sylvester")
def _sylvester(rng: np.random.Generator) -> list[Call]:
    return [((positive(rng, 3, 3), rng.normal(size=(3, 3))), {})]


@sampler("permute", "unpermute")
def _rows(rng: np.random.Generator) -> list[Call]:
    return [((rng.normal(size=(3, 2)), np.array([2, 0, 1])), {})]


@sampler("einsum")
def _einsum(rng: np.random.Generator) -> list[Call]:
    calls = [
        (((2, 3), (3, 4)), ("ij", "jk"), "ik"),
        (((5, 2, 3), (3, 4)), ("bij", "jk"), "bki"),
        (((2, 3), (4,)), ("ij", "k"), "k"),
        (((3,), (3,), (3,)), ("i", "i", "i"), ""),
        (((2, 3),), ("ij",), "ji"),
    ]
    return [(normal(rng, *shapes), {"inputs": inputs, "output": out}) for shapes, inputs, out in calls]


@sampler("cross")
def _cross(rng: np.random.Generator) -> list[Call]:
    return [(normal(rng, s, s), {}) for s in ((3,), (2, 3))]


@sampler("diag")
def _diag(rng: np.random.Generator) -> list[Call]:
    calls = [((3,), 0, 3, 3), ((2, 2), 1, 3, 3), ((2,), -1, 3, 3), ((2,), 0, 2, 3)]
    return [(normal(rng, s), {"k": k, "rows": m, "columns": n}) for s, k, m, n in calls]


@sampler("diag_part")
def _diag_part(rng: np.random.Generator) -> list[Call]:
    return [(normal(rng, s), {"k": k}) for s, k in (((3, 3), 0), ((2, 3, 4), 1), ((4, 3), -2))]


@sampler("band_part")
def _band(rng: np.random.Generator) -> list[Call]:
    return [(normal(rng, (2, 3, 4)), {"lower": a, "upper": b}) for a, b in ((0, 0), (-1, 0), (0, -1), (1, 1))]
