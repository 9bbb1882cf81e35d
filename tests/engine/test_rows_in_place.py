"""Updates of rows write into a variable's own memory, and what was handed out before keeps its numbers."""

import copy
import gc
import pickle
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab.engine.buffers import Private

UFUNCS = {"add": np.add, "sub": np.subtract, "max": np.maximum, "min": np.minimum, "mul": np.multiply, "div": np.divide}
AT = [1, 1, 9]


@pytest.fixture(autouse=True)
def _without_collector() -> Iterator[None]:
    """What keeps a value alive in a test must be the same every time, whether or not there is garbage to collect."""
    gc.disable()
    yield
    gc.enable()


def owner() -> lab.Variable:
    """Return a variable that owns its memory."""
    v = lab.Variable(np.arange(40, dtype=np.float32).reshape(10, 4))
    v.scatter_add(lab.IndexedSlices(np.ones((1, 4), np.float32), [0]))
    assert memory(v).__class__ is Private
    return v


def memory(v: lab.Variable) -> Any:
    return v._own


def update(v: lab.Variable) -> np.ndarray[Any, Any]:
    """Subtract from rows, and return what the value must be now."""
    expected = v.numpy()
    np.subtract.at(expected, AT, 1)
    v.scatter_sub(lab.IndexedSlices(np.ones((3, 4), np.float32), AT))
    return expected


def _taped(v: lab.Variable) -> Any:
    with lab.GradientTape(persistent=True) as tape:
        y = lab.reduce_sum(v * v * v)
    return lambda: np.asarray(tape.gradient(y, v)) / 3


def _recorded(v: lab.Variable) -> lab.Recording:
    with lab.record() as recording:
        lab.reduce_sum(v * 2.0)
    return recording


HOLDERS: dict[str, Callable[[lab.Variable], Any]] = {
    "read": lambda v: v.read(),
    "value": lambda v: v.value(),
    "read_value": lambda v: v.read_value(),
    "convert_to_tensor": lab.convert_to_tensor,
    "identity": lab.identity,
    "reshape": lambda v: lab.reshape(lab.reshape(v, (-1,)), (10, 4)),
    "transpose": lambda v: np.asarray(lab.transpose(v)).T,
    "a slice": lambda v: lab.concat([v[:5], v[5:]], 0),
    "parts": lambda v: lab.stack(lab.unstack(v)),
    "a view of a view": lambda v: v[2:][1:],
    "another variable": lab.Variable,
    "numpy": lambda v: v.numpy(),
    "an array": np.asarray,
    "a pickle": lambda v: pickle.loads(pickle.dumps(v)),  # noqa: S301 - its own
    "a copy": copy.deepcopy,
    "a generator": lambda v: (row for row in v),
}


@pytest.mark.parametrize("name", HOLDERS)
def test_what_was_handed_out_keeps_its_numbers(name: str) -> None:
    v = owner()
    before = v.numpy()
    kept = HOLDERS[name](v)
    for _ in range(3):
        expected = update(v)
        assert np.array_equal(v.numpy(), expected)
    found = np.stack([np.asarray(row) for row in kept]) if name == "a generator" else np.asarray(kept)
    assert np.array_equal(found, before[-len(found) :])


def test_a_tape_keeps_the_values_that_it_saved() -> None:
    v = owner()
    before = v.numpy()
    squares = _taped(v)
    expected = update(v)
    np.testing.assert_allclose(squares(), before**2, rtol=1e-6)
    assert np.array_equal(v.numpy(), expected)


def test_a_recording_stays_what_it_was() -> None:
    v = owner()
    changed, expected = _recorded(v), _recorded(owner()).to_text()
    update(v)
    assert changed.to_text() == expected  # it is built now, from what it kept


