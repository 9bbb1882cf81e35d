"""Checks of lesson 10, on products with Jacobians: sizes, rules for a matrix product, modes, and one row alone.

Answers are compared with the explicit Jacobian, which is built here so that learners need not build it.
"""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

import autodiff_lab as lab
from autodiff_lab.lessons.attempt import (
    Stopped,
    a_kind,
    array,
    attempt,
    checked,
    idea_behind,
    is_blank,
    numbers,
    other,
    same,
    stop,
)
from autodiff_lab.lessons.dealing import signed
from autodiff_lab.lessons.exercise import Exercise
from autodiff_lab.lessons.result import CheckResult, passed

Array = Any
Arrays = dict[str, Array]

TRIALS = 6
LARGE = (40, 30, 20)
"""A product whose Jacobian has 960,000 numbers, so that building it shows."""
OVERLAP = 2
"""Sizes of a trial are above this, because with sizes of 1 everything looks alike."""


def explicit(function: Callable[..., Any], inputs: Arrays) -> Arrays:
    """Return the whole Jacobian with respect to each input, of shape (*output, *input).

    Examples
    --------
    >>> explicit(lambda x: x * x, {"x": np.array([1.0, 2.0])})["x"].tolist()
    [[2.0, 0.0], [0.0, 4.0]]
    """
    sources = {name: lab.constant(value) for name, value in inputs.items()}
    with lab.GradientTape() as tape:
        tape.watch(list(sources.values()))
        y = function(*sources.values())
    return {name: found.numpy() for name, found in tape.jacobian(y, sources).items()}


def pulled(jacobian: Array, cotangent: Array) -> Array:
    """Return the cotangent times the Jacobian.

    Examples
    --------
    >>> pulled(np.array([[2.0, 0.0], [0.0, 4.0]]), np.array([1.0, 10.0])).tolist()
    [2.0, 40.0]
    """
    return np.tensordot(cotangent, jacobian, axes=cotangent.ndim)


@checked
def check_vjp(
    back: Callable[..., Any],
    function: Callable[..., Any],
    shapes: Callable[..., Mapping[str, tuple[int, ...]]],
    seed: int | None = None,
) -> CheckResult:
    """Check a backward rule on random inputs of random sizes, against the explicit Jacobian.

    Parameters
    ----------
    back : callable
        Takes the inputs and the cotangent of the output, all NumPy arrays, and returns a dict: the cotangent of each
        input, by name.
    function : callable
        The function itself, of tensors.
    shapes : callable
        Takes sizes and returns the shape of each input, by name; tried with random sizes.
    seed : int, optional
        Makes sizes and numbers the same again.

    Examples
    --------
    >>> from autodiff_lab import lessons
    >>> size = lambda n: {"u": (n,), "v": (n,)}
    >>> lessons.check_vjp(lambda u, v, g: {"u": g * v, "v": g * u}, lambda u, v: u * v, size)
    Passed. It agrees with the explicit Jacobian for 6 random sizes.
    >>> lessons.check_vjp(lambda u, v, g: {"u": v, "v": u}, lambda u, v: u * v, size).code
    'SUMMED'
    """
    rng = np.random.default_rng(seed)
    count = shapes.__code__.co_argcount
    square = [3] * count  # equal sizes first: there a wrong product of matrices has a value, and can be recognized
    for sizes in [square, *(_distinct(rng, count) for _ in range(TRIALS))]:
        inputs = {name: rng.normal(size=shape) for name, shape in shapes(*sizes).items()}
        _compare(back, function, inputs, rng)
    return passed(f"It agrees with the explicit Jacobian for {TRIALS} random sizes.")


def _distinct(rng: np.random.Generator, count: int) -> list[int]:
    return [int(size) for size in rng.choice(np.arange(OVERLAP, OVERLAP + 6), count, replace=False)]


