"""``python -m tests.benchmarks.gpu.device_tests``, or `make test-gpu`: the tests of kernels and devices, on a real GPU.

These tests run in the simulator everywhere else; here nothing is simulated.  Besides what runs the kernels they need
only pytest: neither the project's plugins nor its conftest files are loaded.  The status is 0 if all pass, 1
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

FOLDERS = ("tests/gpu", "tests/simulated")
FIRST = "test_all_ops.py"
"""The table of ops, which has processes of its own and takes longest."""
AT_ONCE = max(2, (os.cpu_count() or 2) // 2)
"""Files that run beside each other: most of the time goes into compiling kernels, on one core each."""
FINE = {0, 1, 5}
"""Statuses of pytest that say what they have to by their tests; a file that is skipped whole has none, which is 5."""
TO_REPORT = 25
"""Seconds before the end at which the table of ops begins no other op, so that what it found is kept."""
SHOWN = 40
"""Failures that are printed and kept; the others are counted."""


def places() -> list[str]:
    """The files of tests that there are."""
    found = [file for folder in FOLDERS for file in sorted((ROOT / folder).glob("test_*.py"))]
    return [file.relative_to(ROOT).as_posix() for file in sorted(found, key=lambda file: file.name != FIRST)]


def command(place: str) -> list[str]:
    """How pytest is called: without the options of pyproject.toml, which name plugins that may not be installed."""
    alone = ["--noconftest", "--import-mode=importlib", "--override-ini=addopts=", "-p", "no:cacheprovider"]
    on = ["-q", "--continue-on-collection-errors", "-p", recorder.__name__]
    return [sys.executable, "-m", "pytest", *alone, *on, place]


def run(places: list[str], seconds: float, figures: Path) -> dict[str, Any]:
    """Run the tests for so long at most, several files beside each other; count the outcomes."""
    begin = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        record = Path(folder) / "record.jsonl"
        record.touch()
        choices = {"AUTODIFF_LAB_KERNELS": "auto", "AUTODIFF_LAB_GPU": "real", "GPU_JSON": str(figures.resolve()),
                   "GPU_SECONDS": f"{seconds - TO_REPORT:.0f}"}  # fmt: skip
        environment = {**os.environ, recorder.VARIABLE: str(record), **choices}
        started = Started(environment, Path(folder))
        statuses = started.statuses(places, begin + seconds)
        lines = [json.loads(line) for line in record.read_text(encoding="utf-8").splitlines()]
        for place, status in statuses.items():
            if status not in FINE and place in started.logs:
                print(f"{place}: {started.last_words(place)}")
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


class Started:
    """Runs of pytest, one for each file, whose output goes to logs."""

    def __init__(self, environment: dict[str, str], folder: Path) -> None:
        self.environment, self.folder = environment, folder
        self.logs: dict[str, Path] = {}

    def statuses(self, places: list[str], end: float) -> dict[str, int | None]:
        """The status of each file, None where it had to be stopped or never began."""
        found: dict[str, int | None] = dict.fromkeys(places)
        waiting = list(places)
        running: dict[str, subprocess.Popen[bytes]] = {}
        while (waiting or running) and time.perf_counter() < end:
            while waiting and len(running) < AT_ONCE:
                place = waiting.pop(0)
                running[place] = self.start(place)
            time.sleep(0.1)
            for place in [place for place, process in running.items() if process.poll() is not None]:
                found[place] = running.pop(place).returncode
        for process in running.values():
            process.kill()
            process.wait()
        return found

    def start(self, place: str) -> subprocess.Popen[bytes]:
        """Begin with a file."""
        self.logs[place] = self.folder / f"{len(self.logs)}.log"
        with self.logs[place].open("w", encoding="utf-8") as out:
            return subprocess.Popen(command(place), cwd=ROOT, env=self.environment, stdout=out, stderr=out)

    def last_words(self, place: str) -> str:
        """The end of what it printed."""
        printed = self.logs[place].read_text(encoding="utf-8", errors="replace")
        return without_folders(" ".join(printed.split())[-600:])


def sentence(found: dict[str, Any]) -> str:
    """What became of the tests."""
    ends = [
        f"{place}: "
        + ("the time was up before all had run" if status is None else f"pytest ended with status {status}")
        for place, status in found["statuses"].items()
        if status not in FINE
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
    parser.add_argument("--seconds", type=float, default=270, help="after which the run is cut off (270)")
    parser.add_argument("--dry-run", action="store_true", help="say what would run")
    parser.add_argument("tests", nargs="*", help=f"files or folders, instead of {' '.join(FOLDERS)}")
    args = parser.parse_args(given)
    if args.dry_run:
        for place in args.tests or places():
            print(" ".join(command(place)[1:]))
    why = machine.why_none()
    if why:
        print(f"Nothing is tested on a GPU: {why}")
        return machine.NO_GPU
    if args.dry_run:
        return 0
    if machine.lacking():
        print(machine.lacking(), flush=True)
    found = run(args.tests or places(), args.seconds, args.json)
    merge(args.json, {"machine": machine.about(), "tests": found})
    for failure in found["failures"]:
        print(f"FAILED {failure['test']}: {failure['why']}")
    print(sentence(found))
    return int(not set(found["statuses"].values()) <= FINE - {1})


if __name__ == "__main__":
    sys.exit(main())
