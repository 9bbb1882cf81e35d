"""`vectorized_map` gives what `map_fn` gives, all rows together where it can: programs with tapes inside and around."""

import logging
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab import errors
from autodiff_lab.extras import vectorized
from autodiff_lab.extras.row_trace import RowTrace
from tests.compile.random_programs import program

RNG = np.random.default_rng(0)
X = RNG.normal(size=(5, 4)).astype(np.float32)
Y = RNG.normal(size=(5,)).astype(np.float32)
W1 = lab.Variable(RNG.normal(size=(4, 6)).astype(np.float32))
B1 = lab.Variable(RNG.normal(size=6).astype(np.float32))
W2 = lab.Variable(RNG.normal(size=(6, 3)).astype(np.float32))
TABLE = lab.Variable(RNG.normal(size=(7, 4)).astype(np.float32))
IMAGES = RNG.normal(size=(3, 6, 6, 2)).astype(np.float32)
FILTER = lab.Variable(RNG.normal(size=(3, 3, 2, 4)).astype(np.float32))
SQUARE = lab.constant(X[:4] @ X[:4].T + 4 * np.eye(4, dtype=np.float32))


def network(x: Any) -> Any:
    return lab.tanh(x @ W1 + B1) @ W2


def gradients(row: Any) -> Any:
    x, y = row
    with lab.GradientTape() as tape:
        loss = lab.reduce_sum(lab.square(network(x[lab.newaxis])[0] - y))
    return tape.gradient(loss, [W1, B1, W2])


def second_order(row: Any) -> Any:
    with lab.GradientTape() as outer:
        outer.watch(row)
        with lab.GradientTape() as inner:
            inner.watch(row)
            y = lab.reduce_sum(lab.sin(row) * row**3.0)
        slope = lab.reduce_sum(inner.gradient(y, row) ** 2.0)
    return outer.gradient(slope, row), slope


def jacobian(row: Any) -> Any:
    with lab.GradientTape() as tape:
        tape.watch(row)
        y = lab.nn.softmax(network(row[None])[0])
    return tape.jacobian(y, row)


def embedded(row: Any) -> Any:
    with lab.GradientTape() as tape:
        found = lab.nn.embedding_lookup(TABLE, lab.cast(lab.abs(row) * 2.0, lab.int32))
        loss = lab.reduce_sum(found * found)
    return lab.convert_to_tensor(tape.gradient(loss, TABLE)), loss


def attention(row: Any) -> Any:
    q = lab.reshape(row, [4, 1]) * lab.constant([[1.0, 2.0, 0.5]])
    with lab.GradientTape() as tape:
        tape.watch(q)
        scores = lab.nn.softmax(q @ lab.transpose(q) / 3.0**0.5)
        y = lab.reduce_mean(lab.einsum("ij,jk->ik", scores, q)[1:, ::2])
    return tape.gradient(y, q)


def convolved(image: Any) -> Any:
    with lab.GradientTape() as tape:
        y = lab.nn.relu(lab.nn.conv2d(image[None], FILTER, 1, "SAME"))
        loss = lab.reduce_sum(lab.nn.max_pool2d(y, 2, 2, "VALID") ** 2.0)
    return tape.gradient(loss, FILTER)


def picked(row: Any) -> Any:
    best = lab.argmax(row, output_type=lab.int32)
    return lab.gather(row, best), lab.gather(TABLE, best), lab.one_hot(best, 4), lab.sort(row)[::-1], row[best]


def solved(row: Any) -> Any:
    a = SQUARE + lab.linalg.diag(lab.square(row))
    return lab.linalg.solve(a, row[:, None])[:, 0], lab.linalg.logdet(a), lab.linalg.cholesky(a)


def directional(row: Any) -> Any:
    return lab.jvp(lambda x: lab.reduce_sum(lab.exp(x) * x), [row], [lab.ones_like(row)])[1]


def nested(row: Any) -> Any:
    return lab.vectorized_map(lambda a: lab.vectorized_map(lambda b: a * b + lab.sin(b), row), row)


def normalized(row: Any) -> Any:
    mean, variance = lab.nn.moments(row, axes=[0])
    scaled = lab.nn.batch_normalization(row, mean, variance, None, B1[0], 1e-3)
    return {"scaled": lab.clip_by_value(scaled, -1.0, 1.0), "same": B1, "padded": lab.pad(row, [[1, 2]])}


