"""``autodiff-lab doctor``: what works on this machine, in plain words, and how to get what does not.

Every check tries the real thing; a package that is installed but broken counts as broken. Checks run in
this process only if they are quick and harmless; compilers and GPU drivers are tried in a separate process.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import Any

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "firefox", "safari", "msedge")
TIME_LIMIT = 60.0
"""Seconds that a check in a separate process may take."""
_PIP = f"{sys.executable} -m pip install"
_GPU = f"an NVIDIA GPU, its driver (580 or later), and {_PIP} 'autodiff-lab[cuda]'"


@dataclass(frozen=True)
class Finding:
    """What a check found: whether it works, in words, and how to get it."""

    name: str
    works: bool
    words: str
    remedy: str = ""
    needed: bool = False


def add(commands: Any) -> None:
    """Describe the arguments: there are none."""
    commands.add_parser(
        "doctor",
        help="what works on this machine, and how to get the rest",
        description="Report what works on this machine, and how to get what does not.",
    )


def run(options: argparse.Namespace, rest: Sequence[str]) -> int:
    """Print all findings; the status is 1 if something essential is broken."""
    del options, rest
    findings = [check() for check in CHECKS]
    width = max(len(finding.name) for finding in findings)
    for finding in findings:
        mark = "yes" if finding.works else "NO " if finding.needed else "no "
        print(f"{mark}  {finding.name:<{width}}  {finding.words}")
        if finding.remedy and not finding.works:
            print(f"     {'':<{width}}  To get it: {finding.remedy}")
    broken = [finding.name for finding in findings if finding.needed and not finding.works]
    print()
    print(f"Not ready: {', '.join(broken)}." if broken else "Ready: recording, gradients and exported pages work here.")
    return 1 if broken else 0


def python() -> Finding:
    """Check the interpreter."""
    number = ".".join(map(str, sys.version_info[:3]))
    return Finding("Python", sys.version_info >= (3, 11), f"{number}", "Python 3.11 or later", needed=True)


def numpy() -> Finding:
    """Check NumPy, with which everything computes."""
    return _package("numpy", "numpy", "all ops compute with it", "numpy", needed=True)


def numba() -> Finding:
    """Check the compiler of kernels."""
    if find_spec("numba") is None:
        words = "not installed; ops run on NumPy alone, which is complete"
        return Finding("numba", False, words, f"{_PIP} 'autodiff-lab[jit]'")
    works, said = _ask("import numba; f = numba.njit(lambda x: x + 1); assert f(1) == 2; print(numba.__version__)")
    return Finding(
        "numba",
        works,
        f"{said}, compiles" if works else f"installed, but does not compile: {said}",
        f"{_PIP} --upgrade numba numpy",
    )


def blas() -> Finding:
    """Report what multiplies matrices."""
    from autodiff_lab.kernels.matmul.blas import describe

    return Finding("BLAS", True, describe())


def cuda() -> Finding:
    """Check for a GPU by compiling and running one of our kernels."""
    asked = "import sys; from autodiff_lab.kernels.cuda import gpus; sys.exit(gpus.why_none() or print(gpus.tried()))"
    works, words = _ask(asked)
    return Finding("CUDA", works, words, _GPU)


def graphviz() -> Finding:
    """Check what lays out graphs."""
    from autodiff_lab.draw.layout.graphviz import programs

    found = list(programs())
    names = {"dot": "dot on the PATH", "pygraphviz": "the library in pygraphviz"}
    words = " and ".join(names.get(name, name) for name in found)
    return Finding(
        "Graphviz",
        bool(found),
        f"graphs are laid out by {words}"
        if found
        else "neither dot nor pygraphviz; graphs are laid out by a simpler built-in method",
        f"{_PIP} 'autodiff-lab[graphviz]', or your system's graphviz package",
    )


def jupyterlab() -> Finding:
    """Check JupyterLab, in which the lessons run."""
    return _package("JupyterLab", "jupyterlab", "the lessons open in it")


def widgets() -> Finding:
    """Check the widgets, which show the explorer in a notebook."""
    return _package("anywidget", "anywidget", "recordings can be stepped through in a notebook")


def matplotlib() -> Finding:
    """Check matplotlib, which draws static figures."""
    return _package("matplotlib", "matplotlib", "lab.plot_derivative draws with it")


def browser() -> Finding:
    """Check for a browser that opens pages."""
    found = next(filter(None, map(shutil.which, BROWSERS)), None) or os.environ.get("BROWSER")
    return Finding(
        "Browser",
        found is not None,
        f"{found}" if found else "none found on the PATH; exported pages open in any browser, here or elsewhere",
        "any browser; the project's own tests need Chromium",
    )


CHECKS: tuple[Callable[[], Finding], ...] = (
    python,
    numpy,
    numba,
    blas,
    cuda,
    graphviz,
    jupyterlab,
    widgets,
    matplotlib,
    browser,
)


def _package(name: str, module: str, use: str, remedy: str = "'autodiff-lab[lab]'", needed: bool = False) -> Finding:
    remedy = f"{_PIP} {remedy}"
    if find_spec(module) is None:
        return Finding(name, False, "not installed", remedy, needed)
    works, said = _ask(f"import {module}")
    try:
        number = version(module)
    except PackageNotFoundError:
        number = "unknown version"
    return Finding(
        name, works, f"{number}; {use}" if works else f"{number}, but it cannot be imported: {said}", remedy, needed
    )


def _ask(code: str) -> tuple[bool, str]:
    """Run a line of Python in a separate process; return whether it worked, and its last line."""
    try:
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, timeout=TIME_LIMIT, check=False
        )
    except subprocess.TimeoutExpired:
        return False, f"no answer within {TIME_LIMIT:.0f} seconds"
    except OSError as error:
        return False, str(error)
    lines = (done.stdout if done.returncode == 0 else done.stderr).strip().splitlines()
    return done.returncode == 0, lines[-1] if lines else ""