def _compare(back: Callable[..., Any], function: Callable[..., Any], inputs: Arrays, rng: Any) -> None:
    jacobians = explicit(function, inputs)
    name, whole = next(iter(jacobians.items()))
    cotangent = rng.normal(size=whole.shape[: whole.ndim - inputs[name].ndim])
    answer = _arrays(attempt(back, *(value.copy() for value in inputs.values()), cotangent.copy()), inputs)
    for each, jacobian in jacobians.items():
        right = pulled(jacobian, cotangent)
        if not _same(answer[each], right):
            code = _diagnosed(each, answer[each], jacobian, cotangent, inputs)
            if code != "OTHER":
                raise stop(code)
            raise other("array", f"What goes back to {each} is not right, and it is none of the usual wrong answers.")


def _diagnosed(name: str, answer: Array, jacobian: Array, cotangent: Array, inputs: Arrays) -> str:
    """Return the code of the idea behind a wrong cotangent."""
    for code, wrong in _wrong(name, jacobian, cotangent, inputs):
        if _same(answer, wrong):
            return code
    right = inputs[name].shape
    return "OUTPUT_SHAPE" if answer.shape == cotangent.shape != right else "OTHER"


def _wrong(name: str, jacobian: Array, cotangent: Array, inputs: Arrays) -> Iterator[tuple[str, Array]]:
    """Yield what each wrong idea makes of a cotangent."""
    yield "WHOLE_JACOBIAN", jacobian
    yield "WHOLE_JACOBIAN", jacobian.reshape(cotangent.size, -1)
    yield "SUMMED", pulled(jacobian, np.ones_like(cotangent))
    yield "TRANSPOSE_LOST", pulled(jacobian, cotangent).T
    first = next(iter(inputs)) == name
    for factor in (value for each, value in inputs.items() if each != name):
        if factor.ndim == cotangent.ndim == 2 and factor.shape == cotangent.shape:
            yield "TRANSPOSE_LOST", cotangent @ factor if first else factor @ cotangent
            yield "FACTORS_SWAPPED", factor.T @ cotangent if first else cotangent @ factor.T
            yield "TRANSPOSE_LOST", factor @ cotangent if first else cotangent @ factor
        elif factor.ndim == 2 and cotangent.shape == factor.shape[-1:]:
            yield "TRANSPOSE_LOST", factor @ cotangent


def _arrays(values: Any, inputs: Arrays) -> Arrays:
    names = tuple(inputs)
    if not isinstance(values, Mapping):
        example = f'{{"{names[0]}": ...}}'
        raise stop("RAISES", f"Arrays by name were expected, like {example}; this is {a_kind(values)}.")
    left = [name for name in names if is_blank(values.get(name))]
    if left:
        raise stop("BLANK", f"Still blank: {', '.join(left)}.")
    found = {name: array(values[name], f"what goes back to {name}", None) for name in names}
    return {name: value.reshape(()) if inputs[name].ndim == 0 and value.size == 1 else value
            for name, value in found.items()}  # fmt: skip


def _same(one: Array, other: Array) -> bool:
    return one.shape == other.shape and bool(np.allclose(one, other, rtol=1e-6, atol=1e-9))


@checked
def check_matmul_vjp(back: Callable[[Array, Array, Array], Any], seed: int | None = None) -> CheckResult:
    """Check the backward rule of ``C = A·B``: right on random sizes, and no Jacobian built on a large one.

    Parameters
    ----------
    back : callable
        ``back(A, B, G)`` with NumPy arrays of shapes (p, q), (q, r) and (p, r); returns ``{"A": ..., "B": ...}``.
    seed : int, optional
        Makes sizes and numbers the same again.

    Examples
    --------
    >>> from autodiff_lab import lessons
    >>> lessons.check_matmul_vjp(lambda A, B, G: {"A": G @ B.T, "B": A.T @ G})
    Passed. It agrees with the explicit Jacobian for 6 random sizes, and never builds one.
    >>> lessons.check_matmul_vjp(lambda A, B, G: {"A": G @ B, "B": A.T @ G}).code
    'TRANSPOSE_LOST'
    """
    found = check_vjp(back, lab.matmul, lambda p, q, r: {"A": (p, q), "B": (q, r)}, seed)
    if not found.passed:
        return found
    p, q, r = LARGE
    rng = np.random.default_rng(seed)
    inputs = rng.normal(size=(p, q)), rng.normal(size=(q, r)), rng.normal(size=(p, r))
    if _peak(back, *inputs) > 4 * p * r * q * min(p, r):
        raise stop(
            "WHOLE_JACOBIAN",
            "The numbers are right, but on a larger product a whole Jacobian was built.",
            "It is mostly zeros. Which of its numbers does the row of one element of C hold at all?",
        )
    return passed(f"{found.message[:-1]}, and never builds one.")


