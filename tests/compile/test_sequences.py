"""Sequences: programs of many small steps run as one compiled call, with the results of the eager ops.

A twentieth of FUZZ_COUNT in the environment says how many random programs are tried, if it is more than a dozen.
"""

import os
import threading
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab.ops.nn.normalization import mean_and_variance, normalize
from autodiff_lab.ops.nn.normalization import plain_normalize as standardize
from tests.compile.agreement import agree, compiled
from tests.compile.small_programs import small_program

pytest.importorskip("numba", reason="sequences need Numba")
COUNT = max(12, int(os.environ.get("FUZZ_COUNT", "0")) // 20)
DRAW = np.random.default_rng(7)
TOLERANCE = {"float32": 2e-4, "float64": 1e-10}


def normal(*shape: int, dtype: str = "float32") -> Any:
    return lab.constant(DRAW.standard_normal(shape).astype(dtype))


def steps_outside(made: Any) -> list[str]:
    """The steps of a program, without its sequences."""
    text = made.source.rpartition("def program")[2]
    return [row.strip() for row in text.splitlines() if " = " in row and "sequence_" not in row]


@pytest.mark.slow(keep=1)
@pytest.mark.parametrize("seed", range(COUNT))
def test_random_programs_of_small_steps_agree_with_eager_ops(seed: int) -> None:
    dtype = ["float32", "float64"][seed % 2]
    run, arguments = small_program(seed, dtype)
    made = compiled(run, *arguments, tolerance={"float32": 2e-3, "float64": 1e-6}[dtype])  # some cast to float32
    assert any("sequence" in kernel.title for kernel in made.kernels)


@pytest.mark.parametrize("dtype", TOLERANCE)
def test_products_in_every_layout_agree(dtype: str) -> None:
    sizes = [(1, 1, 1), (1, 7, 1), (5, 1, 40), (13, 33, 1), (1, 40, 17), (12, 16, 32), (25, 3, 65), (40, 64, 31)]

    def run(*xs: Any) -> list[Any]:
        made = []
        for x, y, x_turned, y_turned in zip(*[iter(xs)] * 4, strict=True):
            made += [lab.matmul(x, y), lab.matmul(x_turned, y, True), lab.matmul(x, y_turned, False, True)]
            made += [lab.matmul(x_turned, y_turned, True, True), lab.transpose(lab.matmul(x_turned, y, True))]
        return made

    arguments: list[Any] = []
    for m, k, n in sizes:
        arguments += [normal(m, k, dtype=dtype), normal(k, n, dtype=dtype)]
        arguments += [lab.constant(arguments[-2].numpy().T.copy()), lab.constant(arguments[-1].numpy().T.copy())]
    made = compiled(run, *arguments, tolerance=TOLERANCE[dtype])
    assert not steps_outside(made)


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize(
    ("left", "right"),
    [
        ((8, 4), (3, 4, 6)), ((1, 8, 4), (3, 4, 6)), ((3, 8, 4), (1, 4, 6)), ((8, 4), (2, 3, 4, 1)),
        ((1, 4), (3, 4, 6)), ((1, 1, 8, 4), (2, 3, 4, 6)), ((2, 3, 8, 4), (1, 1, 4, 6)), ((1, 8, 4), (4, 6)),
    ],
)  # fmt: skip
def test_one_matrix_by_a_stack_is_part_of_a_sequence(left: Any, right: Any, turned: bool) -> None:
    turn = lab.linalg.matrix_transpose if turned else lab.identity

    def run(x: Any, y: Any) -> list[Any]:
        with lab.GradientTape() as tape:
            tape.watch([x, y])
            product = turn(lab.tanh(x)) @ turn(lab.sin(y))
            loss = lab.reduce_sum(lab.cos(product))
        return [product, *tape.gradient(loss, [x, y])]

    made = compiled(run, turn(normal(*left)), turn(normal(*right)), tolerance=TOLERANCE["float32"])
    assert not steps_outside(made)


@pytest.mark.slow
def test_convolutions_and_normalization_are_steps_of_one_sequence() -> None:
    def run(x: Any, w: Any, scale: Any, offset: Any, series: Any, taps: Any) -> Any:
        leaves = [x, w, scale, offset, series, taps]
        with lab.GradientTape() as tape:
            tape.watch(leaves)
            y = lab.nn.convolution(x, w, strides=2, padding="SAME")
            y = normalize(y, scale, offset, axes=(-4, -3, -2), epsilon=1e-3)
            z = lab.nn.convolution(lab.tanh(series), taps, dilations=2, padding="VALID")
            z = standardize(z, axes=(-1,), epsilon=1e-3)
            mean, variance = mean_and_variance(y, axes=(-3, -2))
            loss = lab.reduce_sum(lab.sin(y)) + lab.reduce_sum(z**3) + lab.reduce_sum(mean * variance)
        return loss, y, mean, *tape.gradient(loss, leaves)

    images = [normal(2, 5, 7, 3), normal(3, 3, 3, 17), normal(17), normal(17)]
    made = compiled(run, *images, normal(3, 9, 2), normal(2, 2, 5), tolerance=1e-3)
    assert not steps_outside(made)


def test_a_convolution_with_infinite_weights_falls_back_to_its_kernel() -> None:
    def run(x: Any, w: Any) -> Any:
        with lab.GradientTape() as tape:
            tape.watch(x)
            y = lab.tanh(lab.nn.convolution(lab.sin(x), w, padding="SAME"))
        return tape.gradient(y, x)

    w = lab.constant(np.where(np.arange(18).reshape(3, 3, 2, 1) == 7, np.inf, 0.5).astype("float32"))
    compiled(run, normal(1, 4, 4, 2), w)


@pytest.mark.parametrize("dtype", TOLERANCE)
def test_messages_along_edges_are_added_up_without_being_stored(dtype: str) -> None:
    sources, goals = (lab.constant(DRAW.integers(0, n, 3000)) for n in (40, 30))
    pairs = lab.constant(DRAW.integers(0, 30, (3000, 1)))

    def run(x: Any, w: Any) -> Any:
        with lab.GradientTape() as tape:
            tape.watch([x, w])
            sums = lab.math.unsorted_segment_sum(lab.gather(x @ w, sources), goals, 30)
            sums += lab.scatter_nd(pairs, lab.gather(x, sources), (30, 5))
            flat = lab.scatter_nd(pairs, lab.gather(lab.sin(x[:, 0]), sources), (30,))
            loss = lab.reduce_sum(lab.sin(sums)) + lab.reduce_sum(flat**2)
        return loss, sums, flat, *tape.gradient(loss, [x, w])

    made = compiled(run, normal(40, 5, dtype=dtype), normal(5, 5, dtype=dtype), tolerance=TOLERANCE[dtype])
    assert made.source.count("moved_rows") >= 5
    with pytest.raises(lab.errors.InvalidArgumentError):
        lab.function(lambda x, at: lab.scatter_nd(pairs, lab.gather(x, at), (30, 5)))(normal(2, 5), sources)


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize(("axis", "count"), [(0, 3), (1, 2), (2, 11)])
def test_elements_are_repeated_by_compiled_code(dtype: str, axis: int, count: int) -> None:
    def run(x: Any) -> Any:
        with lab.GradientTape() as tape:
            tape.watch(x)
            y = lab.repeat(lab.sin(x), count, axis=axis)
            loss = lab.reduce_sum(y * lab.cast(lab.reshape(lab.range(lab.size(y)), y.shape), y.dtype))
        return y, tape.gradient(loss, x)

    made = compiled(run, normal(4, 5, 6, dtype=dtype), tolerance=TOLERANCE[dtype])
    assert "repeat" in made.source


def test_a_weighed_value_and_its_gradient_share_the_weight() -> None:
    def run(x: Any) -> Any:
        with lab.GradientTape() as tape:
            tape.watch(x)
            y = lab.nn.gelu(x, approximate=False) * lab.nn.silu(x)
        return y, tape.gradient(y, x)

    made = compiled(run, normal(20, 30))
    assert (made.source.count("normal_cdf("), made.source.count("sigmoid(")) == (1, 1)


def test_views_of_five_axes_are_read_and_copied() -> None:
    def run(x: Any) -> Any:
        q, k, v = lab.unstack(lab.transpose(lab.reshape(x, (2, 5, 3, 2, 4)), (2, 0, 3, 1, 4)))
        mixed = lab.transpose(lab.reshape(x, (3, 4, 5, 2, 2)), (4, 2, 0, 3, 1))
        rows = lab.reshape(lab.sin(mixed), (-1, 24)), lab.reshape(mixed, (24, -1))
        return q @ lab.transpose(k, (0, 1, 3, 2)) @ v, *rows

    compiled(run, normal(2, 5, 24))


def test_products_of_stacks_and_vectors_agree() -> None:
    def run(a: Any, b: Any, w: Any, u: Any) -> list[Any]:
        return [a @ w, a @ lab.transpose(b, (0, 2, 1)), lab.transpose(a, (0, 2, 1)) @ b, w @ u, u @ u, a[1] @ w, a @ u]

    compiled(run, normal(3, 5, 6), normal(3, 5, 6), normal(6, 6), normal(6))


@pytest.mark.parametrize("shape", [(1, 8, 8), (3, 1, 8), (8, 3, 1), (5, 7, 9), (1, 8, 1)])
def test_stacks_of_small_products_are_steps_however_many(shape: tuple[int, int, int]) -> None:
    m, k, n = shape

    def run(x: Any, y: Any, turned_x: Any, turned_y: Any, far: Any) -> list[Any]:
        made = [x @ y, lab.matmul(turned_x, y, True), lab.matmul(x, turned_y, False, True)]
        return [*made, lab.matmul(turned_x, turned_y, True, True), lab.transpose(far, (1, 2, 0)) @ y]

    count = 3000
    given = [(count, m, k), (count, k, n), (count, k, m), (count, n, k), (k, count, m)]
    made = compiled(run, *[normal(*one) for one in given])
    assert not any("matmul_" in row for row in steps_outside(made))


@pytest.mark.parametrize("axis", [1, -1])
def test_short_pieces_of_many_rows_are_rolled_in_a_sequence(axis: int) -> None:
    x = normal(30_000, 3, 2)
    made = compiled(lambda x: lab.roll(x, 1, axis) - lab.roll(x, -1, axis), x)
    assert not any("roll_" in row for row in steps_outside(made))


def net(weights: list[Any], x: Any) -> Any:
    for w, b in zip(weights[::2], weights[1::2], strict=True):
        x = lab.tanh(x @ w + b)
    return x


def meta_step(x: Any, y: Any, *weights: Any) -> Any:
    with lab.GradientTape() as outer:
        outer.watch(weights)
        with lab.GradientTape() as inner:
            inner.watch(weights)
            loss = lab.reduce_mean(lab.square(net(list(weights), x) - y))
        quick = [w - 0.1 * g for w, g in zip(weights, inner.gradient(loss, weights), strict=True)]
        loss = lab.reduce_mean(lab.square(net(quick, x) - y))
    return loss, outer.gradient(loss, weights)


def curvature(x: Any, y: Any, *weights: Any) -> Any:
    with lab.GradientTape() as outer:
        outer.watch(weights)
        with lab.GradientTape() as inner:
            inner.watch(weights)
            loss = lab.reduce_mean(lab.square(net(list(weights), x) - y))
        slope = lab.add_n([lab.reduce_sum(g * g) for g in inner.gradient(loss, weights)])
    return outer.gradient(slope, weights)


WEIGHTS = [normal(6, 20), normal(20), normal(20, 20), normal(20), normal(20, 1), normal(1)]


@pytest.mark.parametrize("function", [meta_step, curvature])
def test_a_small_net_with_its_second_derivative_is_one_call(function: Any) -> None:
    made = compiled(function, normal(10, 6), normal(10, 1), *WEIGHTS)
    assert [kernel.title for kernel in made.kernels] == ["sequence_1"]
    assert not steps_outside(made)


def test_transposes_of_products_are_products_of_what_is_not_transposed() -> None:
    def run(x: Any, y: Any) -> Any:
        return lab.tanh(lab.transpose(lab.matmul(x, lab.sin(y), True))) + 1.0

    made = compiled(run, normal(9, 6), normal(9, 5))
    text = made.source.rpartition("def sequence")[2]
    results = {row.split(" = ")[0].strip() for row in text.splitlines() if "matmul_(" in row}
    turned = {row.split(" = ")[1].split(".T")[0] for row in text.splitlines() if ".T " in row}
    assert results
    assert not results & turned


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_many_short_rows_are_joined_inside_a_sequence(dtype: str) -> None:
    """A matrix for each of many angles, made of columns and rows of three elements, as arms of robots have them."""

    def turned(angles: Any, places: Any) -> Any:
        with lab.GradientTape() as tape:
            tape.watch([angles, places])
            c, s, one, zero = lab.cos(angles), lab.sin(angles), lab.ones_like(angles), lab.zeros_like(angles)
            rows = [[c, -s, zero], [s, c, zero], [zero, zero, one]]
            matrices = lab.stack([lab.stack(row, axis=-1) for row in rows], axis=-2)
            moved = lab.linalg.matvec(matrices, places)
            wide = lab.concat([moved, lab.reverse(moved, [1]), lab.pad(moved, [[0, 0], [1, 0]])], axis=1)
            loss = lab.reduce_sum(lab.square(wide[:, 1:]) * wide[:, :-1]) + lab.reduce_sum(matrices[:, 2] * places)
        return loss, tape.gradient(loss, [angles, places])

    made = compiled(turned, normal(9000, dtype=dtype), normal(9000, 3, dtype=dtype), tolerance=TOLERANCE[dtype] * 10)
    assert not [step for step in steps_outside(made) if "stack_" in step or "concat_" in step or "pad" in step]


def test_a_column_times_a_row_is_part_of_a_loop() -> None:
    def run(x: Any, w: Any, b: Any) -> Any:
        return lab.tanh(x @ w + b), lab.ones((1, 50)) @ (x @ w)

    made = compiled(run, normal(50, 1), normal(1, 20), normal(20))
    assert "matmul" not in made.source


def test_results_are_new_in_every_call() -> None:
    made = lab.function(lambda x, w: (x @ w, lab.transpose(x @ w), lab.reshape(lab.sin(x), (-1,)), lab.reduce_sum(x)))
    first, second, w = normal(4, 5), normal(4, 5), normal(5, 5)
    made(first, w)
    kept = made(first, w)
    values = [one.numpy().copy() for one in kept]
    made(second, w)
    for one, value in zip(kept, values, strict=True):
        assert np.array_equal(one.numpy(), value)


def test_arguments_that_do_not_lie_in_order_or_are_read_only() -> None:
    made = lab.function(lambda x, w: lab.tanh(x @ w) @ lab.transpose(w) + x)
    w = normal(6, 6)
    made(normal(8, 6), w)
    for x in (lab.transpose(normal(6, 8)), lab.broadcast_to(normal(6), (8, 6)), normal(16, 12)[::2, ::2]):
        agree(made(x, w), made.python_function(x, w), 1e-5)
    assert made.fallbacks == 0


def test_an_angle_that_is_too_large_is_left_to_numpy() -> None:
    made = compiled(lambda x, w: lab.sin(x @ w) @ w, normal(4, 4), normal(4, 4))
    x, w = lab.constant(np.full((4, 4), 3e6, "float32")), lab.constant(np.eye(4, dtype="float32"))
    agree(made(x, w), made.python_function(x, w), 1e-6)


def test_threads_do_not_share_memory() -> None:
    made = lab.function(lambda x, w: net([w, lab.ones(30), w, lab.ones(30)], x) @ w)
    w = normal(30, 30)
    xs = [normal(10, 30) for _ in range(4)]
    made(xs[0], w)
    expected = [made(x, w).numpy() for x in xs]
    wrong: list[int] = []

    def work(n: int) -> None:
        same = [np.array_equal(made(xs[n], w).numpy(), expected[n]) for _ in range(200)]
        wrong.append(same.count(False))

    threads = [threading.Thread(target=work, args=[n]) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == [0, 0, 0, 0]


def test_views_between_calls_are_not_copied() -> None:
    """What NumPy computes between two sequences splits them; both see the views for themselves."""

    def run(x: Any, w: Any) -> Any:
        turned = lab.transpose(lab.tanh(x @ w))
        order = lab.cast(lab.argsort(turned[0]), lab.int32)
        return lab.sin(lab.gather(turned, order, axis=1) @ x) + lab.exp(turned @ x), turned

    compiled(run, normal(6, 5), normal(5, 5))


def test_a_view_of_a_view_is_returned() -> None:
    def run(x: Any, w: Any) -> Any:
        y = lab.reshape(lab.tanh(x @ w), (2, 2, 5))
        z = lab.reshape(lab.sin(x) @ w, (2, 2, 5))
        return lab.transpose(y, (2, 0, 1)), z, lab.transpose(z)

    made = compiled(run, normal(4, 6), normal(6, 5))
    assert not steps_outside(made)


def test_the_numpy_back_end_has_no_sequences() -> None:
    made = lab.function(meta_step, backend="numpy")
    made(normal(10, 6), normal(10, 1), *WEIGHTS)
    assert not made.kernels
