"""How `lessons.launch` and the checks of lesson 15 respond to invalid grids, arrays and kernels."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from autodiff_lab import errors, lessons
from autodiff_lab.lessons import cuda, launch
from tests.refusals import refused


def double(x: Any, y: Any) -> None:
    i = cuda.grid(1)
    if i < x.size:
        y[i] = 2.0 * x[i]


NO_GRIDS = {
    "negative": ((-3, 8), "blocks must be an integer of at least 1, got -3"),
    "no thread": ((3, 0), "size must be an integer of at least 1, got 0"),
    "halves": ((2.5, 8), "blocks must be an integer of at least 1, got 2.5"),
    "truth": ((True, 8), "blocks must be an integer of at least 1, got True"),
    "a GPU's fill": ((10**9, 8), "1,000,000,000 × 8 threads .* Try at most 131,072"),
    "a large block": ((1, 1025), "more than 1024 threads"),
}


@pytest.mark.parametrize("name", NO_GRIDS)
def test_what_is_no_grid_is_refused_before_a_thread_runs(name: str) -> None:
    """A launch of billions would otherwise take all memory of a student's machine."""
    (blocks, size), words = NO_GRIDS[name]
    ran: list[int] = []
    with refused(errors.InvalidArgumentError, words):
        launch(lambda x: ran.append(1), blocks, size, x=np.zeros(4))  # pyright: ignore[reportArgumentType]
    assert not ran


def test_arrays_have_one_axis() -> None:
    with pytest.raises(errors.InvalidArgumentError, match=r"x has shape \(4, 3\).*x.reshape\(-1\).*i \* 3 \+ j"):
        launch(double, 3, 4, x=np.zeros((4, 3)), y=np.zeros(12))


@pytest.mark.parametrize("kernel", [..., None, 3])
def test_what_is_no_kernel(kernel: Any) -> None:
    with pytest.raises(errors.InvalidArgumentError, match="a kernel is a function, got"):
        launch(kernel, 1, 4, x=np.zeros(4))


@pytest.mark.parametrize("index", [0.5, np.float64(1.0), slice(None)])
def test_an_index_is_a_whole_number(index: Any) -> None:
    """Numba compiles no half index, so cutting it off here would teach what does not run on a GPU."""

    def kernel(x: Any) -> None:
        x[index] = 1.0

    with pytest.raises(TypeError, match=r"writes x\[.*integer.*//"):
        launch(kernel, 1, 1, x=np.zeros(4))


def test_a_launch_without_arrays_is_drawn() -> None:
    assert launch(lambda: None, 1, 4).idle == 4


CHECKS: dict[str, Callable[[Any], Any]] = {
    "element": lessons.check_element, "blocks": lessons.check_blocks, "overtakes": lessons.check_overtakes,
}  # fmt: skip


@pytest.mark.parametrize("name", CHECKS)
def test_a_number_too_large_for_a_float_is_told_as_one(name: str) -> None:
    result = CHECKS[name](lambda *numbers: 10**400)
    assert result.code == "RAISES"
    assert "too large for a float" in str(result)
