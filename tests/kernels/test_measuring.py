"""Measurements of kernels: the margin, the budget, the classes, and the file that keeps them, whatever befalls it."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from autodiff_lab.kernels.base import compiler, elementwise, measuring
from autodiff_lab.kernels.base.choose import Like
from autodiff_lab.kernels.base.elementwise import Elementwise
from tests.kernels.test_bad_input import needs_numba

FLOAT = np.dtype("float32")


class Clock:
    """Time that passes only where a function says so."""

    def __init__(self) -> None:
        self.now = 0.0

    def thread_time(self) -> float:
        return self.now

    perf_counter = thread_time

    def taking(self, seconds: float | Callable[[int], float]) -> Callable[[Any], None]:
        """Make a function that takes a known time."""

        def function(x: Any) -> None:
            self.now += seconds(x.size) if callable(seconds) else seconds

        return function


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Clock:
    """Return a clock that measurements read, with a file and a budget of this test."""
    made = Clock()
    monkeypatch.setattr(measuring, "time", made)
    monkeypatch.setattr(measuring, "_spent", {"seconds": 0.0})
    monkeypatch.setattr(measuring, "_known", {})
    monkeypatch.setenv("AUTODIFF_LAB_CACHE", str(tmp_path))
    return made


def call(shape: tuple[int, ...] = (100, 100)) -> list[Any]:
    return [Like.in_rows(FLOAT, shape)]


@pytest.mark.parametrize(("ours", "wanted"), [(0.9, True), (0.94, True), (0.97, False), (1.0, False), (1.5, False)])
def test_the_override_must_win_by_a_margin(clock: Clock, ours: float, wanted: bool) -> None:
    reference, faster = clock.taking(1e-4), clock.taking(1e-4 * ours)
    assert measuring.pays("made up", reference, faster, call(), {}) is wanted


def test_a_class_is_measured_once_and_read_by_the_next_process(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    assert measuring.pays("made up", clock.taking(2e-4), clock.taking(1e-4), call(), {})
    now = clock.now
    assert measuring.pays("made up", clock.taking(1e-4), clock.taking(9e-4), call(), {})
    monkeypatch.setattr(measuring, "_known", {})  # as in a new process
    assert measuring.pays("made up", clock.taking(1e-4), clock.taking(9e-4), call(), {})
    assert clock.now == now, "nothing was measured again"


def test_classes_differ_in_kernel_dtype_size_layout_and_parameters() -> None:
    def key(name: str = "k", like: Any = None, **params: Any) -> str:
        return measuring.class_of(name, measuring.pays, call() if like is None else [like], params)

    wide = np.zeros((64, 100), FLOAT)
    likes = [Like.of(x) for x in (wide, wide.T, wide[:, ::2], np.broadcast_to(FLOAT.type(1), (64, 100)), wide[:8])]
    likes += [Like.in_rows(np.dtype("float64"), (64, 100)), Like.in_rows(FLOAT, (64, 300))]
    keys = [key(like=like) for like in likes] + [key("other"), key(axis=1), key(axis=0)]
    assert len(set(keys)) == len(keys)
    assert key(like=Like.in_rows(FLOAT, (64, 100))) == key(like=Like.in_rows(FLOAT, (50, 120)))
    assert key(like=Like.in_rows(FLOAT, (64, 3))) != key(like=Like.in_rows(FLOAT, (64, 4))), "few channels matter"


@pytest.mark.parametrize("array", [
    np.zeros((5, 6, 7), FLOAT), np.zeros((5, 6, 7), FLOAT).transpose(2, 0, 1), np.zeros((8, 9), FLOAT)[:, ::3],
    np.broadcast_to(np.zeros((5, 1), FLOAT), (5, 7)), np.zeros((1, 5), FLOAT).T, FLOAT.type(3), np.zeros((0, 4), FLOAT),
])  # fmt: skip
def test_arrays_for_a_measurement_are_like_the_call(array: Any) -> None:
    made = measuring.made(Like.of(array))
    assert (made.shape, made.dtype) == (array.shape, array.dtype)
    assert measuring.layout(Like.of(made))[:1] == measuring.layout(Like.of(array))[:1]


def test_integers_keep_their_values_as_they_may_be_positions() -> None:
    positions = np.array([3, 1, 2])
    kept = Like.of(positions)
    positions[0] = 9**9
    assert list(measuring.made(kept)) == [3, 1, 2]


def test_a_process_spends_no_more_than_its_budget(clock: Clock) -> None:
    answers = [measuring.pays(f"kernel {n}", clock.taking(2e-3), clock.taking(1e-3), call(), {}) for n in range(100)]
    assert answers[0] is True
    assert answers[-1] is None
    assert clock.now < measuring.BUDGET + 0.02
    assert len(measuring.kept()) == answers.count(True), "what was not measured to its end is not kept"


def test_a_measurement_stops_when_the_interpreter_ends(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(compiler._state, "ends", True)
    assert measuring.pays("made up", clock.taking(2e-3), clock.taking(1e-3), call(), {}) is None
    assert measuring.kept() == {}


def test_a_call_that_the_override_declines_is_the_reference(clock: Clock) -> None:
    assert measuring.pays("made up", clock.taking(1e-3), lambda x: NotImplemented, call(), {}) is False


def test_arrays_that_would_fill_the_memory_are_not_made(clock: Clock) -> None:
    assert measuring.pays("made up", clock.taking(1.0), clock.taking(1.0), call((1 << 20, 1 << 10)), {}) is None
    assert clock.now == 0


@pytest.mark.parametrize(("ours", "least"), [
    (lambda n: 1e-6 + 1e-9 * n, 512), (lambda n: 1e-8 * n, 1 << 62), (lambda n: 1e-10 * n, 0),
    (lambda n: 2e-9 * n if n <= 4096 else 2e-8 * n, 1 << 62),
], ids=["a costly start", "a tie", "always faster", "faster at first"])  # fmt: skip
def test_the_size_from_which_a_loop_is_faster(clock: Clock, ours: Any, least: int) -> None:
    found = measuring.least_size(
        "made up", clock.taking(lambda n: 1e-8 * n), clock.taking(ours), lambda n: [np.zeros(n)]
    )
    assert found == least


@pytest.mark.parametrize("content", [
    b"", b"{ half a file", b"[]", b'{"measured": 3}', b'{"measured": {"a": "b"}}', b"\xff\xfe\x00", b'{"other": {}}',
])  # fmt: skip
def test_a_damaged_file_is_replaced(clock: Clock, content: bytes) -> None:
    place = measuring.path()
    assert place is not None
    place.write_bytes(content)
    assert measuring.kept() == {}
    measuring.keep("a class", 2.0)
    assert json.loads(place.read_text())["measured"] == {"a class": 2.0}


def test_two_processes_keep_what_the_other_wrote(clock: Clock) -> None:
    measuring.keep("first", 1.0)
    place = measuring.path()
    assert place is not None
    told = json.loads(place.read_text())
    told["measured"]["of another process"] = 3.0
    place.write_text(json.dumps(told))
    measuring.keep("second", 2.0)
    assert set(json.loads(place.read_text())["measured"]) == {"first", "of another process", "second"}
    assert not list(place.parent.glob("*.draft"))


def test_each_machine_and_each_setting_has_its_own_file(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    names = {measuring.path()}
    for variable in ("OPENBLAS_CORETYPE", "NUMBA_CPU_NAME", "AUTODIFF_LAB_BLAS"):
        measuring.machine.cache_clear()
        monkeypatch.setenv(variable, "another")
        names.add(measuring.path())
    measuring.machine.cache_clear()
    monkeypatch.setattr(measuring.store, "versions", lambda: ("9.9",))
    names.add(measuring.path())
    measuring.machine.cache_clear()
    assert len(names) == 5


def test_a_full_disk_costs_no_more_than_the_next_measurement(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*rest: Any, **more: Any) -> Any:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    measuring.keep("a class", 2.0)
    assert measuring.kept()["a class"] == 2.0


def test_a_folder_that_may_not_be_written_to(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda *rest: False)
    monkeypatch.setitem(measuring.store._state, "warned", False)
    with pytest.warns(RuntimeWarning, match="No cache folder"):
        measuring.keep("a class", 2.0)
    assert measuring.kept()["a class"] == 2.0


_WRITES = """
import sys
from autodiff_lab.kernels.base import measuring
for n in range(30):
    measuring.keep(f"{sys.argv[1]} {n}", 2.0)
