"""Orders, positions, integers, windows, rows and cross entropies as steps of a sequence, with eager results."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab import nest
from autodiff_lab.errors import InvalidArgumentError
from tests.compile.small_programs import mixture
from tests.refusals import refused

pytest.importorskip("numba", reason="sequences need Numba")
DRAW = np.random.default_rng(11)
TOLERANCE = {"float32": 2e-5, "float64": 1e-13, "complex64": 3e-6, "complex128": 1e-13}
sparse_loss, dense_loss = (
    lab.nn.sparse_softmax_cross_entropy_with_logits, lab.nn.softmax_cross_entropy_with_logits
)  # fmt: skip


def normal(*shape: int, dtype: str = "float32") -> Any:
    return DRAW.standard_normal(shape).astype(dtype)


def in_one_call(function: Callable[..., Any], *arguments: Any) -> Any:
    """Compile a function, compare it with the eager one, and check that NumPy only takes views."""
    given = [lab.constant(x) for x in arguments]
    made = lab.function(function)
    expected = nest.flatten(function(*given))
    for _ in range(2):
        for a, b in zip(nest.flatten(made(*given)), expected, strict=True):
            a, b = a.numpy(), b.numpy()
            assert (a.shape, a.dtype) == (b.shape, b.dtype)
            if b.dtype.kind in "iub":
                np.testing.assert_array_equal(a, b)
            else:
                tolerance = TOLERANCE[b.dtype.name]
                scale = max(1.0, float(np.abs(b[np.isfinite(b)]).max(initial=0.0)))
                np.testing.assert_allclose(a, b, tolerance, tolerance * scale)
    assert made.fallbacks == 0
    assert not made.skipped
    outside = [row for row in made.source.rpartition("def program")[2].splitlines() if "(" in row and "# " in row]
    assert not [row for row in outside if not any(word in row for word in ("sequence_", "loop_", ".T "))]
    return made


def second(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of the value and its first and second derivatives with respect to the first argument."""

    def run(x: Any, *rest: Any) -> Any:
        with lab.GradientTape() as outer:
            outer.watch(x)
            with lab.GradientTape() as inner:
                inner.watch(x)
                y = function(x, *rest)
                value = lab.reduce_sum(lab.sin(y))
            first = inner.gradient(value, x)
            size = lab.reduce_sum(first * first)
        return y, first, outer.gradient(size, x)

    return run


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64"])
def test_orders_are_those_of_the_eager_ops(dtype: str) -> None:
    x = np.round(4 * DRAW.standard_normal((5, 7, 40))).astype(dtype)  # many are equal
    if dtype.startswith("float"):
        x[0, 0, [3, 8]], x[1, 2, :4], x[2, :, 5] = np.nan, [np.inf, -np.inf, 0.0, -0.0], -np.inf

    def run(x: Any) -> Any:
        found = [lab.argsort(x, axis, way) for axis in (0, 1, 2) for way in ("ASCENDING", "DESCENDING")]
        return found, lab.sort(x, 1, "DESCENDING"), [lab.math.top_k(x, k) for k in (1, 3, 16, 17, 40)]

    in_one_call(run, x)


@pytest.mark.parametrize("length", [1, 2, 7, 8, 9, 16, 17, 31, 64])
def test_orders_of_rows_of_any_length(length: int) -> None:
    in_one_call(lambda x: (lab.argsort(x), lab.argsort(-x, stable=True)), np.round(normal(4, length), 1))


def test_sorted_elements_hand_their_gradients_back() -> None:
    in_one_call(second(lambda x: lab.concat([lab.sort(x, 1), lab.math.top_k(x, 3).values], 1)), normal(4, 9))


def test_a_mixture_of_experts_is_one_call() -> None:
    def run(gates: Any, experts: Any, x: Any) -> Any:
        with lab.GradientTape() as tape:
            tape.watch([gates, experts])
            best, at = lab.math.top_k(x @ gates, 2)
            out = lab.einsum("nw,nkwh->nkh", x, lab.gather(experts, at))
            loss = lab.reduce_mean(lab.reduce_sum(lab.nn.softmax(best)[:, :, None] * out, axis=1) ** 2)
            loss += lab.reduce_sum(
                lab.reduce_mean(lab.reduce_sum(lab.one_hot(at, 6, dtype="float64"), axis=1), axis=0) ** 2
            )
        return loss, *tape.gradient(loss, [gates, experts])

    in_one_call(run, normal(5, 6, dtype="float64"), normal(6, 5, 4, dtype="float64"), normal(8, 5, dtype="float64"))


