"""Products of small matrices in loops over arrays: written out, alone and in stacks, in every layout."""

from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab.compile.recurrences import kernel
from autodiff_lab.compile.recurrences.products import LONGEST, WRITTEN_OUT
from autodiff_lab.compile.sequences import tasks
from tests.compile.test_recurrences import same, turns_of
from tests.compile.test_reroll import flat

TURNS = 6
TOLERANCE = {"float32": 2e-4, "float64": 1e-10}
pytest.importorskip("numba", reason="recurrences need Numba")


@pytest.mark.slow(keep=4)
@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize(("lead", "m", "k", "n"), [
    ((), 3, 3, 3), ((), 4, 4, 1), ((), 1, LONGEST, 1), ((20,), 2, 2, 2), ((5,), 2, 3, 5), ((3, 4), 3, 3, 3),
    ((20,), LONGEST, 1, LONGEST), ((5,), 4, 5, 4),
])  # fmt: skip
def test_products_in_loops_agree(
    lead: tuple[int, ...], m: int, k: int, n: int, turned: bool, shared: bool, dtype: str
) -> None:
    rng = np.random.default_rng(m + k + n)
    sizes = ((TURNS, *lead, m, k), (TURNS, *(() if shared else lead), *((n, k) if turned else (k, n))), (*lead, m, n))

    def run(a: Any, b: Any, s: Any) -> Any:
        with lab.GradientTape() as tape:
            tape.watch([a, b, s])
            y = s
            for t in range(TURNS):
                y = lab.tanh(y * 0.5 + lab.matmul(a[t] * 1.1, b[0] if shared else b[t], transpose_b=turned))
            loss = lab.reduce_sum(y * y)
        return [y, *tape.gradient(loss, [a, b, s])]

    given = [lab.constant(rng.normal(size=size).astype(dtype)) for size in sizes]
    compiled = lab.function(run)
    for _ in range(2):
        same(flat(compiled(*given)), flat(run(*given)), TOLERANCE[dtype])
    assert compiled.fallbacks == 0
    assert turns_of(compiled), compiled.why()


def test_small_products_call_no_library(monkeypatch: pytest.MonkeyPatch) -> None:
    """A call for each of many matrices of two rows took most of the time of a loop over meshes."""
    texts: list[str] = []
    for module in (kernel, tasks):
        monkeypatch.setattr(module, "load", lambda text, real=module.load: (texts.append(text), real(text))[1])

    def run(a: Any, s: Any) -> Any:
        with lab.GradientTape() as tape:
            tape.watch(a)
            for t in range(2 * TURNS):
                s = lab.tanh(s @ a[t])
            loss = lab.reduce_sum(s * s)
        return tape.gradient(loss, a)

    side = round(WRITTEN_OUT ** (1 / 3))
    for rows, called in ((side, False), (side + 1, True)):
        texts.clear()
        a, s = lab.zeros([2 * TURNS, 7, rows, rows]), lab.ones([7, rows, rows])
        made = lab.function(run)
        assert made.compile(a, s)
        made(a, s)
        loops = [text for text in texts if "range(turns)" in text]
        assert [("product(where" in text) for text in loops] == [called] * len(loops) != []
