"""The background gives way: it imports one module at a time, pauses after work, and is lent what it was owed."""

import queue
import subprocess
import sys
import time

import pytest

from autodiff_lab.kernels.base import compiler


def test_a_loan_that_took_longer_is_paid_back_by_later_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    now, slept = [0.0], list[float]()

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        now[0] += seconds + 0.005  # until the interpreter's lock is free

    monkeypatch.setattr(time, "sleep", sleep)
    monkeypatch.setattr(time, "perf_counter", lambda: now[0])
    for key, value in (("computes", True), ("owed", 0.0), ("rests until", 0.0)):
        monkeypatch.setitem(compiler._state, key, value)
    took = 1e-4
    for _ in range(1000):
        compiler.lend(took)
        now[0] += took
    lent = sum(slept) + 0.005 * len(slept)
    assert 0.5 < lent / (compiler.LENT * 1000 * took) <= 1.25
    monkeypatch.setitem(compiler._state, "computes", False)
    count = len(slept)
    compiler.lend(1.0)
    assert len(slept) == count


def test_calls_lend_as_soon_as_the_clock_says_that_a_rest_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """The thread that rests cannot say so: it may wait long for the interpreter's lock."""
    slept: list[float] = []
    monkeypatch.setattr(compiler.time, "sleep", slept.append)
    monkeypatch.setattr(compiler.time, "perf_counter", lambda: 10.0)
    for key, value in (("computes", True), ("owed", 0.0), ("rests until", 10.1)):
        monkeypatch.setitem(compiler._state, key, value)
    compiler.lend(0.01)
    assert not slept
    monkeypatch.setitem(compiler._state, "rests until", 9.9)
    compiler.lend(0.01)
    assert slept == [0.01 * compiler.LENT]


def test_a_job_that_waits_for_the_interpreter_is_let_in_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    """The thread cannot say that it has something to do before it has the lock."""
    now, slept = [100.0], list[float]()
    monkeypatch.setattr(time, "sleep", slept.append)
    monkeypatch.setattr(time, "perf_counter", lambda: now[0])
    jobs: queue.SimpleQueue[object] = queue.SimpleQueue()
    monkeypatch.setitem(compiler._background, "jobs", jobs)
    for key, value in (("computes", False), ("works", False), ("pause at", 0.0)):
        monkeypatch.setitem(compiler._state, key, value)
    compiler.lend(1.0)
    assert not slept
    jobs.put("a job that was asked for")
    for _ in range(30):
        compiler.lend(1.0)
        now[0] += 0.4 * compiler.APART
    assert slept == [compiler.INSTANT] * 10
    jobs.get()
    compiler.let_in()
    assert len(slept) == 10
    monkeypatch.setitem(compiler._state, "works", True)
    compiler.let_in()
    assert len(slept) == 11


def test_a_job_that_is_done_asks_for_no_pause() -> None:
    compiler.wait()
    for _ in range(100):
        if not compiler._state["works"]:
            break
        time.sleep(0.01)
    assert not compiler._state["works"]


def test_modules_are_imported_one_by_one_and_missing_ones_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    paused: list[int] = []
    monkeypatch.setattr(compiler, "breathe", lambda: paused.append(1))
    monkeypatch.delitem(sys.modules, "colorsys", raising=False)
    compiler.import_gently(("colorsys", "no_such_module_anywhere", "json"))
    assert "colorsys" in sys.modules
    assert len(paused) == 3


def test_all_that_jobs_need_is_there_and_loads_no_compiler() -> None:
    program = """
import sys
from autodiff_lab.kernels.base import compiler
compiler.import_gently(compiler.NEEDED)
missing = [name for name in compiler.NEEDED if name not in sys.modules]
from autodiff_lab.kernels.base import native
before = "llvmlite.binding" in sys.modules
native.get_ready()
print(missing, before, "llvmlite.binding" in sys.modules, "numba" in sys.modules)
"""
    pytest.importorskip("llvmlite", reason="machine code is loaded by LLVM")
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[] False True False"
