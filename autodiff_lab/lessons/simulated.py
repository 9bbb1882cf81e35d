"""Programs on a simulated GPU, in a Python of their own: whether a process has a real GPU is decided when it starts."""

from __future__ import annotations

import os
import subprocess
import sys


def run_simulated(program: str) -> str:
    """Run a program in another Python that simulates a small GPU, and return what it prints.

    Parameters
    ----------
    program : str
        Its source.

    Raises
    ------
    RuntimeError
        If the program raises; the message ends with what it said.

    Examples
    --------
    >>> from autodiff_lab import lessons
    >>> lessons.run_simulated("print(1 + 1)")
    '2'
    """
    environment = {**os.environ, "NUMBA_ENABLE_CUDASIM": "1", "AUTODIFF_LAB_KERNELS": "auto"}
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env=environment, check=False, encoding="utf-8"
    )
    if ran.returncode:
        raise RuntimeError(f"The program on the simulated GPU stopped:\n{ran.stderr.strip()}")
    return ran.stdout.strip()
