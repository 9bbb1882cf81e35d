"""Loops of the kernels index from the beginning and slice inside their arrays, as they promise."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.tree import ROOT

pytest.importorskip("numba", reason="the loops are those of overrides, which want Numba to be installed")
FAMILIES = ("normalization", "optimizers", "pooling", "recurrent", "reductions", "scans", "scatter", "softmax")


@pytest.mark.slow
def test_no_loop_breaks_its_promise(tmp_path: Path) -> None:
    files = [f"tests/kernels/test_{family}.py" for family in FAMILIES]
    plain = ["--override-ini=addopts=", "--import-mode=importlib", "-p", "no:nbval"]  # notebooks take long to load
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *plain, "-p", "tests.kernels.promises", "-k", "agree", *files],
        cwd=ROOT, env=os.environ | {"AUTODIFF_LAB_CACHE": str(tmp_path), "AUTODIFF_LAB_COMPILE": "wait"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert " passed" in done.stdout


def test_the_plugin_notices_a_loop_that_lies(tmp_path: Path) -> None:
    program = """
import numpy as np
from tests.kernels import promises
from autodiff_lab.kernels.base.loops import loop

promises.pytest_configure()

@loop("void({t}[::1], int64)", wraparound=False)
def lies(x, n):
    row = x[0:n]
    row[n - 1] = 1

lies[np.dtype("f")](np.zeros(3, "f"), 3)
print("kept", flush=True)
lies[np.dtype("f")](np.zeros(3, "f"), 4)
"""
    (tmp_path / "program.py").write_text(program)
    environment = os.environ | {"PYTHONPATH": str(ROOT), "AUTODIFF_LAB_CACHE": str(tmp_path)}
    command = [sys.executable, tmp_path / "program.py"]
    done = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.stdout == "kept\n"
    assert done.returncode != 0