def test_memory_is_reused_when_nobody_holds_it_and_only_then() -> None:
    v = owner()
    first = memory(v)
    update(v)
    assert memory(v) is first
    kept: Any = v.read()
    update(v)
    second = memory(v)
    assert second is not first
    update(v)  # what was handed out is the old memory
    assert memory(v) is second
    del kept
    part: Any = v[3:]
    update(v)
    assert memory(v) is not second
    del part
    with lab.GradientTape() as tape:
        loss = lab.reduce_sum(lab.gather(v, [1, 2]) ** 2)
    third = memory(v)
    v.assign_sub(0.1 * tape.gradient(loss, v))  # a tape that is spent holds nothing
    assert memory(v) is third
    v.assign(np.zeros((10, 4), np.float32))
    assert memory(v).__class__ is np.ndarray


def test_a_checkpoint_restores_the_old_rows(tmp_path: Any) -> None:
    layer = lab.layers.Embedding(10, 4)
    layer([0])
    update(layer.embeddings)
    before = layer.embeddings.numpy()
    layer.save_weights(tmp_path / "weights.npz")
    expected = update(layer.embeddings)
    assert np.array_equal(layer.embeddings.numpy(), expected)
    layer.load_weights(tmp_path / "weights.npz")
    assert np.array_equal(layer.embeddings.numpy(), before)


DTYPES = ["float32", "float64", "float16", "bfloat16", "int32", "complex64"]
# Numba compiles for each: every update in one dtype, and one of them in every dtype.
COMPILED = [(how, "float32", "numba") for how in [*UFUNCS, "update"]] + [
    ("add", dtype, "numba") for dtype in DTYPES[1:]
]
PLAIN = [(how, dtype, "numpy") for how in [*UFUNCS, "update"] for dtype in DTYPES]


@pytest.mark.parametrize(("how", "dtype", "mode"), PLAIN + COMPILED)
def test_every_update_agrees_with_numpy(how: str, dtype: str, mode: str) -> None:
    if (how in ("max", "min") and dtype == "complex64") or (how in ("mul", "div") and dtype == "int32"):
        pytest.skip("has no such update")
    rng = np.random.default_rng(1)
    x, rows, at = rng.integers(1, 5, (6, 2, 3)), rng.integers(1, 5, (4, 2, 3)), np.array([0, 2, 2, 5])
    expected = x.astype(np.complex128 if dtype == "complex64" else np.float64)
    if how == "update":
        at = np.array([0, 2, 3, 5])
        expected[at] = rows
    else:
        UFUNCS[how].at(expected, at, rows)
    with lab.use_kernels(mode):
        for coordinates in (False, True):
            v = lab.Variable(lab.cast(x, dtype))
            if not coordinates:
                getattr(v, f"scatter_{how}")(lab.IndexedSlices(lab.cast(rows, dtype), at))
            elif hasattr(v, f"scatter_nd_{how}"):
                pairs = np.stack([np.repeat(at, 2), np.tile([0, 1], 4)], axis=1)
                getattr(v, f"scatter_nd_{how}")(pairs, lab.cast(rows.reshape(8, 3), dtype))
            else:
                continue
            assert memory(v).__class__ is Private or (how, dtype) == ("div", "bfloat16")
            wide = lab.cast(v, "complex128" if dtype == "complex64" else "float64")
            np.testing.assert_allclose(wide, expected, rtol=0.01)


@pytest.mark.parametrize("at", [[10], [-1]])
def test_a_position_outside_changes_nothing(at: list[int]) -> None:
    v = owner()
    before = v.numpy()
    with pytest.raises(lab.errors.InvalidArgumentError, match="not in"):
        v.scatter_add(lab.IndexedSlices(np.ones((2, 4), np.float32), [0, *at]))
    with pytest.raises((lab.errors.DtypeMismatch, lab.errors.ConversionError)):
        v.scatter_add(lab.IndexedSlices(np.ones((1, 4)), [0]))
    with pytest.raises(lab.errors.ShapeMismatch):
        v.scatter_add(lab.IndexedSlices(np.ones((1, 3), np.float32), [0]))
    assert np.array_equal(v.numpy(), before)


