"""Kernels under difficult conditions: layouts, damaged caches, forks, warnings that are errors."""

import importlib.util
import os
import subprocess
import sys
import textwrap
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab.kernels.base import compiler, store
from autodiff_lab.kernels.base.choose import numba_is_there, use_kernels
from autodiff_lab.kernels.matmul import blas

needs_numba = pytest.mark.skipif(not numba_is_there(), reason="Numba is not installed")

# A loop and an override that compile in little time: it is what becomes of machine code that is looked at here.
PROGRAM = """
import numpy as np
import autodiff_lab as lab
x = np.linspace(-2, 2, 210, dtype="float32").reshape(3, 70)
f = lab.function(lambda a: a * a + a)
for _ in range(2):
    np.testing.assert_allclose(f(lab.constant(x)), x * x + x, rtol=1e-5, atol=1e-6)
with lab.use_kernels("numba"):
    largest = lab.nn.max_pool(lab.constant(x[None, :, :, None]), 2, 2, "VALID")
np.testing.assert_array_equal(largest.numpy().ravel(), x[:2].reshape(2, 35, 2).max((0, 2)))
print(len(f.kernels), f.fallbacks, len(f.skipped), lab.kernels.base.choose.CHOSEN["max_pool"].failures)
"""
ALL_COMPILED = "1 0 0 {}\n"
"""What the program prints: one fused loop, nothing that ran eagerly, and pooling has its override."""


