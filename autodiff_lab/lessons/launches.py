"""Checks of lesson 15: which element a thread gets, kernels that touch every element once, and when a GPU pays off.

Kernels run in the simulator, at fresh sizes.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from autodiff_lab.errors import InvalidArgumentError
from autodiff_lab.lessons.attempt import (
    Stopped,
    a_kind,
    attempt,
    checked,
    finite,
    idea_behind,
    is_blank,
    name_of,
    number,
    other,
    protect,
    same,
    stop,
)
from autodiff_lab.lessons.dealing import signed
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
    trials: list[tuple[int, int, int]] = []
    for _ in range(TRIALS):
        block, size = int(rng.integers(1, 9)), int(rng.integers(4, 40))
        trials.append((block, size, int(rng.integers(0, size))))
    found = [finite(attempt(element, *trial), "the element") for trial in trials]
    if not all(same(one, block * size + thread) for one, (block, size, thread) in zip(found, trials, strict=True)):
        code = idea_behind(found, [[("OWN_BLOCK", thread)] for _, _, thread in trials])
        raise stop(code) if code else other("number")
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
        rest = (0, 1, size - 1)[trial % 3]  # just above a whole number of blocks, and just below
        n = size * whole + rest
        found = number(attempt(blocks, n, size), "the number of blocks")
        right = -(-n // size)
        if not same(found, right):
            wrong.append("FLOORED" if same(found, n // size) else "ONE_TOO_MANY" if same(found, right + 1) else "OTHER")
    if wrong:
        raise stop(wrong[0]) if len(set(wrong)) == 1 and wrong[0] != "OTHER" else other("number")
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
    found: list[float] = []
    right: list[float] = []
    for _ in range(TRIALS):
        once, each = float(rng.uniform(5, 20)), float(rng.uniform(0.001, 0.01))
        dear = each * float(rng.uniform(3, 30))
        found.append(number(attempt(overtakes, once, each, dear), "the number of elements"))
        right.append(once / (dear - each))
    if not all(same(one, exact) or one == math.ceil(exact) for one, exact in zip(found, right, strict=True)):
        always = all(one in (0.0, 1.0) for one in found)
        raise stop("GPU_ALWAYS_WINS") if always else other("number")
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
    answers: list[np.ndarray] = []
    trials: list[list[tuple[str, np.ndarray]]] = []
    launches: list[tuple[int, Launch]] = []
    for n in (int(rng.integers(17, 24)), int(rng.integers(1, 8)), 24):
        a, x, y = float(rng.integers(5, 20)) / 8, signed(rng, 1, 9, n).round(2), signed(rng, 1, 9, n).round(2)
        blocks = -(-n // THREADS)
        done = _launched(kernel, blocks, THREADS, a=a, x=x, y=y)
        if not np.array_equal(done.arrays["x"], x):
            raise other("kernel", "The kernel has changed x, which it should only read.")
        head = y.copy()
        head[:THREADS] += blocks * a * x[:THREADS]
        answers.append(done.arrays["y"])
        trials.append([("", y + a * x), ("OWN_BLOCK", head)])
        launches.append((blocks, done))
    if not all(np.allclose(answer, ideas[0][1]) for answer, ideas in zip(answers, trials, strict=True)):
        code = idea_behind(answers, [ideas[1:] for ideas in trials], np.allclose)
        raise stop(code) if code else other("kernel")
    if any(done.races for _, done in launches):
        raise stop("RACE")
    if any(done.sectors["x"] > blocks for blocks, done in launches):
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
    totals: list[float] = []
    right: list[float] = []
    races = False
    for _ in range(TRIALS):
        x = signed(rng, 1, 99, THREADS).round(2)
        done = _launched(kernel, 1, THREADS, x=x, total=np.zeros(1))
        totals.append(float(done.arrays["total"][0]))
        right.append(float(x.sum()))
        races = races or done.races
    if any(map(math.isnan, totals)):
        raise stop("NO_BARRIER")
    if races:
        raise stop("RACE")
    if not all(map(same, totals, right)):
        raise other("kernel", "The total is not the sum of all 8 numbers.")
    return passed(f"Right for {TRIALS} times 8 numbers.")


def _launched(kernel: Any, blocks: int, size: int, **arrays: Any) -> Launch:
    """Run a learner's kernel, and name what goes wrong in it."""
    if is_blank(kernel):
        raise stop("BLANK", "There is no kernel here to check yet.")
    if not callable(kernel):
        raise stop("RAISES", f"A kernel is a function, but this is {a_kind(kernel)}.")
    name = name_of(kernel)

    def run() -> Launch:
        try:
            return launch(kernel, blocks, size, **arrays)
        except IndexError:
            raise stop("NO_GUARD") from None
        except InvalidArgumentError:
            raise stop("SOME_RETURN") from None

    try:
        done = protect(run, name)
    except Stopped as stopped:
        if stopped.result.code != "RAISES":
            raise
        hint = f"Launch it yourself: lessons.launch({name}, 3, 8, ...) shows the line and the thread."
        raise stop("RAISES", stopped.result.message, hint) from None
    if done.outside:  # and the kernel caught what a GPU never raises
        raise stop("NO_GUARD")
    return done


EXERCISES: dict[str, Exercise] = {
    "15.1": Exercise("a kernel", check_kernel),
    "15.2": Exercise("neighbours on neighbours", check_kernel),
    "15.3": Exercise("a sum with a barrier", check_sum),
    "15.4": Exercise("coach or train", check_overtakes),
}
