"""Values that decide on a branch, a position or a shape: programs assume them, and there is one for each way."""
# ruff: noqa: PLW0108 - programs are written as users write them

import logging
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab.engine import nest
from autodiff_lab.errors import InvalidArgumentError
from tests.compile.test_background import needs_numba, run

VECTOR = lab.constant([1.0, 2.0, 3.0, 4.0])
MATRIX = lab.constant(np.arange(12.0, dtype=np.float32).reshape(4, 3))
NUMBERS = lab.constant([0, 0, 1, 2])
MASK = lab.constant([True, False, True, True])
THREE, PAIR = lab.constant(3), lab.constant([2, 6])
TABLE = lab.Variable(MATRIX)
Program = tuple[Callable[..., Any], tuple[lab.Tensor, ...]]

CHANGING: dict[str, Program] = {
    "a row": (lambda X, n: X[n - 4], (MATRIX, THREE)),
    "a column": (lambda X, n: X[:, n - 1] * 2.0, (MATRIX, THREE)),
    "an element of a variable": (lambda n: TABLE[n, 1] + TABLE[..., n - 1][0], (THREE,)),
    "a row and a new axis": (lambda X, n: X[None, n, 1:] * X[n, ..., None], (MATRIX, THREE)),
    "a position that was computed": (lambda X: X[:, lab.argmax(X[0] * X[1])], (MATRIX,)),
    "a mask of a length": (lambda n: lab.sequence_mask(n, 5), (NUMBERS,)),
    "counts of given classes": (lambda n: lab.math.confusion_matrix(n, n[::-1], 4), (NUMBERS,)),
    "counts in given bins": (lambda n, x: lab.math.bincount(n, x, minlength=3, maxlength=3), (NUMBERS, VECTOR)),
    "counts in rows": (
        lambda n: lab.math.bincount(lab.reshape(n, (2, 2)), minlength=4, maxlength=4, axis=-1, binary_output=True),
        (NUMBERS,),
    ),
    "a histogram": (lambda x: lab.histogram_fixed_width(x, [0.0, 5.0], 3), (VECTOR,)),
    "a check for nan": (lambda x: lab.debugging.check_numerics(x, "x") * 2.0, (VECTOR,)),
    "an assertion": (lambda x: (lab.debugging.assert_less(x, 99.0), x * 2.0)[1], (VECTOR,)),
    "an assertion of our own": (lambda x: (lab.debugging.Assert(lab.reduce_all(x < 99.0), [x]), x)[1], (VECTOR,)),
    "a loss with labels": (lambda x: lab.losses.Hinge()(lab.sign(x - 2.0), x), (VECTOR,)),
}
"""Programs that serve other values than those of the trace, which may be what decides."""
ASSUMING: dict[str, Program] = {
    "a branch": (lambda x: x * 2.0 if lab.reduce_sum(x) > 10.0 else -x, (VECTOR,)),
    "cond": (lambda x, n: lab.cond(n > 2, lambda: x * 2.0, lambda: x), (VECTOR, THREE)),
    "case": (lambda x, n: lab.case([(n > 2, lambda: x * 2.0)], default=lambda: x), (VECTOR, THREE)),
    "switch_case": (lambda x, n: lab.switch_case(n - 2, [lambda: x * 2.0, lambda: x]), (VECTOR, THREE)),
    "while_loop": (
        lambda x, n: lab.while_loop(lambda k, y: k < n, lambda k, y: (k + 1, y * 2.0), [lab.constant(0), x]),
        (VECTOR, THREE),
    ),
    "a loop of Python": (lambda x, n: sum((x * k for k in range(n)), x), (VECTOR, THREE)),
    "int": (lambda x, n: x * int(n), (VECTOR, THREE)),
    "range": (lambda n: lab.range(n) * 2, (THREE,)),
    "zeros": (lambda n: lab.zeros([n]) + 1.0, (THREE,)),
    "eye": (lambda n: lab.eye(n), (THREE,)),
    "one_hot": (lambda n, d: lab.one_hot(n, d), (NUMBERS, THREE)),
    "reshape": (lambda n, k: lab.reshape(n, [k - k // 2 * 2 + 1, -1]), (NUMBERS, THREE)),
    "the first rows": (lambda X, n: X[:n], (MATRIX, THREE)),
    "as many rows from a position on": (lambda X, n: X[n - 1 : n + 1], (MATRIX, THREE)),
    "rows up to the last but one": (lambda X, n: X[n - 1 : -1], (MATRIX, THREE)),
    "rows beyond the end": (lambda X, n: X[n : n + 100], (MATRIX, THREE)),
    "a row by a small integer": (lambda X, n: lab.concat([X] * 30, 0)[lab.cast(n, "int8")], (MATRIX, THREE)),
    "a slice that begins at a tensor": (lambda X, n: lab.slice(X, [n - 1, 0], [1, 2]), (MATRIX, THREE)),
    "repeat": (lambda x, n: lab.repeat(x, n), (VECTOR, THREE)),
    "pad": (lambda x, n: lab.pad(x, [[n, 0]]), (VECTOR, THREE)),
    "roll": (lambda x, n: lab.roll(x, n, 0), (VECTOR, THREE)),
    "top_k": (lambda x, n: lab.math.top_k(x, n).values, (VECTOR, THREE)),
    "in_top_k": (lambda n, X, k: lab.math.in_top_k(n % 3, X, k), (NUMBERS, MATRIX, THREE)),
    "segment_sum": (lambda x, n: lab.math.segment_sum(x * x, n), (VECTOR, NUMBERS)),
    "segment_mean": (lambda x, n: lab.math.segment_mean(x, n), (MATRIX, NUMBERS)),
    "segment_mean of integers": (lambda n: lab.math.segment_mean(n * 7 - 5, n), (NUMBERS,)),
    "segment_max": (lambda x, n: lab.math.segment_max(x, n), (MATRIX, NUMBERS)),
    "segment_min": (lambda x, n: lab.math.segment_min(x, n), (VECTOR, NUMBERS)),
    "bincount": (lambda n: lab.math.bincount(n), (NUMBERS,)),
    "a mask of the longest": (lambda n: lab.sequence_mask(n), (NUMBERS,)),
    "confusion_matrix": (lambda n: lab.math.confusion_matrix(n, n), (NUMBERS,)),
    "boolean_mask": (lambda X, m: lab.boolean_mask(X, m), (MATRIX, MASK)),
    "a mask in brackets": (lambda X, m: X[m] * 2.0, (MATRIX, MASK)),
    "a mask that was computed": (lambda x: lab.reduce_sum(x[x > 2.5] ** 2), (VECTOR,)),
    "read of an array": (lambda X, n: lab.TensorArray(lab.float32, 4).unstack(X).read(n), (MATRIX, THREE)),
}
"""Programs that assume what decides; there are few possibilities, so that each has a program soon."""
MANY_WAYS: dict[str, Program] = {
    "segment_prod": (lambda x, n: lab.math.segment_prod(x, n), (VECTOR, NUMBERS)),
    "unsorted_segment_prod": (lambda x, n: lab.math.unsorted_segment_prod(x, n, 4), (VECTOR, NUMBERS)),
    "counts of repeat": (lambda x, n: lab.repeat(x, n), (VECTOR, NUMBERS)),
    "dynamic_partition": (lambda x, n: lab.dynamic_partition(x, n, 4), (VECTOR, NUMBERS)),
    "reverse_sequence": (lambda X, n: lab.reverse_sequence(X, n % 3 + 1, seq_axis=1, batch_axis=0), (MATRIX, NUMBERS)),
    "a shape": (lambda x, n: lab.reshape(lab.range(12), n), (VECTOR, PAIR)),
}
EVERY = {**CHANGING, **ASSUMING, **MANY_WAYS}


def other(value: lab.Tensor, draw: np.random.Generator) -> lab.Tensor:
    """Return other values that fit the programs above: numbers from 0 to 3 that ascend, or 1 to 3."""
    held = value.numpy()
    if held.dtype.kind == "f":
        return lab.constant((held + 0.3 * draw.standard_normal(held.shape)).astype(held.dtype))
    if held.dtype.kind == "b":
        return lab.constant(draw.integers(0, 2, held.shape).astype(bool))
    if value is PAIR:
        return lab.constant([(2, 6), (3, 4), (12, 1), (1, 12), (4, 3), (6, 2)][draw.integers(6)])
    low, high = (0, 4) if held.ndim else (1, 4)
    drawn = draw.integers(low, high, held.shape, dtype=held.dtype)
    return lab.constant(np.sort(drawn) if held.ndim else drawn)


def flat(function: Callable[..., Any], values: list[lab.Tensor]) -> list[Any]:
    return [np.asarray(leaf) for leaf in nest.flatten(function(*values))[0]]


def same(found: list[Any], wanted: list[Any]) -> bool:
    return len(found) == len(wanted) and all(
        a.shape == b.shape and a.dtype == b.dtype and np.allclose(a, b, rtol=1e-6)
        for a, b in zip(found, wanted, strict=True)
    )


@pytest.mark.slow(keep=8)
@pytest.mark.parametrize("name", EVERY)
def test_other_values_than_those_of_the_trace_give_the_eager_results(name: str) -> None:
    program, values = EVERY[name]
    compiled = lab.function(program)
    compiled(*values)
    assert compiled.compiled, compiled.why()
    draw = np.random.default_rng(0)
    for _ in range(14):
        now = [other(value, draw) for value in values]
        assert same(flat(compiled, now), flat(program, now))
    assert compiled.fallbacks <= (0 if name in CHANGING else 4 if name in ASSUMING else 14)


@pytest.mark.parametrize("name", [name for name, (_, values) in EVERY.items() if values[0].dtype.is_floating])
def test_gradients_follow_the_way_that_a_call_takes(name: str) -> None:
    program, values = EVERY[name]

    def step(*values: Any) -> Any:
        with lab.GradientTape() as tape:
            tape.watch(values[0])
            found = lab.cast(lab.add_n([lab.reduce_sum(lab.cast(y, "float32") ** 2) for y in nest.flatten(
                program(*values))[0]]), "float32")  # fmt: skip
        return found, tape.gradient(found, values[0], unconnected_gradients="zero")

    compiled = lab.function(step)
    draw = np.random.default_rng(1)
    for _ in range(6):
        now = [other(value, draw) for value in values]
        assert same(flat(compiled, now), flat(step, now))


def test_each_way_through_a_branch_has_a_program_of_its_own() -> None:
    f = lab.function(lambda x: x * 2.0 if x > 0.0 else -x)
    for _ in range(20):
        assert float(f(lab.constant(3.0))) == 6.0
        assert float(f(lab.constant(-3.0))) == 3.0
    assert f.fallbacks == 1
    assert "2 programs so far" in f.why()
    assert f"line {test_each_way_through_a_branch_has_a_program_of_its_own.__code__.co_firstlineno + 1}" in f.why()


PARTS: dict[str, Callable[[lab.Variable, Any, Any], Any]] = {
    "a row": lambda v, x, n: v[1].assign(x[0] * 2.0),
    "a row at a tensor": lambda v, x, n: v[n].assign(x[1]),
    "rows": lambda v, x, n: v[1:].assign(x[:3]),
    "a number for rows": lambda v, x, n: v[::2].assign(1.5),
    "a column": lambda v, x, n: v[:, 0].assign(x[:, 1]),
    "an element": lambda v, x, n: v[2, 1].assign(lab.reduce_sum(x)),
    "what a mask keeps": lambda v, x, n: v[np.array([True, False, True, True])].assign(x[:3]),
    "two parts": lambda v, x, n: (v[0].assign(v[1] + x[0]), v[-1].assign(v[0])),
}


@pytest.mark.parametrize("name", PARTS)
def test_parts_of_variables_are_assigned(name: str) -> None:
    one, two = lab.Variable(MATRIX), lab.Variable(MATRIX)

    def step(v: lab.Variable, x: Any, n: Any) -> Any:
        PARTS[name](v, x, n)
        return lab.reduce_sum(v * v)

    compiled = lab.function(lambda x, n: step(one, x, n))
    for k in range(8):
        x, n = MATRIX + float(k), lab.constant(k % 2)
        assert same([compiled(x, n).numpy(), one.numpy()], [step(two, x, n).numpy(), two.numpy()])
    assert compiled.fallbacks <= 1


def test_a_part_of_another_shape_or_dtype_is_refused_as_eagerly() -> None:
    v = lab.Variable(MATRIX)
    for value, words in ((lab.ones(2), "to a slice of shape"), (lab.ones(3, "float64"), "keeps its dtype")):
        f = lab.function(lambda x: v[0].assign(x))
        for _ in range(2):
            with pytest.raises((lab.errors.ShapeMismatch, lab.errors.ConversionError), match=words):
                f(value)
    assert same([v.numpy()], [MATRIX.numpy()])


def test_compile_makes_a_program_for_each_way_it_is_shown() -> None:
    f = lab.function(lambda x: x * 2.0 if x > 0.0 else -x)
    for value in (1.0, 2.0, -1.0, -2.0):
        assert f.compile(lab.constant(value))
    assert "2 programs so far" in f.why()
    assert [float(f(lab.constant(value))) for value in (3.0, -3.0)] == [6.0, 3.0]
    assert f.fallbacks == 0


def test_a_function_whose_values_keep_deciding_otherwise_is_given_up(caplog: pytest.LogCaptureFixture) -> None:
    f = lab.function(lambda x, n: x * int(n))
    with caplog.at_level(logging.WARNING, "autodiff_lab"):
        for n in range(40):
            assert float(f(lab.constant(2.0), lab.constant(n))) == 2.0 * n
    assert "changes from call to call. Try lab.where" in f.why()
    assert len(caplog.records) == 1
    assert f.fallbacks >= 35
    with pytest.raises(InvalidArgumentError, match="no program"):
        _ = f._compiled()


def test_a_loop_that_ends_by_its_values_has_a_program_for_each_number_of_turns() -> None:
    @lab.function
    def root(x: Any) -> Any:
        y = x
        while lab.abs(y * y - x) > 1e-4:
            y = 0.5 * (y + x / y)
        return y

    for _ in range(3):
        for square in (1.0, 4.0, 2.0):
            assert float(root(lab.constant(square))) == pytest.approx(square**0.5, abs=1e-3)
    assert root.fallbacks <= 2


def test_a_loop_of_many_turns_that_ends_by_its_values_is_not_compiled() -> None:
    @lab.function
    def halve(x: Any) -> Any:
        turns = 0
        while x > 1e-30:
            x = x * 0.9
            turns += 1
        return x * turns

    assert not halve.compile(lab.constant(1.0, "float64"))
    assert "a branch or bool() asks for the value of a tensor" in halve.why()


def test_effects_of_the_other_way_happen_in_every_call(capsys: pytest.CaptureFixture[str]) -> None:
    @lab.function
    def f(x: Any) -> Any:
        if x < 0.0:
            print("negative")
        return x + 1.0

    for value in (1.0, -1.0, -1.0, 1.0, -1.0):
        assert float(f(lab.constant(value))) == value + 1.0
    assert capsys.readouterr().out == "negative\n" * 3


def test_what_a_call_assigns_and_draws_before_it_is_left_is_undone() -> None:
    count, noise = lab.Variable(0.0), lab.random.Generator.from_seed(1)
    other_noise = lab.random.Generator.from_seed(1)

    def step(x: Any, count: Any, noise: Any) -> Any:
        count.assign_add(1.0)
        drawn = noise.normal(())
        return drawn if x * 2.0 > 0.0 else -drawn

    f = lab.function(lambda x: step(x, count, noise))
    for n, value in enumerate((1.0, -1.0, 1.0, 2.0, -3.0)):
        assert float(f(lab.constant(value))) == float(step(lab.constant(value), lab.Variable(0.0), other_noise))
        assert float(count) == n + 1


def test_errors_of_what_is_checked_are_those_of_the_eager_function() -> None:
    cases: list[tuple[Callable[..., Any], lab.Tensor, lab.Tensor, str]] = [
        (lambda x: lab.debugging.check_numerics(x, "x"), VECTOR, VECTOR / 0.0, "4 infinite"),
        (lambda x: lab.debugging.assert_positive(x), VECTOR, -VECTOR, "does not hold"),
        (lambda n: MATRIX[n], THREE, THREE + 5, "slice index 8 of dimension 0 out of bounds"),
        (lambda n: lab.slice(VECTOR, [n], [1]), THREE, THREE + 5, "out of bounds"),
        (lambda n: lab.math.segment_sum(VECTOR, n), NUMBERS, NUMBERS[::-1], "must be sorted"),
        (lambda n: lab.math.bincount(n), NUMBERS, -NUMBERS, "must not be negative"),
        (lambda n: lab.math.confusion_matrix(n, n, 3), NUMBERS, NUMBERS + 1, "classes must be in"),
    ]
    for program, good, bad, words in cases:
        f = lab.function(program)
        f(good)
        for _ in range(2):
            with pytest.raises(InvalidArgumentError, match=words):
                f(bad)
        f(good)


def small(values: Any) -> lab.Tensor:
    return lab.constant(values, "int8")


LIKE_EAGER: dict[str, tuple[Callable[[Any], Any], lab.Tensor]] = {
    "a mask longer than the dtype counts": (lambda n: lab.sequence_mask(n, 300), small([100, 5])),
    "a mask of the longest": (lambda n: lab.sequence_mask(n), lab.constant([200, 5], "uint8")),
    "the last number of the dtype": (lambda n: lab.math.segment_sum(lab.ones(3), n), small([0, 5, 127])),
    "more parts than the dtype counts": (lambda n: lab.dynamic_partition(lab.range(3), n, 300), small([0, 1, 2])),
    "a position counted from the end": (lambda n: lab.range(300)[n], small(-1)),
    "more classes than the dtype counts": (lambda n: lab.math.confusion_matrix(n, n, 200), small([1, 2])),
    "k of a small dtype": (lambda n: lab.math.top_k([0.1, 0.9], n).values, small(1)),
    "counts of a small dtype": (lambda n: lab.repeat([0.1, 0.9], n), small(3)),
    "integers of two dtypes compared": (
        lambda n: (lab.debugging.assert_equal(n, lab.constant([1, 2], "int64")), n)[1], lab.constant([1, 2])),
    "real numbers of two dtypes compared": (
        lambda x: (lab.debugging.assert_less(x, lab.constant(9.0, "float64")), x)[1], lab.constant([1.0, 2.0])),
    "truth values compared": (lambda x: (lab.debugging.assert_equal(x, x), x)[1], lab.constant([True])),
    "complex numbers compared": (lambda x: (lab.debugging.assert_equal(x, x), x)[1], lab.constant([1j])),
    "bins that a tensor counts": (lambda n: lab.math.bincount(n, minlength=lab.constant(5)), NUMBERS),
    "as many bins at least as at most": (lambda n: lab.math.bincount(n, minlength=2, maxlength=np.int64(2)), NUMBERS),
    "fewer bins at most than at least": (lambda n: lab.math.bincount(n, minlength=5, maxlength=2), NUMBERS),
    "fewer bins than none": (lambda n: lab.math.bincount(n, minlength=-1), NUMBERS),
    "weights of fewer bins": (lambda n: lab.math.bincount(n, VECTOR, maxlength=1), NUMBERS),
    **{
        f"numbers beyond all segments, {name}": (
            lambda n, name=name: getattr(lab.math, f"unsorted_segment_{name}")(VECTOR, n, 2), NUMBERS)
        for name in ("sum", "mean", "sqrt_n", "max", "min", "prod")
    },
    "a position that is not there": (lambda n: lab.range(4)[n], lab.constant(4)),
    "a column that is not there": (lambda n: MATRIX[0, n], lab.constant(-4)),
    "a row of a variable that is not there": (lambda n: TABLE[n], lab.constant(9)),
}  # fmt: skip
"""Programs of narrow dtypes, mixed dtypes and bad values: what the eager function gives, or says, in every call."""


@pytest.mark.parametrize("name", LIKE_EAGER)
def test_what_is_traced_gives_and_says_what_the_eager_function_does(name: str) -> None:
    program, value = LIKE_EAGER[name]

    def outcome(function: Callable[..., Any]) -> Any:
        try:
            return [(x.dtype, x.tolist()) for x in flat(function, [value])]
        except InvalidArgumentError as error:
            return str(error).partition("\n")[0]

    compiled, wanted = lab.function(program), outcome(program)
    assert [outcome(compiled) for _ in range(3)] == [wanted] * 3


SPARSE = lab.SparseTensor([[0, 0], [1, 1]], [1.0, 2.0], [2, 2])


def test_a_function_that_reaches_a_sparse_tensor_can_be_examined() -> None:
    f = lab.function(lambda x: lab.sparse.sparse_dense_matmul(SPARSE, x))
    for _ in range(2):
        assert np.array_equal(f(lab.ones((2, 1))).numpy(), [[1.0], [2.0]])


def test_many_elements_or_real_numbers_are_not_assumed() -> None:
    assert not lab.function(lab.repeat).compile(lab.ones(300), lab.ones(300, "int32"))
    assert not lab.function(lambda x: x * float(x)).compile(lab.constant(2.0))
    ids = lab.constant(np.repeat(np.arange(20), 10))
    assert lab.function(lab.math.segment_max).compile(lab.ones(200), ids)


@needs_numba
def test_another_program_is_made_in_the_background_once() -> None:
    said = run("""
        f = lab.function(lambda x: lab.tanh(x) * 2.0 if x[0] > 0.0 else lab.sin(x) - x)
        f.compile(x + 1.0)
        begin = time.perf_counter()
        while time.perf_counter() - begin < 60 and "2 programs" not in f.why():
            f(x + 1.0), f(x - 1.0)
        missed = f.fallbacks
        said["fits"] = all(np.allclose(f(x + k), f.python_function(x + k), atol=1e-5) for k in (1.0, -1.0))
        said["missed"], said["why"] = f.fallbacks - missed, f.why()
    """)
    assert said["fits"]
    assert said["missed"] == 0
    assert "2 programs so far" in said["why"]


def _halved(x: lab.Tensor) -> lab.Tensor:
    while lab.reduce_max(lab.abs(x)) > 1.0:
        x = x / 2.0
    return x


@pytest.mark.parametrize("backend", ["numpy", "auto"])
@pytest.mark.parametrize("size", [2, 300])
def test_a_program_may_consist_of_nothing_but_checks(size: int, backend: str) -> None:
    programs: list[Callable[..., Any]] = [
        _halved,
        lambda x: None if lab.reduce_all(x < 1e9) else x,
        lambda x: 3.0 if (x @ lab.transpose(x))[0, 0] < 1e9 else None,
        lambda x: lab.zeros((int(lab.reduce_sum(lab.cast(x > 1e9, lab.int32))) // size + 1,)),
    ]
    small, large = (lab.constant(np.full((size, size), number, np.float32)) for number in (0.5, 4e9))
    for program in programs:
        compiled = lab.function(program, backend=backend)
        compiled.compile(small)
        for x in (small, large, small, small):
            found, wanted = compiled(x), program(x)
            assert str(found) == str(wanted)
        assert not compiled.skipped
        assert not compiled.refusals, compiled.why()