def run(code: str, *flags: str, **environment: str) -> str:
    """Run code in a process of its own; give what it printed."""
    done = subprocess.run(
        [sys.executable, *flags, "-c", textwrap.dedent(code)], env=os.environ | environment,
        capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """Return the files that the program leaves in its cache."""
    folder = tmp_path_factory.mktemp("cache")
    assert run(PROGRAM, AUTODIFF_LAB_CACHE=str(folder)) == ALL_COMPILED
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


@pytest.mark.slow(keep=1)
@needs_numba
@pytest.mark.parametrize("damage", ["garbage", "half"])
def test_damaged_machine_code_is_compiled_anew_and_written_over(
    damage: str, filled: dict[str, bytes], tmp_path: Path
) -> None:
    bad = {p: bytes(range(256)) if damage == "garbage" else data[: len(data) // 2] for p, data in filled.items()}
    for place, data in bad.items():
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / place).write_bytes(data)
    assert run(PROGRAM, AUTODIFF_LAB_CACHE=str(tmp_path)) == ALL_COMPILED
    assert not [place for place, data in bad.items() if (tmp_path / place).read_bytes() == data]


@needs_numba
def test_a_cache_that_is_no_folder_costs_time_only_even_where_warnings_are_errors(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine", encoding="utf-8")
    assert run(PROGRAM, "-W", "error", AUTODIFF_LAB_CACHE=str(tmp_path / "file")) == ALL_COMPILED
    assert (tmp_path / "file").read_text(encoding="utf-8") == "mine"


@needs_numba
def test_a_full_disk_costs_time_only(tmp_path: Path) -> None:
    full = """
    import errno, io, os
    plain = open
    def fails(path, mode="r", *rest, **how):
        if set(mode) & set("wxa") and str(path).startswith(os.environ["AUTODIFF_LAB_CACHE"]):
            raise OSError(errno.ENOSPC, "No space left on device")
        return plain(path, mode, *rest, **how)
    import builtins
    builtins.open = io.open = fails
    """
    assert run(textwrap.dedent(full) + PROGRAM, "-W", "ignore", AUTODIFF_LAB_CACHE=str(tmp_path)) == ALL_COMPILED
    assert not [p for p in tmp_path.rglob("*") if p.is_file()]


@pytest.mark.slow
@needs_numba
def test_two_processes_that_compile_the_same_at_once_both_end_well(tmp_path: Path) -> None:
    told: list[str] = []
    pair = [
        threading.Thread(target=lambda: told.append(run(PROGRAM, AUTODIFF_LAB_CACHE=str(tmp_path)))) for _ in range(2)
    ]
    for thread in pair:
        thread.start()
    for thread in pair:
        thread.join()
    assert told == [ALL_COMPILED] * 2
    assert run(PROGRAM, AUTODIFF_LAB_CACHE=str(tmp_path)) == ALL_COMPILED
    assert not [p.name for p in tmp_path.rglob("*") if "draft" in p.name or "tmp" in p.suffix]


@pytest.mark.slow(keep=1)
@pytest.mark.parametrize("module", ["raise RuntimeError('broken')", "__version__ = '0.1'"], ids=["raises", "too old"])
@pytest.mark.parametrize("name", ["numba", "llvmlite"])
def test_a_broken_compiler_is_told_and_numpy_does_the_work(name: str, module: str, tmp_path: Path) -> None:
    (tmp_path / name).mkdir()
    (tmp_path / name / "__init__.py").write_text(module, encoding="utf-8")
    told = run(PROGRAM, "-W", "error", PYTHONPATH=str(tmp_path), AUTODIFF_LAB_CACHE=str(tmp_path / "cache"))
    if name == "numba" and importlib.util.find_spec("numba"):  # nothing here needs more of it than LLVM
        assert told == ALL_COMPILED
    else:
        assert told.startswith("0 0 1 {'f': ")


def test_a_numba_that_cannot_be_imported_is_not_there() -> None:
    program = "import sys\nsys.modules['numba'] = None\n" + PROGRAM
    assert run(program) == "0 0 0 {'f': 'Numba is not installed'}\n"


@needs_numba
def test_an_interrupted_compilation_is_taken_up_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from autodiff_lab.kernels.base.loops import Loop
    from autodiff_lab.kernels.lowering import objects

    monkeypatch.setenv("AUTODIFF_LAB_CACHE", str(tmp_path))

    def grow(x: Any) -> None:
        x[0] += 1

    def interrupted(*source: Any) -> Any:
        raise KeyboardInterrupt

    loop, x = Loop(grow, "void({t}[::1])", {}), np.zeros(1, np.float32)
    with monkeypatch.context() as patch:
        patch.setattr(objects, "emit", interrupted)
        with pytest.raises(KeyboardInterrupt):
            loop[x.dtype]
    loop[x.dtype](x)
    assert x[0] == 1


def test_a_draft_that_cannot_be_finished_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(self: Path, target: Any) -> None:
        raise OSError("no space")

    monkeypatch.setattr(Path, "replace", fails)
    monkeypatch.setenv("AUTODIFF_LAB_CACHE", str(tmp_path))
    monkeypatch.setitem(store._state, "warned", False)
    with pytest.warns(RuntimeWarning, match="No cache folder can be written"):
        store._keep("a.code", b"code")
    assert not list(tmp_path.iterdir())


@needs_numba
def test_a_cache_that_can_only_be_read_is_read(tmp_path: Path, filled: dict[str, bytes]) -> None:
    for place, data in filled.items():
        (tmp_path / place).write_bytes(data)
    blocked = """
    import os, sys
    access = os.access
    os.access = lambda path, mode: not mode & os.W_OK and access(path, mode)
    """
    told = run(textwrap.dedent(blocked) + PROGRAM + "print('numba' in sys.modules)", AUTODIFF_LAB_CACHE=str(tmp_path))
    assert told == ALL_COMPILED + "False\n"
    assert {p.name: p.read_bytes() for p in tmp_path.iterdir()} == filled


@pytest.mark.slow
@needs_numba
def test_processors_of_two_kinds_share_a_folder(tmp_path: Path) -> None:
    shared = {"AUTODIFF_LAB_CACHE": str(tmp_path)}
    assert run(PROGRAM, **shared) == ALL_COMPILED
    one = {p.name for p in tmp_path.glob("*.code")}
    assert run(PROGRAM, NUMBA_CPU_NAME="generic", NUMBA_CPU_FEATURES="", **shared) == ALL_COMPILED
    two = {p.name for p in tmp_path.glob("*.code")} - one
    assert len(two) == len(one) > 1
    assert {name.partition("-")[0] for name in two} == {name.partition("-")[0] for name in one}


def test_a_job_that_fails_leaves_the_background_at_work() -> None:
    def fails() -> None:
        raise RuntimeError("told to")

    done = threading.Event()
    compiler.ask(fails)
    compiler.ask(done.set)
    assert done.wait(60)


@pytest.mark.slow
@needs_numba
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_fork_waits_for_the_compiler_so_that_the_child_can_use_it(tmp_path: Path) -> None:
    forks = """
    import faulthandler, os, threading, numpy as np
    import autodiff_lab as lab
    from autodiff_lab.kernels.base import compiler
    x = lab.constant(np.ones((1000, 200), np.float32))
    f = lab.function(lambda a: lab.exp(a) * lab.sin(a))
    busy = threading.Event()
    enter = type(compiler.COMPILING).__enter__
    def told(self):
        enter(self)
        busy.set()
    type(compiler.COMPILING).__enter__ = told
    lab.nn.softmax(x)
    busy.wait()
    child = os.fork()
    if child == 0:
        faulthandler.dump_traceback_later(100, exit=True)
        with lab.use_kernels("numba"):
            lab.nn.softmax(x)
        f(x), f(x)
        os._exit(f.fallbacks or len(f.kernels) != 1)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    """
    assert run(forks, "-W", "ignore", AUTODIFF_LAB_CACHE=str(tmp_path), AUTODIFF_LAB_KERNELS="auto") == "0\n"


@needs_numba
@pytest.mark.parametrize("how", ["read-only", "broadcast", "backwards"])
def test_our_own_product_takes_or_leaves_operands_of_all_layouts(how: str) -> None:
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(64, 40)).astype("float32"), rng.normal(size=(40, 256)).astype("float32")
    if how == "read-only":
        x.flags.writeable = y.flags.writeable = False
    elif how == "broadcast":
        x, y = np.broadcast_to(x[:1], x.shape), np.broadcast_to(y[:1], y.shape)
    else:
        x, y = x[::-1, ::-1], y[::-1, ::-1]
    with use_kernels("numba"):
        np.testing.assert_allclose(blas.matmul(x, y), x @ y, rtol=1e-4, atol=1e-4)


def swapped() -> Iterator[Any]:
    """Yield arrays whose bytes stand in the other order."""
    for kind in ("f4", "f8", "i4", "c8"):
        yield np.arange(6).reshape(2, 3).astype(np.dtype(kind).newbyteorder())


@pytest.mark.parametrize("array", list(swapped()), ids=lambda a: a.dtype.name)
def test_arrays_of_the_other_byte_order_are_refused_before_a_kernel_sees_them(array: Any) -> None:
    for take in (lab.constant, lab.Variable, lab.exp, lab.function(lambda x: x + x), lab.zeros((2, 3)).__add__):
        with pytest.raises(lab.errors.ConversionError, match="dtype"):
            take(array)
