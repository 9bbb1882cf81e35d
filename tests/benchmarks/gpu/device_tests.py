"""``python -m tests.benchmarks.gpu.device_tests``, or `make test-gpu`: the tests of kernels and devices, on a real GPU.

They are those that run in the simulator everywhere else; here nothing is simulated.  pytest is all they need beside
what runs the kernels: neither the project's plugins nor its conftest files are loaded.  The status is 0 if all pass, 1
if not, 3 without a GPU.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from tests.benchmarks.gpu import machine, recorder
from tests.benchmarks.gpu.__main__ import DEFAULT, merge
from tests.benchmarks.process import without_folders
from tests.tree import ROOT

FOLDERS = ("tests/gpu", "tests/simulated")  # the table of ops first, should the time not be enough for all
SHOWN = 40
"""Failures that are printed and kept; the others are counted."""


def folders() -> list[str]:
    """Those that there are."""
    return [folder for folder in FOLDERS if (ROOT / folder).is_dir()]


def command(place: str) -> list[str]:
    """How pytest is called: without the options of pyproject.toml, which name plugins that may not be installed."""
    alone = ["--noconftest", "--import-mode=importlib", "--override-ini=addopts=", "-p", "no:cacheprovider"]
    on = ["-q", "--continue-on-collection-errors", "-p", recorder.__name__]
    return [sys.executable, "-m", "pytest", *alone, *on, place]


def run(places: list[str], seconds: float, figures: Path) -> dict[str, Any]:
    """Run the tests for so long at most, folders beside each other as each compiles on one core; count the outcomes."""
    begin = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        record = Path(folder) / "record.jsonl"
        record.touch()
        choices = {"AUTODIFF_LAB_KERNELS": "auto", "AUTODIFF_LAB_GPU": "real", "GPU_JSON": str(figures.resolve())}
        environment = {**os.environ, recorder.VARIABLE: str(record), **choices}
        running = {place: Running(place, environment, Path(folder) / f"{at}.log") for at, place in enumerate(places)}
        statuses = {place: one.status(begin + seconds - time.perf_counter()) for place, one in running.items()}
        lines = [json.loads(line) for line in record.read_text(encoding="utf-8").splitlines()]
        for place, status in statuses.items():
            if status not in {0, 1}:
                print(f"{place}: {running[place].last_words()}")
    failures = [
        {"test": line["test"], "why": without_folders(line["why"])} for line in lines if line["outcome"] == "failed"
    ]
    skipped = Counter(without_folders(line["why"]) for line in lines if line["outcome"] == "skipped")
    return {
        "passed": sum(line["outcome"] == "passed" for line in lines),
        "failed": len(failures),
        "skipped": dict(skipped.most_common()),
        "failures": failures[:SHOWN],
        "slowest": {line["test"]: line["seconds"] for line in sorted(lines, key=lambda one: -one["seconds"])[:5]},
        "statuses": statuses,
        "seconds": time.perf_counter() - begin,
    }


class Running:
    """One run of pytest, whose output goes to a log."""

    def __init__(self, place: str, environment: dict[str, str], log: Path) -> None:
        self.log = log
        with log.open("w", encoding="utf-8") as out:
            self.process = subprocess.Popen(command(place), cwd=ROOT, env=environment, stdout=out, stderr=out)

    def status(self, seconds: float) -> int | None:
        """Its status, None where it had to be stopped."""
        try:
            return self.process.wait(max(0.1, seconds))
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            return None

    def last_words(self) -> str:
        """The end of what it printed."""
        return without_folders(" ".join(self.log.read_text(encoding="utf-8", errors="replace").split())[-600:])


def sentence(found: dict[str, Any]) -> str:
    """What became of the tests."""
    ends = [
        f"{place}: "
        + ("the time was up before all had run" if status is None else f"pytest ended with status {status}")
        for place, status in found["statuses"].items()
        if status not in {0, 1}
    ]
    skipped = sum(found["skipped"].values())
    counts = f"{found['passed']} passed, {found['failed']} failed, {skipped} skipped in {found['seconds']:.0f} s"
    return "; ".join([counts, *ends])


def main(given: list[str] | None = None) -> int:
    """Do what the command line says, and return the status."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks.gpu.device_tests", description=(__doc__ or "").strip()
    )
    parser.add_argument("--json", type=Path, default=DEFAULT, help=f"where the counts go ({DEFAULT})")
    parser.add_argument("--seconds", type=float, default=250, help="after which the run is cut off (250)")
    parser.add_argument("--dry-run", action="store_true", help="say what would run")
    parser.add_argument("tests", nargs="*", help=f"files or folders, instead of {' '.join(FOLDERS)}")
    args = parser.parse_args(given)
    if args.dry_run:
        for place in args.tests or folders():
            print(" ".join(command(place)[1:]))
    why = machine.why_none()
    if why:
        print(f"Nothing is tested on a GPU: {why}")
        return machine.NO_GPU
    if args.dry_run:
        return 0
    found = run(args.tests or folders(), args.seconds, args.json)
    merge(args.json, {"machine": machine.about(), "tests": found})
    for failure in found["failures"]:
        print(f"FAILED {failure['test']}: {failure['why']}")
    print(sentence(found))
    return int(set(found["statuses"].values()) != {0})


if __name__ == "__main__":
    sys.exit(main())
