"""``python -m tests.pythons``, or `make test-pythons`: the package in every Python that this machine has.

Each interpreter from 3.11 on gets a fresh environment below ``build/pythons`` with the wheel's own requirements and
those of the tests; the oldest runs once more with the lowest versions that pyproject.toml allows.  A part of the tests
runs in each: the engine, recordings, compiled functions, loading.  A version that is not found is named with the
reason.  The status is 1 if a run fails, or if a classifier names a version that did not pass here.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tests.tree import ROOT

FIRST, LAST = 11, 15
FOLDER = ROOT / "build" / "pythons"
NEEDED = ("pytest", "hypothesis", "optree")
TESTS = (
    "tests/engine/test_tapes.py",
    "tests/engine/test_variables.py",
    "tests/engine/test_tensors.py",
    "tests/engine/test_nest.py",
    "tests/engine/test_indexed_slices.py",
    "tests/recording/test_build.py",
    "tests/compile/test_what_compiles.py",
    "tests/compile/test_sequences.py",
    "tests/test_import_time.py",
    "tests/test_loading.py",
)
OPTIONS = (
    "-q",
    "-ra",
    "--strict-markers",
    "--override-ini=addopts=",
    "--import-mode=importlib",
    "-p",
    "no:cacheprovider",
)


def project() -> dict[str, Any]:
    """Return the table [project] of pyproject.toml."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


def found(minor: int) -> tuple[Path | None, str]:
    """Return an interpreter of Python 3.`minor`, or None and where it was looked for."""
    names = [shutil.which(f"python3.{minor}"), sys.executable]
    versions = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    names += sorted(versions.glob(f"3.{minor}.*/bin/python"), reverse=True)
    for name in filter(None, names):
        ask = (
            "import sys; print(sys.version_info[1], sys._is_gil_enabled() if hasattr(sys, '_is_gil_enabled') else True)"
        )
        answer = subprocess.run([name, "-c", ask], capture_output=True, text=True, check=False)
        if answer.stdout.split() == [str(minor), "True"]:
            return Path(name), ""
    return None, f"no python3.{minor} on the PATH that runs, and none below {versions}"


def lowest(requirements: Iterable[str]) -> list[str]:
    """Return requirements at their lower bounds.

    Examples
    --------
    >>> lowest(["numpy>=2.0", "numba>=0.62"])
    ['numpy==2.0.*', 'numba==0.62.*']
    """
    return [re.sub(r">=([\d.]+).*", r"==\1.*", text) for text in requirements]


def run(name: str, python: Path, requirements: list[str]) -> str:
    """Install and test in a fresh environment; return an empty string, or what failed."""
    home = FOLDER / name
    shutil.rmtree(home, ignore_errors=True)
    inside = home / "bin" / "python"
    for what, command in (
        ("making the environment", [python, "-m", "venv", home]),
        ("installing", [inside, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *requirements]),
        ("the smoke test", [inside, "tests/tab/smoke.py"]),
        ("the tests", [inside, "-m", "pytest", *OPTIONS, *TESTS]),
    ):
        done = subprocess.run(
            [*map(str, command)],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        if done.returncode:
            print(done.stdout[-6000:])
            return f"{what} failed"
        if what == "the tests":
            print(f"{name}: {done.stdout.strip().splitlines()[-1]}", flush=True)
    return ""


def main() -> int:
    """Try each version, print a table, and hold the classifiers to it."""
    facts = project()
    requirements = [*facts["dependencies"], *facts["optional-dependencies"]["jit"]]
    results: dict[str, str] = {}
    oldest: Path | None = None
    for minor in range(FIRST, LAST + 1):
        name = f"3.{minor}"
        python, why = found(minor)
        if python is None:
            results[name] = f"skipped: {why}"
            continue
        oldest = oldest or python
        begin = time.perf_counter()
        failed = run(name, python, [*requirements, *NEEDED])
        results[name] = failed or f"passed in {time.perf_counter() - begin:.0f} s, with the newest packages"
    if oldest is not None:
        begin = time.perf_counter()
        failed = run("lowest", oldest, [*lowest(requirements), *NEEDED])
        results["lowest"] = (
            failed or f"passed in {time.perf_counter() - begin:.0f} s: {', '.join(lowest(requirements))}"
        )
    print("\n".join(f"{name:<8}{result}" for name, result in results.items()))
    claimed = [text.rpartition(" ")[2] for text in facts["classifiers"] if re.search(r":: 3\.\d+$", text)]
    untrue = [name for name in claimed if not results.get(name, "").startswith("passed")]
    if untrue:
        print(f"pyproject.toml names {', '.join(untrue)}, which did not pass here.")
    failed_ones = [name for name, result in results.items() if not result.startswith(("passed", "skipped"))]
    return int(bool(untrue or failed_ones))


if __name__ == "__main__":
    sys.exit(main())