def test_an_update_under_a_recording_is_shown_as_it_was() -> None:
    v = owner()
    with lab.record() as recording:
        v.scatter_add(lab.IndexedSlices(np.ones((1, 4), np.float32), [3]))
    assert "tensor_scatter_nd_add" in recording.to_text(lines=False)


def _train(backend: str) -> tuple[lab.Variable, Any]:
    v = lab.Variable(np.arange(12, dtype=np.float32).reshape(4, 3))

    @lab.function(backend=backend)
    def step(ids: Any) -> Any:
        with lab.GradientTape() as tape:
            loss = lab.reduce_sum(lab.gather(v, ids) ** 2)
        v.assign_sub(tape.gradient(loss, v) * 0.1)
        return loss

    return v, step


@pytest.mark.parametrize("backend", ["numpy", "auto"])
def test_a_compiled_step_writes_in_place_as_well(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("front.entry", "program.blocks"):  # small tables are copied otherwise
        monkeypatch.setattr(f"autodiff_lab.compile.{module}.LARGEST_COPY", 0)
    v, step = _train(backend)
    kept: list[tuple[Any, Any]] = []
    places: list[bool] = []
    for n in range(6):
        before, was = v.numpy(), memory(v)
        if n == 3:
            kept.append((v.read(), before))
        ids = np.array([[2, 0], [2, 1]])
        loss = step(lab.constant(ids))
        expected = before.copy()
        np.subtract.at(expected, ids, 0.2 * before[ids])
        np.testing.assert_allclose(v, expected, rtol=1e-5)
        np.testing.assert_allclose(loss, (before[ids] ** 2).sum(), rtol=1e-5)
        places.append(memory(v) is was)
    assert places == [False, False, True, False, True, True]  # the trace, the first program, and where it was kept
    assert step.fallbacks == 0
    assert "tensor_scatter_nd_sub" in str(step.program)
    for tensor, old in kept:
        assert np.array_equal(tensor, old)
    before = v.numpy()
    with pytest.raises(lab.errors.InvalidArgumentError):
        step(lab.constant([[0, 0], [0, 4]]))
    assert np.array_equal(v.numpy(), before)


def test_a_compiled_function_that_returns_the_table_returns_the_old_or_the_new_one() -> None:
    v = lab.Variable(np.zeros((3, 2), np.float32))

    @lab.function
    def both(x: Any) -> Any:
        before = v.read()
        v.scatter_add(lab.IndexedSlices(x, [1]))
        return before, v.read()

    @lab.function
    def old(x: Any) -> Any:
        before = lab.reshape(v.read(), (2, 3))
        v.scatter_add(lab.IndexedSlices(x, [1]))
        return before

    one = lab.ones([1, 2])
    found = [both(one) for _ in range(4)]
    assert [[float(t[1, 0]) for t in pair] for pair in found] == [[0, 1], [1, 2], [2, 3], [3, 4]]
    earlier = [old(one) for _ in range(4)]
    assert [float(t[0, 2]) for t in earlier] == [4, 5, 6, 7]
    assert both.fallbacks == old.fallbacks == 0


def test_threads_lose_no_update_and_readers_see_whole_ones() -> None:
    v = lab.Variable(np.zeros((4, 64), np.float32))
    torn: list[Any] = []
    stop = threading.Event()

    def add() -> None:
        for n in range(200):
            v.scatter_add(lab.IndexedSlices(np.ones((2, 64), np.float32), [n % 4, 3]))

    def look() -> None:
        while not stop.is_set():
            tensor = v.read()
            first = tensor.numpy()
            if (first != first[:, :1]).any() or not np.array_equal(first, tensor.numpy()):
                torn.append(first)

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        readers, writers = ([threading.Thread(target=f) for _ in range(3)] for f in (look, add))
        for thread in (*readers, *writers):
            thread.start()
        for thread in writers:
            thread.join()
        stop.set()
        for thread in readers:
            thread.join()
    finally:
        sys.setswitchinterval(before)
    assert not torn
    assert v.numpy()[:, 0].tolist() == [150, 150, 150, 750]
