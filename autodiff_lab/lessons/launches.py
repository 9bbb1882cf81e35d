"""Checks of lesson 15: which element a thread gets, kernels that touch every element once, and when a GPU pays off.

Kernels run in the simulator, at fresh sizes.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from autodiff_lab.errors import InvalidArgumentError
from autodiff_lab.lessons.attempt import attempt, checked, is_blank, number, same, stop
from autodiff_lab.lessons.exercise import Exercise
from autodiff_lab.lessons.result import CheckResult, passed
from autodiff_lab.lessons.threads import Launch, launch

TRIALS = 6
THREADS = 8
"""Threads of a block in the checks of kernels."""


@checked
def check_element(element: Callable[[int, int, int], int], seed: int | None = None) -> CheckResult:
    """Check which element a thread gets.

    Parameters
    ----------
    element : callable
        ``element(block, size, thread)``: the block's number, its number of threads, and the thread's number in it.
    seed : int, optional
        Makes the numbers the same again.

    Examples
    --------
    >>> from autodiff_lab import lessons
    >>> lessons.check_element(lambda block, size, thread: thread).code
    'OWN_BLOCK'
    """
    rng = np.random.default_rng(seed)
    for _ in range(TRIALS):
        block, size = int(rng.integers(1, 9)), int(rng.integers(4, 40))
        thread = int(rng.integers(0, size))
        found = number(attempt(element, block, size, thread), "the element")
        if not same(found, block * size + thread):
            raise stop("OWN_BLOCK" if same(found, thread) else "OTHER")
    return passed(f"Right for {TRIALS} threads.")


@checked
def check_blocks(blocks: Callable[[int, int], int], seed: int | None = None) -> CheckResult:
    """Check how many blocks give each of n elements a thread.

    Parameters
    ----------
    blocks : callable
        ``blocks(n, size)``: the number of elements, and of threads of a block.
    seed : int, optional
        Makes the numbers the same again.

    Examples
    --------
    >>> from autodiff_lab import lessons
    >>> lessons.check_blocks(lambda n, size: n // size).code
    'FLOORED'
    """
    rng = np.random.default_rng(seed)
    wrong: list[str] = []
    for trial in range(TRIALS):
        size, whole = int(rng.integers(4, 40)), int(rng.integers(2, 9))
        n = size * whole + (0 if trial % 2 else int(rng.integers(1, size)))
        found = number(attempt(blocks, n, size), "the number of blocks")
        right = -(-n // size)
        if not same(found, right):
            wrong.append("FLOORED" if same(found, n // size) else "ONE_TOO_MANY" if same(found, right + 1) else "OTHER")
    if wrong:
        raise stop(wrong[0] if len(set(wrong)) == 1 else "OTHER")
    return passed("Every element has a thread, and no block is started in vain.")


@checked
def check_overtakes(overtakes: Callable[[float, float, float], float], seed: int | None = None) -> CheckResult:
    """Check the number of elements from which something with a fixed cost is no slower than something without.

    Parameters
    ----------
    overtakes : callable
        ``overtakes(once, each, other)``: what it costs once, what each element costs then, and what each costs
        otherwise; ``np.inf`` where it never pays.
    seed : int, optional
        Makes the numbers the same again.

    Examples
    --------
    >>> from autodiff_lab import lessons
    >>> lessons.check_overtakes(lambda once, each, other: 1).code
    'GPU_ALWAYS_WINS'
    """
    rng = np.random.default_rng(seed)
    for _ in range(TRIALS):
        once, each = float(rng.uniform(5, 20)), float(rng.uniform(0.001, 0.01))
        other = each * float(rng.uniform(3, 30))
        found = number(attempt(overtakes, once, each, other), "the number of elements")
        right = once / (other - each)
        if not (same(found, right) or found == math.ceil(right)):
            raise stop("GPU_ALWAYS_WINS" if found <= 1 else "OTHER")
    never = number(attempt(overtakes, 10.0, 0.02, 0.01), "the number of elements")
    if not math.isinf(never) or never < 0:
        raise stop("GPU_ALWAYS_WINS", "Where each element costs more, no number of them makes up for the launch.",
                   "Ask first what an element saves. If that is nothing, the answer is np.inf.")  # fmt: skip
    return passed("Right, and it says when it never pays.")


@checked
def check_kernel(kernel: Callable[..., None], seed: int | None = None) -> CheckResult:
    """Check a kernel ``(a, x, y)`` that adds a·x to y, one thread for each element, neighbours on neighbours.

    Parameters
    ----------
    kernel : callable
        For the number a and two arrays of one length.
    seed : int, optional
        Makes the numbers the same again.

    Examples
    --------
    >>> from autodiff_lab import lessons
    >>> def axpy(a, x, y):
    ...     i = lessons.cuda.grid(1)
    ...     y[i] += a * x[i]
    >>> lessons.check_kernel(axpy).code
    'NO_GUARD'
    """
    rng = np.random.default_rng(seed)
    for n in (int(rng.integers(17, 24)), int(rng.integers(1, 8)), 24):
        a, x, y = 0.5, rng.integers(1, 9, n).astype(float), rng.integers(1, 9, n).astype(float)
        blocks = -(-n // THREADS)
        done = _launched(kernel, blocks, THREADS, a=a, x=x, y=y)
        if not np.allclose(done.arrays["y"], y + a * x):
            head = y.copy()
            head[:THREADS] += blocks * a * x[:THREADS]
            raise stop("OWN_BLOCK" if np.allclose(done.arrays["y"], head) else "OTHER")
        if done.sectors["x"] > blocks:
            raise stop("STRIDED")
    return passed("Every element once, at lengths that fill the last block and at lengths that do not.")


@checked
def check_sum(kernel: Callable[..., None], seed: int | None = None) -> CheckResult:
    """Check a kernel ``(x, total)`` for one block of 8 threads that adds up 8 numbers.

    Parameters
    ----------
    kernel : callable
        Writes the sum of x into ``total[0]``.
    seed : int, optional
        Makes the numbers the same again.

    Examples
    --------
    >>> from autodiff_lab import lessons
    >>> def alone(x, total):
    ...     if lessons.cuda.threadIdx.x == 0:
    ...         for i in range(8):
    ...             total[0] += x[i]
    >>> lessons.check_sum(alone).passed
    True
    """
    rng = np.random.default_rng(seed)
    for _ in range(TRIALS):
        x = rng.integers(1, 100, THREADS).astype(float)
        done = _launched(kernel, 1, THREADS, x=x, total=np.zeros(1))
        total = float(done.arrays["total"][0])
        if not same(total, x.sum()):
            raise stop("NO_BARRIER" if math.isnan(total) else "OTHER")
    return passed(f"Right for {TRIALS} times 8 numbers.")


def _launched(kernel: Any, blocks: int, size: int, **arrays: Any) -> Launch:
    """Run a learner's kernel, and name what goes wrong in it."""
    if is_blank(kernel) or not callable(kernel):
        raise stop("BLANK", "There is no kernel here to check yet.")
    try:
        return launch(kernel, blocks, size, **arrays)
    except IndexError:
        raise stop("NO_GUARD") from None
    except InvalidArgumentError:
        raise stop("SOME_RETURN") from None
    except Exception as error:  # noqa: BLE001 - whatever a learner's code raises belongs in the note
        name = getattr(kernel, "__name__", "your kernel")
        if "ellipsis" in str(error).lower():
            raise stop("BLANK", f"{name} still has a blank (...).") from None
        raise stop("RAISES", f"{name} raised {type(error).__name__}: {error}", "Launch it yourself: "
                   f"lessons.launch({name}, 3, 8, ...) shows the line and the thread.") from None  # fmt: skip


EXERCISES: dict[str, Exercise] = {
    "15.1": Exercise("a kernel", check_kernel),
    "15.2": Exercise("neighbours on neighbours", check_kernel),
    "15.3": Exercise("a sum with a barrier", check_sum),
    "15.4": Exercise("coach or train", check_overtakes),
}
