"""Derivatives of matrix functions near a singular matrix: float32 loses the digits that the condition implies."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab.testing import weighted_sum

L = lab.linalg
RIGHT = np.random.default_rng(2).standard_normal((4, 2)).astype("float32")
CONDITION = 1000.0
SQUARE, ANY = ((3, 3),), ((3, 3), (4, 2), (2, 4))
FUNCTIONS: dict[str, tuple[Callable[[Any], Any], tuple[tuple[int, int], ...]]] = {
    "inv": (L.inv, SQUARE),
    "solve": (lambda x: L.solve(x, lab.cast(RIGHT[:3], x.dtype)), SQUARE),
    "log of det": (lambda x: L.slogdet(x)[1], SQUARE),
    "pinv": (L.pinv, ANY),
    "lstsq": (lambda x: L.lstsq(x, lab.cast(RIGHT[: x.shape[0]], x.dtype), fast=False), ANY),
    "singular values": (lambda x: L.svd(x, compute_uv=False), ANY),
    "left vectors": (lambda x: lab.abs(L.svd(x)[1]), ANY),
    "right vectors": (lambda x: lab.abs(L.svd(x)[2]), ANY),
    "norm": (lambda x: lab.norm(x, 2, axis=[0, 1]), ANY),
}


def derivatives(function: Callable[[Any], Any], matrix: np.ndarray) -> list[np.ndarray]:
    """Return the first and the second gradient of a weighted sum."""
    x = lab.constant(matrix)
    with lab.GradientTape() as outer:
        outer.watch(x)
        with lab.GradientTape() as inner:
            inner.watch(x)
            y = weighted_sum(function(x))
        first = inner.gradient(y, x)
        again = weighted_sum(first)
    return [first.numpy(), outer.gradient(again, x).numpy()]


@pytest.mark.parametrize(
    ("name", "shape"), [(name, shape) for name, (_, shapes) in FUNCTIONS.items() for shape in shapes]
)
def test_derivatives_near_a_singular_matrix_keep_their_digits(name: str, shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(4)
    for _ in range(8):
        u, s, v = np.linalg.svd(rng.standard_normal(shape), full_matrices=False)
        s[-1] = s[0] / CONDITION
        matrix = (u * s @ v).astype("float32")
        narrow, wide = (derivatives(FUNCTIONS[name][0], matrix.astype(dtype)) for dtype in ("float32", "float64"))
        for got, want in zip(narrow, wide, strict=True):
            assert np.max(np.abs(got - want)) < 20 * CONDITION * np.finfo("float32").eps * np.max(np.abs(want))
