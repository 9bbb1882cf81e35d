"""Programs that another process compiles: what calls return meanwhile, who waits, and what happens if it goes wrong."""

import json
import os
import subprocess
import sys
import textwrap
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import autodiff_lab as lab
from autodiff_lab.errors import InvalidArgumentError
from autodiff_lab.kernels.base.choose import numba_is_there

needs_numba = pytest.mark.skipif(not numba_is_there(), reason="programs are compiled by Numba, which is not installed")
needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
BEGIN = """
import json, os, sys, time
import numpy as np
import autodiff_lab as lab
from autodiff_lab.compile.front import waiting
from autodiff_lab.kernels.base import compiler, elsewhere, store

w = lab.Variable(np.linspace(-1, 1, 64).astype(np.float32))

def step(x):
    with lab.GradientTape() as tape:
        y = lab.reduce_sum(lab.tanh(w * x) * x)
    w.assign_sub(0.01 * tape.gradient(y, w))
    return y

def eagerly(calls):
    kept = w.numpy().copy()
    found = [float(step(x)) for _ in range(calls)]
    w.assign(kept)
    return found

x = lab.constant(np.linspace(0, 2, 64).astype(np.float32))
f = lab.function(step)
said = {}
"""
END = """
print(json.dumps(said))
"""


def run(code: str, *, rc: int = 0, **environment: str) -> Any:
    """Run code in a process that compiles in the background, between `BEGIN` and `END`; give what it said."""
    surroundings = {**os.environ, "AUTODIFF_LAB_COMPILE": "background", "AUTODIFF_LAB_KERNELS": "auto", **environment}
    done = subprocess.run(
        [sys.executable, "-c", BEGIN + textwrap.dedent(code) + END], env=surroundings, capture_output=True, text=True,
        check=False, timeout=300,
    )  # fmt: skip
    assert done.returncode == rc, done.stderr
    assert "Traceback" not in done.stderr
    return {**json.loads(done.stdout.splitlines()[-1]), "errors": done.stderr}