def _named(code: str, what: str) -> Stopped:
    return stop(code) if code else other(
        "number", f"The number for {what} is not right, and it is none of the usual wrong ones.")  # fmt: skip


def _peak(back: Callable[..., Any], *inputs: Array) -> int:
    """Return the most bytes that a rule holds at once; NumPy reports what it allocates."""
    running = tracemalloc.is_tracing()
    if not running:
        tracemalloc.start()
    try:
        tracemalloc.reset_peak()
        before = tracemalloc.get_traced_memory()[0]
        attempt(back, *inputs)
        return tracemalloc.get_traced_memory()[1] - before
    finally:
        if not running:
            tracemalloc.stop()


@checked
def check_sizes(sizes: Callable[[int, int, int], Any], seed: int | None = None) -> CheckResult:
    """Check counts for ``C = A·B``: numbers in the Jacobian of C with respect to A, and in the result of one pass.

    Parameters
    ----------
    sizes : callable
        ``sizes(p, q, r)`` for shapes (p, q) and (q, r); returns ``{"jacobian": ..., "gradient": ...}``.
    seed : int, optional
        Makes the shapes the same again.

    Examples
    --------
    >>> from autodiff_lab import lessons
    >>> lessons.check_sizes(lambda p, q, r: {"jacobian": p * r * p * q, "gradient": p * q})
    Passed. Right for 6 random shapes.
    >>> lessons.check_sizes(lambda p, q, r: {"jacobian": p * q, "gradient": p * q}).code
    'JACOBIAN_SIZE'
    """
    rng = np.random.default_rng(seed)
    shapes = [_distinct(rng, 3) for _ in range(TRIALS)]
    said = [numbers(attempt(sizes, *shape), ("jacobian", "gradient")) for shape in shapes]
    gradients, jacobians = [each["gradient"] for each in said], [each["jacobian"] for each in said]
    if not all(same(found, p * q) for found, (p, q, _) in zip(gradients, shapes, strict=True)):
        ideas = [[("OUTPUT_SHAPE", p * r), ("WHOLE_JACOBIAN", p * r * p * q), ("OUTPUT_SHAPE", p * r * p * q / (p * q))]
                 for p, q, r in shapes]  # fmt: skip
        raise _named(idea_behind(gradients, ideas), "what comes back to A")
    if not all(same(found, p * r * p * q) for found, (p, q, r) in zip(jacobians, shapes, strict=True)):
        ideas = [[("JACOBIAN_SIZE", n) for n in (p * r, p * q, p * r + p * q, p * q * r, p * q + q * r, q * r)]
                 for p, q, r in shapes]  # fmt: skip
        raise _named(idea_behind(jacobians, ideas), "the Jacobian")
    return passed(f"Right for {TRIALS} random shapes.")


@checked
def check_modes(cheaper: Callable[[int, int], Any], seed: int | None = None) -> CheckResult:
    """Check a function that chooses the mode that needs fewer passes for a whole Jacobian.

    Parameters
    ----------
    cheaper : callable
        ``cheaper(inputs, outputs)`` with the numbers of elements; returns ``"forward"`` or ``"backward"``.
    seed : int, optional
        Makes the numbers the same again.

    Examples
    --------
    >>> from autodiff_lab import lessons
    >>> lessons.check_modes(lambda inputs, outputs: "forward" if inputs < outputs else "backward")
    Passed. Right for 12 random pairs of sizes.
    >>> lessons.check_modes(lambda inputs, outputs: "backward").code
    'ALWAYS_BACKWARD'
    """
    rng = np.random.default_rng(seed)
    pairs = [pair for sizes in _sizes(rng) for pair in (sizes, sizes[::-1])]
    given = [attempt(cheaper, *pair) for pair in pairs]
    said = [_mode(word) for word in given]
    odd = [word for word, mode in zip(given, said, strict=True) if not mode]
    if odd:
        shown = repr(odd[0]) if isinstance(odd[0], str) and len(odd[0]) < 40 else a_kind(odd[0])
        raise stop("RAISES", f'"forward" or "backward" was expected, but this is {shown}.')
    right = ["forward" if inputs < outputs else "backward" for inputs, outputs in pairs]
    if said == right:
        return passed(f"Right for {len(pairs)} random pairs of sizes.")
    if len(set(said)) == 1:
        raise stop("ALWAYS_BACKWARD" if said[0] == "backward" else "ALWAYS_FORWARD")
    swapped = all(word != wanted for word, wanted in zip(said, right, strict=True))
    raise stop("MODES_SWAPPED") if swapped else other("word")