@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_integers_are_reduced_chosen_and_marked(dtype: str) -> None:
    def run(x: Any) -> Any:
        sums = [lab.reduce_sum(x, 1), lab.reduce_prod(x, 0), lab.reduce_max(x, [0, 1]), lab.reduce_min(x, 2)]
        truths = lab.reduce_any(x > 3, 0), lab.reduce_all(x > -4, 1)
        marks = lab.one_hot(x, 4), lab.one_hot(x, 4, axis=1, dtype=dtype), lab.one_hot(x, 3, on_value=0, off_value=1)
        chosen = lab.clip_by_value(x, 0, 2), lab.maximum(x, 1)
        return sums, truths, marks, chosen, lab.concat([x, -x], 1), x[:, 1] * x[0]

    in_one_call(run, DRAW.integers(-5, 6, (3, 3, 2)).astype(dtype))


def test_large_integers_wrap_round_as_in_eager_ops() -> None:
    large = np.full((3, 4), 2**30, "int32")
    in_one_call(lambda x: (lab.reduce_sum(x, 1), lab.reduce_prod(x, 0), x + x), large)


@pytest.mark.slow(keep=1)
@pytest.mark.parametrize("kind", ["int32", "int64"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", [(6, 5), (2, 3, 20), (4, 1)])
def test_cross_entropies_and_their_derivatives(shape: tuple[int, ...], dtype: str, kind: str) -> None:
    labels = DRAW.integers(0, shape[-1], shape[:-1]).astype(kind)
    in_one_call(second(lambda x, at: sparse_loss(labels=at, logits=lab.tanh(x))), normal(*shape, dtype=dtype), labels)
    shares = DRAW.random(shape).astype(dtype)
    in_one_call(second(lambda x, s: dense_loss(labels=s, logits=lab.tanh(x))), normal(*shape, dtype=dtype), shares)


def test_cross_entropies_of_infinite_logits() -> None:
    logits = normal(5, 4)
    logits[0, 1], logits[1, 2], logits[2, 0], logits[3], logits[4, 3] = -np.inf, np.inf, np.nan, -np.inf, -np.inf
    in_one_call(second(lambda x, at: sparse_loss(labels=at, logits=x * 1.5)), logits, np.array([0, 0, 1, 2, 3]))


def test_a_label_outside_of_the_classes_is_refused_in_later_calls_too() -> None:
    made = lab.function(lambda x, at: lab.reduce_sum(lab.sin(sparse_loss(labels=at, logits=x))))
    x, labels = lab.constant(normal(4, 3)), np.array([0, 1, 2, 1])
    made(x, lab.constant(labels))
    for bad in (-1, 3):
        with refused(InvalidArgumentError, "a label is not in"):
            made(x, lab.constant(np.where(labels == 2, bad, labels)))


def test_a_loss_in_every_turn_leaves_a_recurrent_net_a_loop() -> None:
    def run(w: Any, v: Any, x: Any, labels: Any) -> Any:
        with lab.GradientTape() as tape:
            tape.watch([w, v])
            h, loss = lab.zeros((3, 6), "float64"), lab.constant(0.0, "float64")
            for t in range(8):
                h = lab.tanh(h @ w + x[t])
                loss += lab.reduce_mean(sparse_loss(labels=labels[t], logits=h @ v))
                loss += lab.reduce_sum(h[:, :5] * lab.one_hot(labels[t], 5, dtype="float64"))
        return loss, *tape.gradient(loss, [w, v])

    given = [lab.constant(x) for x in (normal(6, 6), normal(6, 5), normal(8, 3, 6))]
    given = [lab.cast(x, "float64") for x in given] + [lab.constant(DRAW.integers(0, 5, (8, 3)))]
    made = lab.function(run)
    made(*given)
    for a, b in zip(made(*given), run(*given), strict=True):
        np.testing.assert_allclose(a.numpy(), b.numpy(), 1e-10, 1e-12)
    assert "iterations, run as loops" in made.why()
    assert "unrolled" not in made.why()


@pytest.mark.parametrize(("pool", "shape", "window"), [
    ("avg_pool1d", (2, 8, 3), 2), ("avg_pool2d", (2, 8, 6, 3), (2, 3)), ("avg_pool2d", (1, 1, 6, 1), (1, 6)),
    ("avg_pool3d", (1, 4, 4, 6, 2), (2, 1, 3)),
])  # fmt: skip
def test_means_of_windows_side_by_side_are_part_of_a_sequence(pool: str, shape: Any, window: Any) -> None:
    def run(x: Any) -> Any:
        with lab.GradientTape() as tape:
            tape.watch(x)
            loss = lab.reduce_sum(lab.sin(getattr(lab.nn, pool)(x * x, window, window, "VALID")))
        return loss, tape.gradient(loss, x)

    in_one_call(run, normal(*shape, dtype="float64"))


@pytest.mark.parametrize("how", [(3, 2, "VALID"), (2, 2, "SAME"), (2, 1, "VALID")])
def test_means_of_other_windows_are_left_to_the_kernel(how: Any) -> None:
    made = lab.function(lambda x: lab.nn.avg_pool2d(x * x, *how))
    x = lab.constant(normal(1, 7, 7, 2))
    made(x)
    np.testing.assert_allclose(made(x).numpy(), made.python_function(x).numpy(), 1e-6)
    assert "average_pool_(" in made.source


@pytest.mark.parametrize("number", [1.5, -np.inf, 0.0])
def test_an_array_with_a_number_around_it_is_part_of_a_sequence(number: float) -> None:
    def run(x: Any) -> Any:
        with lab.GradientTape() as tape:
            tape.watch(x)
            y = lab.exp(-lab.abs(lab.pad(x * x, [[1, 0], [0, 0], [2, 3]], constant_values=number)))
            loss = lab.reduce_sum(lab.sin(y))
        return y, tape.gradient(loss, x)

    in_one_call(run, normal(3, 2, 4, dtype="float64"))


@pytest.mark.parametrize("how", ["add", "sub", "update"])
def test_changes_of_some_rows_of_a_small_table_are_part_of_a_sequence(how: str) -> None:
    change = getattr(lab, f"tensor_scatter_nd_{how}")
    x, rows = normal(6, 3, dtype="float64"), np.array([[4], [0], [4]] if how != "update" else [[4], [0], [5]])

    def run(x: Any, updates: Any, at: Any) -> Any:
        return lab.exp(change(x * 2.0, at, updates * 0.5)) + 1.0

    made = in_one_call(run, x, normal(3, 3, dtype="float64"), rows)
    with refused(InvalidArgumentError, "6"):
        made(lab.constant(x), lab.constant(x[:3]), lab.constant(rows + 2))


def test_rows_of_a_small_variable_change_in_one_call() -> None:
    one, two = (lab.Variable(np.arange(12.0).reshape(4, 3)) for _ in range(2))

    def step(table: Any, rows: Any, g: Any) -> Any:
        table.assign(lab.tensor_scatter_nd_sub(table, rows, 0.1 * g))
        return lab.reduce_sum(table * table)

    made = lab.function(lambda rows, g: step(one, rows, g))
    for k in range(4):
        rows, g = lab.constant([[k], [3 - k], [k]]), lab.constant(normal(3, 3, dtype="float64"))
        np.testing.assert_allclose(made(rows, g).numpy(), step(two, rows, g).numpy(), 1e-12)
        np.testing.assert_allclose(one.numpy(), two.numpy(), 1e-12)
    assert "tensor_scatter_nd_sub_(" not in made.source.rpartition("def program")[2]


def test_stacks_of_one_product_are_part_of_a_sequence() -> None:
    """The axis of a stack of one matrix has no stride that counts."""

    def run(h: Any) -> Any:
        with lab.GradientTape() as tape:
            tape.watch(h)
            gram = lab.einsum("bijc,bijd->bcd", h, h) / 12.0
            loss = lab.reduce_mean(lab.square(gram - 1.0))
        return loss, tape.gradient(loss, h)

    in_one_call(run, normal(1, 3, 4, 2, dtype="float64"))


@pytest.mark.slow(keep=1)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_functions_of_the_c_library_are_steps_and_parts_of_loops(dtype: str) -> None:
    def run(x: Any) -> Any:
        y = 0.3 * x
        ops = lab.acos, lab.acosh, lab.asin, lab.asinh, lab.atan, lab.atanh, lab.cosh, lab.sinh
        numbers = lab.atan(lab.reduce_sum(x[2])), lab.atan2(x[2, 0], lab.reduce_max(x[3]))
        return [op(y) for op in ops], lab.acosh(1.0 + y * y), lab.atan2(y, x[::-1]), lab.atan2(y[0], x[1:2]), numbers

    x = normal(6, 5, dtype=dtype)
    x[0], x[1, :4] = [np.inf, -np.inf, np.nan, 0.0, -0.0], [300.0, -300.0, 80.0, 1e30]
    in_one_call(run, x)
    in_one_call(second(lambda x: lab.sinh(lab.atan(x)) + lab.atan2(x, 2.0 + x * x)), normal(4, 3, dtype=dtype))

    def tracked(x: Any, seen: Any) -> Any:
        loss = lab.reduce_sum(x * 0.0)
        for t in range(8):
            x = x + 0.1 * lab.sinh(x)
            loss += lab.reduce_sum(lab.square(lab.atan2(x[:, 1], x[:, 0]) - seen[t]))
        return loss

    made = lab.function(second(tracked))
    given = [lab.constant(normal(3, 2, dtype=dtype)), lab.constant(normal(8, 3, dtype=dtype))]
    made(*given)
    for a, b in zip(made(*given), second(tracked)(*given), strict=True):
        np.testing.assert_allclose(a.numpy(), b.numpy(), 1e-3 if dtype == "float32" else 1e-10)
    assert "unrolled" not in made.why()


def test_inverse_trigonometric_functions_of_many_elements_are_part_of_a_loop() -> None:
    made = lab.function(lambda x, y: lab.atan(x) + lab.atan2(x, y) * lab.cosh(y))
    x, y = normal(2, 2000)
    made(lab.constant(x), lab.constant(y))
    found = made(lab.constant(x), lab.constant(y)).numpy()
    np.testing.assert_allclose(found, np.arctan(x) + np.arctan2(x, y) * np.cosh(y), rtol=2e-5, atol=1e-5)
    assert len(made.kernels) == 1
    assert "np.arc" not in made.source


@pytest.mark.parametrize("length", [1, 2, 16, 17, 64, 300])
def test_the_largest_of_rows_of_any_length(length: int) -> None:
    x = np.round(normal(4, length), 1)
    in_one_call(lambda x: [lab.math.top_k(x, k) for k in (1, 5, 16) if k <= length], x)
    made = lab.function(lab.argsort)
    for _ in range(2):
        np.testing.assert_array_equal(made(lab.constant(x)).numpy(), np.argsort(x, kind="stable"))


def test_softmaxes_of_many_short_rows_are_lines() -> None:
    made = in_one_call(mixture, normal(4, 20), normal(1000, 4), normal(1000, 1))
    assert not {"logsumexp_", "log_softmax_"} & set(made.source.replace("(", " ").split())


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", [(3,), (4, 3), (2, 5, 3)])
def test_cross_products_are_part_of_a_sequence(shape: tuple[int, ...], dtype: str) -> None:
    def run(a: Any, b: Any) -> Any:
        with lab.GradientTape() as tape:
            tape.watch([a, b])
            turned = lab.linalg.cross(a * 2.0, b)
            loss = lab.reduce_sum(lab.sin(lab.linalg.cross(turned, a)))
        return turned, tape.gradient(loss, [a, b])

    in_one_call(run, normal(*shape, dtype=dtype), normal(*shape, dtype=dtype))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("shape", "k"), [((3, 2), 1), ((3, 9), 2), ((4, 3, 12), 1), ((2, 2, 3, 5), 3), ((3, 200), 1)])
def test_systems_of_three_diagonals_are_part_of_a_sequence(shape: tuple[int, ...], k: int, dtype: str) -> None:
    diagonals = normal(*shape, dtype=dtype)  # which ask for pivots
    diagonals[..., 1, :] += np.sign(diagonals[..., 1, :]) * 1.5
    if len(shape) == 3:
        diagonals[1, 1, 0] = diagonals[1, 2, 1] = 0  # a singular one

    def run(diagonals: Any, b: Any) -> Any:
        with lab.GradientTape() as tape:
            tape.watch([diagonals, b])
            x = lab.linalg.tridiagonal_solve(diagonals, b)
            loss = lab.reduce_sum(lab.tanh(x))
        return x, tape.gradient(loss, [diagonals, b])

    made = in_one_call(run, diagonals, normal(*shape[:-2], shape[-1], k, dtype=dtype))
    if len(shape) == 3:
        x = made(lab.constant(diagonals), lab.ones((*shape[:-2], shape[-1], k), dtype))[0].numpy()
        assert np.isnan(x[1]).all()
        assert np.isfinite(x[[0, 2, 3]]).all()


@pytest.mark.slow(keep=1)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", [(1, 1), (3, 3), (2, 17, 3, 3), (2, 5, 5), (3, 9, 9), (18, 2, 2)])
def test_exponentials_of_small_matrices_are_part_of_a_sequence(shape: tuple[int, ...], dtype: str) -> None:
    sizes = np.linspace(0.02, 0.5, shape[0]).reshape(-1, *[1] * (len(shape) - 1))
    in_one_call(second(lambda x: lab.linalg.expm(lab.linalg.matrix_transpose(x * sizes))), normal(*shape, dtype=dtype))


def test_elements_of_a_variable_are_read_together() -> None:
    """A call for each would cost more than what is done with them."""
    table, others = lab.Variable(normal(6, 8, dtype="float64")), lab.Variable(normal(3, dtype="float64"))

    def run(x: Any) -> Any:
        with lab.GradientTape() as tape:
            total = x
            for k in range(6):
                row = lab.unstack(table[k])
                for n, one in enumerate(row):
                    total = total * 0.9 + lab.sin(one) * (others[n % 3] + float(n))
        return total, tape.gradient(total, [table, others])

    compiled, x = lab.function(run), lab.constant(0.5, "float64")
    for _ in range(2):
        for one, other in zip(nest.flatten(compiled(x)), nest.flatten(run(x)), strict=True):
            np.testing.assert_allclose(one.numpy(), other.numpy(), 1e-12)
        table.assign(lab.math.cos(table))
    program = compiled.source.rpartition("def program")[2]
    assert "scalars_" in program
    assert "take_(" not in program
    assert "slice_(" not in program


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_conditions_as_numbers_and_sums_of_one_number_are_part_of_a_sequence(dtype: str) -> None:
    def run(x: Any) -> Any:
        with lab.GradientTape() as tape:
            tape.watch(x)
            kept = x * lab.cast(x > 0.2, dtype) + lab.cast(lab.reduce_any(x > 1.0, axis=1), dtype)[:, None]
            loss = lab.reduce_mean(lab.reduce_sum(kept)) + lab.nn.l2_loss(x * 2.0)
        return kept, loss, tape.gradient(loss, x)

    in_one_call(run, normal(5, 7, dtype=dtype))


@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_quotients_of_integers_are_part_of_a_sequence(dtype: str) -> None:
    x, y = DRAW.integers(-50, 50, (5, 7)), DRAW.choice([-7, -3, -2, 1, 2, 5, 9], (5, 7))
    in_one_call(lambda x, y: (x // y, x % y, x // 3, x % 7, lab.abs(x), lab.cumsum(x, 1)), *(
        number.astype(dtype) for number in (x, y)
    ))  # fmt: skip


def test_quotients_by_nothing_and_by_minus_one_are_left_to_numpy() -> None:
    made = lab.function(lambda x, y: (x // y, x % y, x + y))
    least = np.array([np.iinfo(np.int32).min, 7, -7], np.int32)
    for y in ([2, 3, 4], [-1, -1, -1], [1, -1, 2]):
        for _ in range(2):
            quotients, rests, _ = made(lab.constant(least), lab.constant(np.array(y, np.int32)))
            with np.errstate(all="ignore"):
                np.testing.assert_array_equal(quotients.numpy(), least // np.array(y, np.int32))
                np.testing.assert_array_equal(rests.numpy(), least % np.array(y, np.int32))
    with refused(InvalidArgumentError, "integer division by zero"):
        made(lab.constant(least), lab.constant(np.array([1, 0, 2], np.int32)))


def test_truth_values_are_picked_in_a_sequence() -> None:
    truths, at = DRAW.random((4, 6)) > 0.5, DRAW.integers(0, 6, (4, 3))
    in_one_call(lambda t, k: (lab.gather(t, k, batch_dims=1), lab.logical_not(t)), truths, at)
