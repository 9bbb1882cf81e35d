"""Loops whose turns are independent say so to LLVM, which need not ask what overlaps, and have the same results."""

from typing import Any

import numpy as np
import pytest

pytest.importorskip("numba", reason="what is translated is compared with what Numba compiles")
from autodiff_lab.kernels.lowering import objects
from tests.kernels.test_lowering import both


def many_arrays(x: Any, out: Any) -> Any:
    """Thirty rows are read and ten are written, so that some hundred pairs might overlap."""
    far = 0
    for r in range(1):
        a, b, c, d, e, f = x[0], x[1], x[2], x[3], x[4], x[5]
        g, h, i, j, k, l = x[6], x[7], x[8], x[9], x[10], x[11]  # noqa: E741
        m, n, o, p = out[0], out[1], out[2], out[3]
        q, s, t, u = out[4], out[5], out[6], out[7]
        for z in range(a.size):
            m[z], n[z], o[z], p[z] = a[z] * b[z], c[z] / d[z], e[z] - f[z], g[z] * h[z]
            q[z], s[z], t[z], u[z] = i[z] + j[z], k[z] * l[z], a[z] + l[z], b[z] - k[z]
        far += r
    return far


@pytest.mark.slow
def test_loops_whose_turns_are_independent_need_no_look_at_what_overlaps() -> None:
    texts: list[str] = []
    for options in ({}, {objects.INDEPENDENT: True}):
        module = objects.translated(
            many_arrays,
            "loop",
            "int64(float32[:, ::1], float32[:, ::1])",
            {"wraparound": False, **options},
            python=True,
        )
        texts.append(str(module))
        x, out = np.random.default_rng(0).uniform(1, 2, (12, 100)).astype(np.float32), np.empty((8, 100), np.float32)
        run = both(many_arrays, "int64(float32[:, ::1], float32[:, ::1])", wraparound=False, **options)
        for one in run:
            one(x, out)
            np.testing.assert_array_equal(out[1], x[2] / x[3])
            np.testing.assert_array_equal(out[7], x[1] - x[10])
    assert "llvm.loop.parallel_accesses" not in texts[0]
    assert texts[1].count("!llvm.loop ") == 1  # the outer loop may carry something from turn to turn
    assert texts[1].count("!llvm.access.group") == 12 + 4 + 8  # some rows are read twice