def _mode(word: Any) -> str:
    """Return ``"forward"`` or ``"backward"``, or an empty string.

    >>> _mode(" Reverse mode "), _mode("Forward"), _mode(3)
    ('backward', 'forward', '')
    """
    if not isinstance(word, str):
        return ""
    plain = word.strip().lower().replace("-", " ").removesuffix("mode").strip()
    return {"forward": "forward", "backward": "backward", "backwards": "backward", "reverse": "backward"}.get(plain, "")


def _sizes(rng: np.random.Generator) -> list[tuple[int, int]]:
    """Return pairs of sizes: small and large neighbours, a pair far apart, and any; a limit or a factor fails."""
    small, large = int(rng.integers(1, 9)), int(rng.integers(500, 999))
    far = (int(rng.integers(1, 30)), int(rng.integers(300, 1000)))
    others = rng.permuted(np.tile(np.arange(1, 1000), (TRIALS - 3, 1)), axis=1)[:, :2].tolist()
    return [(small, small + 1), (large, large + 1), far, *map(tuple, others)]


@checked
def check_own_slope(own_slope: Callable[[Any, Any, int], Any], seed: int | None = None) -> CheckResult:
    """Check a function that gives the gradient of one element of a vector output.

    Parameters
    ----------
    own_slope : callable
        ``own_slope(function, x, k)``: the gradient of element k of ``function(x)`` with respect to the vector x.
    seed : int, optional
        Makes functions and points the same again.

    Examples
    --------
    >>> from autodiff_lab import lessons
    >>> def summed(function, x, k):
    ...     with lab.GradientTape() as tape:
    ...         tape.watch(x)
    ...         y = function(x)
    ...     return tape.gradient(y, x)
    >>> lessons.check_own_slope(summed).code
    'SUMMED'
    """
    rng = np.random.default_rng(seed)
    answers: list[Array] = []
    trials: list[list[tuple[str, Array]]] = []
    for _ in range(TRIALS):
        matrix = rng.normal(size=(4, 4))

        def function(x: Any, matrix: Array = matrix) -> Any:
            return lab.linalg.matvec(lab.constant(matrix), x * x)

        at, k = signed(rng, 0.5, 2.0, 4), int(rng.integers(4))
        answers.append(array(attempt(own_slope, function, lab.constant(at), k), "the slope", None))
        jacobian = 2 * matrix * at
        trials.append([("", jacobian[k]), ("SUMMED", jacobian.sum(axis=0)), ("COLUMN", jacobian[:, k]),
                       ("WHOLE_JACOBIAN", jacobian), ("SIGN", -jacobian[k])])  # fmt: skip
    if not all(_same(answer, ideas[0][1]) for answer, ideas in zip(answers, trials, strict=True)):
        code = idea_behind(answers, [ideas[1:] for ideas in trials], _same)
        raise stop(code) if code else other("array", "These are not the slopes of one stall, nor one of the usual "
                                            "wrong answers.")  # fmt: skip
    return passed(f"Right for {TRIALS} random functions.")


EXERCISES: dict[str, Exercise] = {
    "10.1": Exercise("rules for a matrix product", check_matmul_vjp),
    "10.2": Exercise("how much is not built", check_sizes),
    "10.3": Exercise("forward or backward", check_modes),
    "10.4": Exercise("four stalls", check_own_slope),
}
