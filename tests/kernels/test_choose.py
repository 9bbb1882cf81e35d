"""Choosing between NumPy's kernel and Numba's: which one runs when, and that failures fall back to NumPy."""

import os
import subprocess
import sys
import threading
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from autodiff_lab.kernels.base import choose, compiler, threshold
from autodiff_lab.kernels.base.choose import Chosen, kernels_in_use, use_kernels
from tests.cuda_report.report import methods
from tests.ops.samples.core import ops_of_the_catalogue

FLOAT = np.dtype("float32")


def plainly(x: Any) -> str:
    """The reference."""
    return "numpy"


def quickly(x: Any) -> Any:
    """The override, which declines arrays of rank 2."""
    return NotImplemented if x.ndim == 2 else "numba"


@pytest.fixture
def kernel(monkeypatch: pytest.MonkeyPatch) -> Chosen:
    """Return a kernel whose override needs no compiler."""
    made = Chosen("made up", plainly, "nowhere.nothing", lambda x: x.size)
    quickly.loops, quickly.sample, quickly.chars = (), None, {"f"}  # type: ignore[attr-defined]
    made._faster = quickly
    monkeypatch.setitem(choose._state, "mode", "auto")
    return made


@pytest.fixture
def kept_thresholds(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Send what is measured to a folder of this test."""
    monkeypatch.setenv("AUTODIFF_LAB_CACHE", str(tmp_path))
    return tmp_path


def test_small_work_asks_for_nothing(kernel: Chosen) -> None:
    assert kernel(np.zeros(10, FLOAT)) == "numpy"
    compiler.wait()
    assert kernel.least == {}


def test_large_work_is_answered_by_numpy_until_the_override_is_there(kernel: Chosen) -> None:
    large = np.zeros(choose.WORTH_ASKING, FLOAT)
    holding = threading.Event()
    compiler.ask(holding.wait)
    assert kernel(large) == "numpy"
    holding.set()
    compiler.wait()
    assert kernel(large) == "numba"


def test_the_threshold_decides_and_what_is_declined_goes_to_numpy(kernel: Chosen) -> None:
    assert kernel.prepare(FLOAT)
    kernel.least["f"] = 100
    assert [kernel(np.zeros(n, FLOAT)) for n in (99, 100)] == ["numpy", "numba"]
    assert kernel(np.zeros((20, 20), FLOAT)) == "numpy"


def test_other_dtypes_stay_with_numpy_and_say_why(kernel: Chosen) -> None:
    with use_kernels("numba"):
        assert kernel(np.zeros(10, np.float16)) == "numpy"
    assert "float16" in kernel.failures["e"]


def test_modes(kernel: Chosen) -> None:
    small = np.zeros(1, FLOAT)
    with use_kernels("numba"):
        assert kernel(small) == "numba"
        with use_kernels("numpy"):
            assert kernel(np.zeros(10**6, FLOAT)) == "numpy"
        assert kernel(small) == "numba"
    with pytest.raises(ValueError, match="unknown mode 'fast'"), use_kernels("fast"):
        pass


def test_an_override_that_cannot_be_had_is_a_reason_and_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    made = Chosen("made up", plainly, "nowhere.nothing", lambda x: x.size)
    monkeypatch.setitem(choose.CHOSEN, "made up", made)
    with use_kernels("numba"):
        assert made(np.zeros(3, FLOAT)) == "numpy"
    assert "nowhere" in kernels_in_use()["made up"]


def test_without_numba_numpy_answers(kernel: Chosen, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(choose._state, "numba", False)
    assert not kernel.prepare(FLOAT)
    assert kernel(np.zeros(10**6, FLOAT)) == "numpy"
    assert kernel.failures == {"f": "Numba is not installed"}


class Clock:
    """Processor time that passes only where a function says so."""

    def __init__(self) -> None:
        self.now = 0.0

    def thread_time(self) -> float:
        return self.now

    def taking(self, seconds: Callable[[int], float]) -> Callable[[Any], None]:
        """Make a function that takes a known time."""

        def function(x: Any) -> None:
            self.now += seconds(x.size)

        return function


def sample(work: int, dtype: Any) -> tuple[list[Any], dict[str, Any]]:
    """Make one array."""
    return [np.zeros(work, dtype)], {}


@pytest.mark.parametrize(
    ("ours", "least"),
    [
        (lambda n: 1e-4, 16_384.0),
        (lambda n: 1e-4 if n == 4096 else 1e-6 * n, -1.0),
        (lambda n: 1e-10 * n, 0.0),
        (lambda n: 1e-10 * n if n <= 4096 else 1e-7 * n, -1.0),
    ],
    ids=["a costly start", "never faster", "always faster", "faster at first"],
)
def test_thresholds_are_measured(ours: Callable[[int], float], least: float, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    monkeypatch.setattr(threshold, "time", clock)
    assert threshold.measured(clock.taking(lambda n: 1e-8 * n), clock.taking(ours), sample, FLOAT) == least


def test_larger_samples_are_not_tried_once_the_reference_takes_milliseconds(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, sizes = Clock(), set[int]()
    monkeypatch.setattr(threshold, "time", clock)
    reference = clock.taking(lambda n: 1e-6 * n)
    threshold.measured(reference, lambda x: sizes.add(x.size), sample, FLOAT)
    assert sizes == {1024, 4096, 16_384}


def test_thresholds_are_kept_and_read_again(kept_thresholds: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []
    monkeypatch.setattr(threshold, "measured", lambda *rest: calls.append("measured") or 4096.0)
    faster = SimpleNamespace(sample=sample)
    kernel = SimpleNamespace(name="made up", reference=plainly)
    assert [threshold.threshold(kernel, faster, FLOAT) for _ in range(2)] == [4096.0, 4096.0]  # type: ignore[arg-type]
    assert calls == ["measured"]
    (kept_thresholds / "thresholds.json").write_text("{ half a file", encoding="utf-8")
    assert threshold.threshold(kernel, faster, FLOAT) == 4096.0  # type: ignore[arg-type]
    assert len(calls) == 2
    monkeypatch.setattr(threshold, "_stamp", lambda faster: "another text")
    threshold.threshold(kernel, faster, FLOAT)  # type: ignore[arg-type]
    assert len(calls) == 3, "a kernel that was rewritten is measured again"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_asks_again(kernel: Chosen, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(choose.CHOSEN, "made up", kernel)
    holding = threading.Event()
    compiler.ask(holding.wait)
    large = np.zeros(choose.WORTH_ASKING, FLOAT)
    assert kernel(large) == "numpy"  # asked for, not there
    child = os.fork()
    if child == 0:
        first = kernel(large)
        compiler.wait()
        os._exit(0 if (first, kernel(large)) == ("numpy", "numba") else 1)
    holding.set()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_a_process_ends_while_something_is_compiled() -> None:
    program = "from autodiff_lab.kernels.base import compiler; compiler.ask(lambda: __import__('numba'))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False, timeout=120)
    assert (done.returncode, done.stderr) == (0, b"")


def test_an_unknown_mode_in_the_environment_is_told() -> None:
    told = subprocess.run(
        [sys.executable, "-c", "import autodiff_lab.kernels.base.choose"],
        env=os.environ | {"AUTODIFF_LAB_KERNELS": "fast"}, capture_output=True, check=False,
    )  # fmt: skip
    assert b"AUTODIFF_LAB_KERNELS='fast' is unknown. Try one of" in told.stderr


@pytest.mark.extras
def test_every_kernel_finds_its_overrides_in_the_folder_of_its_family() -> None:
    """Those on the CPU with the loops that they compile, those on a GPU with a kernel that the report compiles.

    Two kernels of gradients are called so seldom that on a GPU their references run on CuPy; rows change in place on
    the CPU alone.
    """
    pytest.importorskip("numba.cuda")
    assert ops_of_the_catalogue()
    served, by_reference = methods(), {"extreme_grad", "max_pool_pick", "change_rows"}
    for name, kernel in choose.CHOSEN.items():
        if kernel.family in {"", "nowhere"}:
            continue
        assert (kernel.cuda_override() is None) == (name in by_reference), name
        assert (name in served) != (name in by_reference), name
        if not isinstance(kernel, choose.OnGpu):
            assert kernel.override().loops, name  # type: ignore[attr-defined]
    assert len(served) + 2 == sum(kernel.family not in {"", "nowhere"} for kernel in choose.CHOSEN.values())
