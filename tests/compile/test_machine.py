"""Threads, forks, processes and folders: compiled functions work wherever they are called."""

import os
import subprocess
import sys
import textwrap
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab


def step(x: Any) -> Any:
    with lab.GradientTape() as tape:
        tape.watch(x)
        y = lab.reduce_sum(lab.tanh(x * x + 1.0) * x)
    return y, tape.gradient(y, x)


def test_eight_threads_call_one_function() -> None:
    f = lab.function(step)
    inputs = [lab.constant(np.linspace(-1, 1, 50 + 10 * (n % 3)).astype(np.float32) * (n + 1)) for n in range(8)]
    expected = [step(x)[1].numpy() for x in inputs]
    wrong: list[int] = []

    def work(n: int) -> None:
        results = [f(inputs[n])[1].numpy() for _ in range(20)]
        wrong.extend(n for r in results if not np.allclose(r, expected[n], rtol=1e-4, atol=1e-5))

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert f.fallbacks == 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_a_forked_child_goes_on_and_compiles_more() -> None:
    code = """
        import os, sys
        import autodiff_lab as lab
        f = lab.function(lambda x: x * x + 1.0)
        x = lab.constant([0.5, 1.0])
        f(x), f(x)
        child = os.fork()
        if child == 0:
            g = lab.function(lambda x: x / 2.0 - x * x * 5.0)
            good = float(f(x)[0]) > 1 and float((g(x), g(x))[1][0]) < 0
            os._exit(0 if good and not f.fallbacks and not g.fallbacks else 1)
        sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    """
    assert run(code, {}).returncode == 0


def run(code: str, more: dict[str, str]) -> "subprocess.CompletedProcess[str]":
    """Run a program in a process of its own."""
    environment = {**os.environ, **more}
    command = [sys.executable, "-c", textwrap.dedent(code)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)


PROGRAM = """
    import autodiff_lab as lab
    f = lab.function(lambda x: x * x + x * 2.0)
    x = lab.constant([0.5, 1.0])
    f(x)
    print(f(x), f.fallbacks, f.skipped)
"""


LARGE = """
    import hashlib
    import numpy as np
    import autodiff_lab as lab
    draw = np.random.default_rng(0)
    x = lab.constant(draw.standard_normal((300, 1100)).astype(np.float32))
    y = lab.constant(draw.standard_normal(400_001))

    @lab.function
    def f(x, y):
        with lab.GradientTape() as tape:
            tape.watch([x, y])
            rows = lab.nn.softmax(x * 3.0) * lab.reduce_sum(x, axis=0)
            value = lab.reduce_sum(lab.sin(x) * rows) + lab.cast(lab.reduce_sum(lab.tanh(y) * y), lab.float32)
            value = value + lab.reduce_max(x * 2.0) + lab.reduce_mean(lab.exp(x))
        return [value, *tape.gradient(value, [x, y])]

    f(x, y)
    found = [t.numpy().tobytes() for t in f(x, y)]
    assert not f.fallbacks and not f.skipped
    print(hashlib.sha256(b"".join(found)).hexdigest())
"""


@pytest.mark.slow
def test_the_number_of_threads_changes_no_bit() -> None:
    pytest.importorskip("numba", reason="loops need Numba")
    found = {run(LARGE, {"AUTODIFF_LAB_THREADS": str(n)}).stdout for n in (1, 2, 5)}
    assert len(found) == 1
    assert found.pop().strip()


def test_generated_modules_are_kept_in_the_cache_folder_and_found_again(tmp_path: Path) -> None:
    pytest.importorskip("numba", reason="generated modules need Numba")
    first = run(PROGRAM, {"AUTODIFF_LAB_CACHE": str(tmp_path)})
    assert first.returncode == 0, first.stderr
    made = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*") if path.is_file()}
    assert any(path.suffix == ".code" for path in made), made
    second = run(PROGRAM, {"AUTODIFF_LAB_CACHE": str(tmp_path)})
    assert second.stdout == first.stdout
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*") if path.is_file()} == made


def test_without_a_folder_that_can_be_written_everything_works_and_one_warning_says_so(tmp_path: Path) -> None:
    pytest.importorskip("numba", reason="generated modules need Numba")
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    done = run(PROGRAM, {"AUTODIFF_LAB_CACHE": str(blocked / "folder")})
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("No cache folder") == 1
    assert " 0 ()" in done.stdout


def test_without_numba_programs_run_with_numpy() -> None:
    code = """
        import sys
        sys.modules["numba"] = None
        import importlib.util
        find = importlib.util.find_spec
        importlib.util.find_spec = lambda name, *rest: None if name == "numba" else find(name, *rest)
    """
    done = run(textwrap.dedent(code) + textwrap.dedent(PROGRAM), {})
    assert done.returncode == 0, done.stderr
    assert " 0 ()" in done.stdout


def test_making_a_compiled_function_imports_no_numba() -> None:
    code = "import sys, autodiff_lab as lab\nlab.function(lambda x: x)\nsys.exit('numba' in sys.modules)"
    assert run(code, {}).returncode == 0


def test_a_users_warnings_as_errors_do_not_matter() -> None:
    code = """
        import warnings
        warnings.simplefilter("error")
        import numpy as np
        np.seterr(all="raise")
        import autodiff_lab as lab
        f = lab.function(lambda x: lab.math.log(x) / x, backend="numpy")
        x = lab.constant([0.0, -1.0])
        f(x), f(x)
        assert f.fallbacks == 0
    """
    done = run(code, {})
    assert done.returncode == 0, done.stderr


def test_large_values_are_given_back_as_soon_as_nothing_uses_them() -> None:
    import tracemalloc

    side = 200
    weights = lab.constant(np.eye(side, dtype=np.float32))

    def chain(x: Any) -> Any:
        for _ in range(20):
            x = lab.tanh(x @ weights)
        return x

    x = lab.constant(np.ones((side, side), np.float32))
    for backend in ("numpy", "auto"):
        compiled = lab.function(chain, backend=backend)
        compiled(x)
        tracemalloc.start()
        compiled(x)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 4 * x.numpy().nbytes