"""


def test_processes_that_write_at_the_same_time_leave_a_whole_file(tmp_path: Path) -> None:
    surroundings = os.environ | {"AUTODIFF_LAB_CACHE": str(tmp_path)}
    running = [subprocess.Popen([sys.executable, "-c", _WRITES, name], env=surroundings) for name in ("a", "b")]
    assert [process.wait(timeout=120) for process in running] == [0, 0]
    (place,) = tmp_path.glob("measured-*.json")
    found = json.loads(place.read_text())["measured"]
    assert {key.split()[0] for key in found} <= {"a", "b"}
    assert len(found) >= 30
    assert not list(tmp_path.glob("*.draft"))


@needs_numba
def test_what_is_measured_is_like_what_is_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A processor guesses a search among numbers in no order, a mask that is all true and numbers of one sign."""
    mask = measuring.made(Like.in_rows(np.dtype(bool), (40, 50)))
    assert 0.4 < mask.mean() < 0.6
    search_rows: Any = import_module("autodiff_lab.kernels.ordering.numba").search_rows
    rows, values = search_rows.typical(*(measuring.made(Like.in_rows(np.dtype("f"), (n,))) for n in (100, 9000)))
    assert (np.diff(rows) >= 0).all()
    assert len(np.unique(values)) > 8000
    monkeypatch.setattr(elementwise, "LOOPS", {})
    with np.errstate(all="ignore"):
        (either,) = Elementwise("bent", lambda x: np.where(x > 0, x, x / 2), lambda: None)._samples("f", 1000)
        (positive,) = Elementwise("rooted", np.sqrt, lambda: None)._samples("f", 1000)
        numbers, number = Elementwise("scaled", np.multiply, lambda: None)._samples("fas", 1000)
    assert 400 < (either < 0).sum() < 600
    assert (positive > 0).all()
    assert (numbers < 0).any()
    assert number > 0