def _is_a_zombie(process: int) -> bool:
    """Return whether a process has ended but nothing has waited for it."""
    try:
        return ") Z" in Path(f"/proc/{process}/stat").read_text(encoding="ascii")
    except OSError:
        return True


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="this system does not tie a process to a core")
@pytest.mark.parametrize(("environment", "expected"), [(None, True), ("background", False), ("wait", True)])
def test_on_a_single_core_calls_wait_unless_the_environment_says_otherwise(
    environment: str | None, expected: bool
) -> None:
    code = """
import os
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
from autodiff_lab.kernels.base import compiler
print(compiler.waits())
"""
    surroundings = {name: value for name, value in os.environ.items() if name != "AUTODIFF_LAB_COMPILE"}
    surroundings |= {} if environment is None else {"AUTODIFF_LAB_COMPILE": environment}
    done = subprocess.run([sys.executable, "-c", code], env=surroundings, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(expected)


@needs_numba
def test_calls_are_answered_eagerly_until_the_program_is_ready(tmp_path: Path) -> None:
    said = run(
        """
        expected = eagerly(60)
        found = [float(f(x))]
        said["at first"] = [f.compiled, f.why()]
        found += [float(f(x)) for _ in range(10)]
        said["waits"] = "def program" in f.source
        found += [float(f(x)) for _ in range(49)]
        said["then"] = [f.compiled, f.why(), f.fallbacks]
        said["differ"] = max(abs(a - b) for a, b in zip(expected, found))
        said["modules"] = "numba" in sys.modules
        """,
        AUTODIFF_LAB_CACHE=str(tmp_path),
    )
    compiled, why = said["at first"]
    assert not compiled
    assert why.startswith("step is being compiled; until it is, calls run eagerly")
    assert said["waits"]
    assert said["then"][0]
    assert said["then"][2] == 0
    assert said["differ"] < 1e-3
    assert not said["modules"]  # another process has imported it
    assert list(tmp_path.glob("*.code"))


@needs_numba
def test_what_a_module_of_the_user_prints_is_no_answer(tmp_path: Path) -> None:
    (tmp_path / "sched.py").write_text("print('hello ' * 1000)", encoding="utf-8")  # hides a module of Python's
    said = run(
        f"""
        sys.path.insert(0, {str(tmp_path)!r})
        elsewhere._START = elsewhere._START.replace("from auto", "import sched; from auto")
        said["compiled"] = f.compile(x)
        """,
        AUTODIFF_LAB_CACHE=str(tmp_path / "cache"),
    )
    assert (said["compiled"], said["errors"]) == (True, "")


@needs_numba
def test_what_measures_slower_than_the_function_runs_eagerly_until_it_is_timed_again(tmp_path: Path) -> None:
    said = run(
        """
        waiting.MARGIN = -1.0  # whatever is measured, the program is slower
        waiting.REST = 20
        expected = eagerly(60)
        said["compiled"] = f.compile(x)
        found = [float(f(x)) for _ in range(60)]
        said["differ"] = max(abs(a - b) for a, b in zip(expected, found))
        said["why"] = f.why()
        waiting.MARGIN = 1e9  # now it is faster
        for _ in range(120):
            f(x)
        said["again"] = f.why()
        """,
        AUTODIFF_LAB_CACHE=str(tmp_path),
    )
    assert said["compiled"]
    assert "runs eagerly" not in said["again"]
    assert said["why"].startswith("step runs eagerly: its program measured slower on this machine: ")
    assert said["errors"].count("step runs eagerly: ") == 1
    assert said["differ"] < 1e-3


@pytest.mark.slow(keep=1)
@needs_numba
@pytest.mark.parametrize(
    "switch", [{"AUTODIFF_LAB_COMPILE": "wait"}, {"AUTODIFF_LAB_KERNELS": "numpy"}, {"AUTODIFF_LAB_KERNELS": "numba"}],
    ids=str,
)  # fmt: skip
def test_the_switch_makes_the_second_call_run_the_program_and_two_runs_agree_bit_for_bit(
    switch: dict[str, str], tmp_path: Path
) -> None:
    code = """
    waiting.MARGIN = -1.0
    said["values"] = [f(x).numpy().tobytes().hex() for _ in range(40)] + [w.numpy().tobytes().hex()]
    said["at once"] = f.compiled
    said["child"] = elsewhere._state["child"] is not None
    """
    first, second = (run(code, AUTODIFF_LAB_CACHE=str(tmp_path), **switch) for _ in range(2))
    assert first == second
    assert first["at once"]
    assert not first["child"]


@pytest.mark.slow(keep=1)
@needs_numba
@pytest.mark.parametrize(
    "harm",
    ["elsewhere.subprocess.Popen = lambda *args, **how: (_ for _ in ()).throw(PermissionError('not allowed'))",
     "sys.executable = ''", "sys.executable = '/bin/false'"],
    ids=["forbidden", "no Python", "ends at once"],
)  # fmt: skip
def test_without_another_process_this_one_compiles_after_one_warning(harm: str, tmp_path: Path) -> None:
    said = run(
        f"""
        {harm}
        expected = eagerly(20)
        found = [float(f(x))]
        said["compiled"] = f.compile(x)
        found += [float(f(x)) for _ in range(19)]
        said["differ"] = max(abs(a - b) for a, b in zip(expected, found))
        g = lab.function(lambda x: x * x + x)
        g(x)
        said["another"] = g.compile(x)
        """,
        AUTODIFF_LAB_CACHE=str(tmp_path),
    )
    assert said["compiled"]
    assert said["another"]
    assert said["errors"].count("are compiled in this process from now on") == 1
    assert said["differ"] < 1e-3


@needs_numba
@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_a_child_that_is_killed_is_no_disaster(tmp_path: Path) -> None:
    said = run(
        """
        f(x)
        while elsewhere._state["child"] is None:
            time.sleep(0.01)
        elsewhere._state["child"].process.kill()
        said["compiled"] = f.compile(x)
        said["value"] = float(f(x))
        """,
        AUTODIFF_LAB_CACHE=str(tmp_path),
    )
    assert said["compiled"]
    assert said["errors"].count("in this process from now on") == 1


@needs_numba
@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_a_child_that_is_killed_half_way_loses_only_what_it_was_doing(tmp_path: Path) -> None:
    said = run(
        """
        f(x)
        while not store.RECEIVED:
            time.sleep(0.001)
        elsewhere._state["child"].process.kill()
        expected = eagerly(1)
        said["compiled"] = f.compile(x)
        said["differ"] = abs(float(f(x)) - expected[0])
        """,
        AUTODIFF_LAB_CACHE=str(tmp_path),
    )
    assert said["compiled"]
    assert said["differ"] < 1e-3
    assert said["errors"].count("in this process from now on") <= 1  # none, if the child was quicker than the signal


@needs_numba
@pytest.mark.skipif(sys.platform == "win32", reason="limits of a process")
def test_a_disk_that_is_full_costs_nothing_but_the_next_process(tmp_path: Path) -> None:
    said = run(
        """
        import resource
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))  # of the other process too
        f(x)
        said["compiled"] = f.compile(x)
        said["modules"] = "numba" in sys.modules
        """,
        AUTODIFF_LAB_CACHE=str(tmp_path),
    )
    assert said["compiled"]
    assert not said["modules"]
    assert not list(tmp_path.glob("*.code*"))


@pytest.mark.slow
@needs_numba
def test_damaged_files_are_compiled_again_elsewhere(tmp_path: Path) -> None:
    code = """
    _, expected = eagerly(2)
    f(x)
    said["compiled"] = f.compile(x)
    said["differ"] = abs(float(f(x)) - expected)
    said["modules"] = "numba" in sys.modules
    """
    first = run(code, AUTODIFF_LAB_CACHE=str(tmp_path))
    kept = {path: path.read_bytes() for path in tmp_path.glob("*.code")}
    for n, (path, data) in enumerate(kept.items()):
        path.write_bytes([b"", data[: len(data) // 2], data[:-1] + b"?"][n % 3])
    again = run(code, AUTODIFF_LAB_CACHE=str(tmp_path))
    for said in (first, again):
        assert said["compiled"]
        assert said["differ"] < 1e-3
        assert not said["modules"]
    assert {path: len(path.read_bytes()) for path in tmp_path.glob("*.code")} == {p: len(d) for p, d in kept.items()}


@pytest.mark.slow
@needs_numba
def test_two_processes_that_compile_the_same_at_once_share_a_folder(tmp_path: Path) -> None:
    code = """
    _, expected = eagerly(2)
    f(x)
    said["compiled"] = f.compile(x)
    said["differ"] = abs(float(f(x)) - expected)
    """
    with ThreadPoolExecutor(2) as pool:
        both = list(pool.map(lambda _: run(code, AUTODIFF_LAB_CACHE=str(tmp_path)), range(2)))
    assert all(said["compiled"] and said["differ"] < 1e-3 and "Warning" not in said["errors"] for said in both)
    assert not any("in this process from now on" in said["errors"] for said in both)
    assert not list(tmp_path.glob("*.draft"))


@needs_numba
def test_a_folder_that_cannot_be_written_costs_nothing_but_the_next_process(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine", encoding="utf-8")
    said = run(
        """
        f(x)
        said["compiled"] = f.compile(x)
        said["modules"] = "numba" in sys.modules
        """,
        AUTODIFF_LAB_CACHE=str(tmp_path / "file"),
    )
    assert said["compiled"]
    assert not said["modules"]  # machine code came through the pipe


@pytest.mark.slow
@needs_numba
@needs_fork
def test_a_fork_while_another_process_compiles_goes_on_in_both(tmp_path: Path) -> None:
    said = run(
        """
        f(x)
        while elsewhere._state["child"] is None:
            time.sleep(0.001)
        child = os.fork()
        if child == 0:
            fine = bool(np.isfinite(float(f(x)))) and f.compile(x) and bool(np.isfinite(float(f(x))))
            os._exit(0 if fine else 1)
        said["parent"] = f.compile(x)
        said["child"] = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        """,
        AUTODIFF_LAB_CACHE=str(tmp_path),
    )
    assert said["parent"]
    assert said["child"] == 0


@pytest.mark.slow(keep=1)
@needs_numba
@pytest.mark.parametrize("moment", ["", "\nwhile elsewhere._state['child'] is None: time.sleep(0.001)"], ids=str)
def test_the_interpreter_may_end_while_another_process_compiles(moment: str, tmp_path: Path) -> None:
    begin = "at_once = elsewhere._state['child']\nsaid['child'] = at_once and at_once.process.pid"
    said = run(f"f(x){moment}\n{begin}", AUTODIFF_LAB_CACHE=str(tmp_path))
    assert said["errors"] == ""
    if said["child"] and Path("/proc/self/status").exists():  # it finishes its job, and no orphan is left
        end = time.monotonic() + 120
        while Path(f"/proc/{said['child']}").exists() and not _is_a_zombie(said["child"]):
            assert time.monotonic() < end
            time.sleep(0.05)


@pytest.mark.slow
@needs_numba
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads /proc")
def test_nothing_is_left_behind_once_the_background_has_nothing_to_do(tmp_path: Path) -> None:
    said = run(
        """
        compiler.IDLE = 0.1
        said["compiled"] = f.compile(x)
        process = elsewhere._state["child"].process
        for _ in range(600):
            if process.returncode is not None:
                break
            time.sleep(0.05)
        said["ended"] = process.returncode is not None and not os.path.exists(f"/proc/{process.pid}")
        """,
        AUTODIFF_LAB_CACHE=str(tmp_path),
    )
    assert said["ended"]


def test_compile_takes_specs_or_tensors_and_gives_variables_their_values_back() -> None:
    w = lab.Variable([1.0, 2.0])

    @lab.function
    def step(x: Any, times: int) -> Any:
        w.assign_add(x * times)
        return lab.reduce_sum(w)

    assert step.compile(lab.TensorSpec([2]), 3)
    assert w.numpy().tolist() == [1.0, 2.0]
    assert step.compile(lab.constant([5.0, 5.0]), times=4)
    assert w.numpy().tolist() == [1.0, 2.0]
    assert float(step(lab.constant([1.0, 1.0]), 3)) == 9.0
    assert len(step._entries) == 2  # the call needed no trace
    assert step.fallbacks == 0


def test_compile_says_whether_there_is_a_program_and_what_it_cannot_do() -> None:
    branch = lab.function(lambda x: x if float(x) > 0 else -x)
    assert not branch.compile(lab.constant(2.0))
    assert "float" in branch.why()
    with pytest.raises(InvalidArgumentError, match="open length"):
        branch.compile(lab.TensorSpec([None]))
    with lab.GradientTape(), pytest.raises(InvalidArgumentError, match="is open"):
        branch.compile(lab.constant(2.0))


def test_compile_builds_layers_first() -> None:
    layer = lab.layers.Dense(3)
    f = lab.function(layer)
    assert f.compile(lab.TensorSpec([4, 2]))
    assert layer(lab.ones([4, 2])).shape == (4, 3)