PROGRAMS: dict[str, tuple[Callable[[Any], Any], Any]] = {
    "gradients of a network": (gradients, (X, Y)),
    "second derivatives": (second_order, X),
    "a Jacobian": (jacobian, X),
    "an embedding": (embedded, X),
    "attention": (attention, X),
    "a convolution": (convolved, IMAGES),
    "picked elements": (picked, X),
    "systems": (solved, X),
    "forward mode": (directional, X),
    "maps in maps": (nested, X),
    "normalization": (normalized, X),
}
"""Functions of a row, and rows."""


def flat(made: Any) -> list[Any]:
    return lab.nest.flatten(made)


def alike(made: Any, wanted: Any, rtol: float = 2e-5) -> None:
    lab.nest.assert_same_structure(made, wanted)
    for a, b in zip(flat(made), flat(wanted), strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_allclose(a, b, rtol=rtol, atol=1e-6)


@pytest.fixture
def together(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return a list of the blocks of rows that were taken together."""
    blocks: list[int] = []
    on_rows = RowTrace.on_rows

    def watched(self: RowTrace, results: Any) -> Any:
        run = on_rows(self, results)

        def counted(rows: Any, count: int) -> Any:
            blocks.append(count)
            return run(rows, count)

        return counted

    monkeypatch.setattr(RowTrace, "on_rows", watched)
    return blocks


@pytest.mark.slow(keep=4)
@pytest.mark.parametrize("which", PROGRAMS)
@pytest.mark.parametrize("way", ["op by op", "in blocks", "compiled"])
def test_a_program_gives_what_it_gives_row_by_row(
    which: str, way: str, together: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    fn, rows = PROGRAMS[which]
    rows = lab.nest.map_structure(lab.constant, rows)
    wanted = lab.map_fn(fn, rows)
    call: Callable[..., Any] = lab.vectorized_map
    if way == "in blocks":
        monkeypatch.setattr(RowTrace, "largest", lambda self: 0)
        monkeypatch.setattr(vectorized, "BLOCK_BYTES", 2)
    if way == "compiled":
        call = lab.function(lab.vectorized_map)
        assert call.compile(fn, rows), call.why()
    alike(call(fn, rows), wanted)
    assert together
    if way == "in blocks":
        assert {2, 1} <= set(together)


@pytest.mark.slow(keep=3)
@pytest.mark.parametrize("which", PROGRAMS)
@pytest.mark.parametrize("compiled", [False, True])
def test_gradients_pass_through(which: str, compiled: bool, together: list[int]) -> None:
    fn, rows = PROGRAMS[which]
    rows = lab.nest.map_structure(lab.constant, rows)
    sources = [*flat(rows), W1, B1, TABLE, FILTER]

    def gradient(mapped: Any, rows: Any) -> Any:
        with lab.GradientTape() as tape:
            for leaf in flat(rows):
                tape.watch(leaf)
            made = [t for t in flat(mapped(fn, rows)) if t.dtype.is_floating]
            loss = lab.add_n([lab.reduce_sum(lab.sin(t)) for t in made])
        found = tape.gradient(loss, [*flat(rows), W1, B1, TABLE, FILTER], unconnected_gradients="zero")
        return [lab.convert_to_tensor(g) for g in found]

    wanted = gradient(lab.map_fn, rows)
    call: Callable[..., Any] = lambda rows: gradient(lab.vectorized_map, rows)  # noqa: E731
    if compiled:
        call = lab.function(call)
        assert call.compile(rows), call.why()
    for a, b in zip(call(rows), wanted, strict=True):
        largest = np.abs(b.numpy()).max(initial=1.0)  # what cancels has the error of its terms, on any BLAS
        np.testing.assert_allclose(a, b, rtol=2e-4, atol=2e-5 * largest)
    assert together
    assert len(sources) == len(wanted)


@pytest.mark.parametrize("seed", range(12))
def test_random_programs_give_what_they_give_row_by_row(seed: int) -> None:
    made = program(seed, "float64")
    start = made.variable.numpy()

    def of_row(row: Any) -> list[Any]:
        target, rest = made.run(*row)
        return [target, *[t for t in rest if t is not None]]

    rows = tuple([lab.stack([x, x * 0.75 + 0.1, -x]) for x in made.arguments])
    wanted = lab.map_fn(of_row, rows)
    made.variable.assign(start)
    for a, b in zip(lab.vectorized_map(of_row, rows, warn=False), wanted, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9, err_msg=made.text)


@lab.custom_gradient
def clipped(x: Any) -> Any:
    return x * 2.0, lambda g: lab.clip_by_value(g, -0.5, 0.5)


def stopped(row: Any) -> Any:
    with lab.GradientTape() as tape:
        tape.watch(row)
        y = row * row
        with tape.stop_recording():
            z = y * 3.0
        w = lab.reduce_sum(y * z)
    return tape.gradient(w, row)


def with_own_gradient(row: Any) -> Any:
    with lab.GradientTape() as tape:
        tape.watch(row)
        y = lab.reduce_sum(clipped(row * row))
    return tape.gradient(y, row)


@pytest.mark.parametrize("fn", [stopped, with_own_gradient])
def test_tapes_inside_keep_their_gradients(fn: Callable[[Any], Any], together: list[int]) -> None:
    alike(lab.vectorized_map(fn, lab.constant(X)), lab.map_fn(fn, lab.constant(X)))
    assert together


def test_a_tape_around_takes_the_gradient_that_a_function_declares(together: list[int]) -> None:
    x = lab.constant(X)
    found = []
    for mapped in (lab.map_fn, lab.vectorized_map):
        with lab.GradientTape() as tape:
            tape.watch(x)
            y = lab.reduce_sum(mapped(lambda row: clipped(row) * 3.0, x))
        found.append(tape.gradient(y, x))
    np.testing.assert_array_equal(*found)
    assert not together


def test_a_tape_around_that_is_stopped_inside_stays_stopped(together: list[int]) -> None:
    x = lab.constant(X)
    found = []
    for mapped in (lab.map_fn, lab.vectorized_map):
        with lab.GradientTape() as tape:
            tape.watch(x)

            def partly(row: Any, tape: Any = tape) -> Any:
                with tape.stop_recording():
                    held = row * row
                return held * row

            y = lab.reduce_sum(mapped(partly, x))
        found.append(tape.gradient(y, x))
    np.testing.assert_array_equal(*found)
    assert not together


COUNTER = lab.Variable(0.0)


def branches(row: Any) -> Any:
    return row * 2.0 if lab.reduce_sum(row) > 0.0 else row - 1.0


def loops(row: Any) -> Any:
    while lab.reduce_max(row) > 0.5:
        row = row * 0.7
    return row


def leaves_ops(row: Any) -> Any:
    return lab.constant(np.sort(row.numpy()))


def assigns(row: Any) -> Any:
    COUNTER.assign_add(1.0)
    return row + COUNTER


REFUSED: dict[str, tuple[Callable[[Any], Any], str]] = {
    "a branch": (branches, r"bool\(\) asks for a value that depends on the row"),
    "a loop": (loops, "bool"),
    "NumPy": (leaves_ops, "a value leaves the ops through numpy"),
    "a variable": (assigns, "it assigns the variable"),
}


@pytest.mark.parametrize("what", REFUSED)
@pytest.mark.parametrize("compiled", [False, True])
def test_what_depends_on_the_row_is_done_for_each(what: str, compiled: bool, caplog: pytest.LogCaptureFixture) -> None:
    fn, why = REFUSED[what]
    vectorized._told.clear()
    COUNTER.assign(0.0)
    wanted = lab.map_fn(fn, lab.constant(X))
    COUNTER.assign(0.0)
    with caplog.at_level(logging.WARNING, "autodiff_lab"):
        call: Any = lab.function(lambda x: lab.vectorized_map(fn, x)) if compiled else None
        alike((call or (lambda x: lab.vectorized_map(fn, x)))(lab.constant(X)), wanted)
    assert "for each row" in caplog.text
    assert float(COUNTER) == (len(X) if fn is assigns else 0)
    with pytest.raises(errors.UnimplementedError, match=why):
        lab.vectorized_map(fn, lab.constant(X), fallback_to_while_loop=False)


def test_random_numbers_differ_from_row_to_row() -> None:
    lab.random.set_seed(1)
    made = lab.vectorized_map(lambda row: row + lab.random.normal([4]), lab.zeros((3, 4)), warn=False)
    assert len({tuple(r) for r in made.numpy().tolist()}) == 3
    lab.random.set_seed(1)
    np.testing.assert_array_equal(made, lab.map_fn(lambda row: row + lab.random.normal([4]), lab.zeros((3, 4))))


def test_a_recording_shows_every_row() -> None:
    with lab.record() as recording:
        lab.vectorized_map(lab.sin, lab.constant(X))
    assert sum(application.op == "sin" for application in recording.forward) == len(X)


def test_rows_that_are_large_are_not_taken_together(together: list[int]) -> None:
    rows = lab.ones((2, 1 << 20))
    np.testing.assert_array_equal(lab.vectorized_map(lambda row: row * 2.0, rows), 2.0 * np.ones((2, 1 << 20)))
    assert not together
