"""Run the project's checks in parallel: ``python -m tests.run`` is what ``make test`` does.

The tests, the tests in the GPU simulator, the type check and the linter are independent, so all of them start at once.
If there are not enough cores the simulator gives way: it has two processes to the end, while a part with one that came
last would leave a core idle.  The output of the tests is shown while they run, that of another part once that part and
the tests have ended, so that they do not mix.  A table of all parts comes last, and the status is 1 if one of them
failed.

Tests marked ``slow`` are left out, and counted, and so are the types in the tests themselves.  Parts that are named run
whole, and alone: ``python -m tests.run lint types``, or all four, as `make test-all` names them.  Arguments after
``--`` are passed to pytest; with any, only the parts that run pytest are run, and all tests that are chosen.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from threading import Thread

from tests.tree import ROOT

NOTHING_COLLECTED = 5
SIMULATED = {"NUMBA_ENABLE_CUDASIM": "1"}
"""Numba reads this when it is imported, so the simulator needs processes of its own."""


def commands(part: str, workers: str, chosen: list[str], *, slow: bool) -> list[list[str]]:
    """Return the commands of a part, with what is slow or without: all of them run, and all must end with 0."""
    color = ["--color=yes"] if sys.stdout.isatty() else []
    quick = [] if slow else ["-p", "tests.quick"]
    pytest = [sys.executable, "-m", "pytest", *color, *quick, "-n", workers, "--dist"]
    return {
        # The cells of a notebook need one process, as JupyterLab's pages do; tests/conftest.py orders the files.
        "tests": [[*pytest, "loadfile", "--no-loadscope-reorder", *chosen]],
        "simulator": [[*pytest, "worksteal", "tests/simulated", "tests/gpu", *chosen]],
        "types": [[tool("basedpyright"), *([] if slow else ["autodiff_lab"])]],
        "lint": [[tool("ruff"), "check", "."], [tool("ruff"), "format", "--check", "."]],
    }[part]


PARTS = ("tests", "simulator", "types", "lint")
OF_PYTEST = ("tests", "simulator")


def tool(name: str) -> str:
    """Return the path of a tool of the environment that runs this."""
    beside = Path(sys.executable).parent / name
    return str(beside) if beside.exists() else name


class Running(Thread):
    """A part while it runs, and its output."""

    def __init__(self, part: str, given: list[list[str]], *, shown: bool, polite: bool) -> None:
        super().__init__(name=part)
        self.part, self.shown = part, shown
        self.commands = [["nice", *command] if polite and shutil.which("nice") else command for command in given]
        self.said, self.status, self.seconds = b"", 0, 0.0
        self.start()

    def run(self) -> None:
        """Run the commands one after the other."""
        begin = time.perf_counter()
        environment = {**os.environ, **(SIMULATED if self.part == "simulator" else {})}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)  # hundreds of processes would compile the package, each again
        for command in self.commands:
            try:
                with subprocess.Popen(
                    command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
                ) as process:
                    assert process.stdout is not None
                    while text := os.read(process.stdout.fileno(), 65536):
                        self._say(text)
                self.status = process.returncode or self.status
            except OSError as error:
                self._say(f"{error}. Try `make env`, which installs it.\n".encode())
                self.status = 127
        self.seconds = time.perf_counter() - begin

    def _say(self, text: bytes) -> None:
        self.said += text
        if self.shown:
            show(text)

    @property
    def closing(self) -> str:
        """The last line of what it said, without the bars around it."""
        lines = self.said.decode(errors="replace").split("\n")
        return next((line.strip("= ") for line in reversed(lines) if line.strip()), "")


def show(text: bytes | str) -> None:
    """Write to the terminal at once."""
    sys.stdout.buffer.write(text if isinstance(text, bytes) else text.encode())
    sys.stdout.buffer.flush()


def line_of(part: Running) -> str:
    """Return what the closing table says of a part."""
    how = f"FAILED ({part.status})" if part.status else "passed"
    return f"{part.part:<10} {how:<12} {part.seconds:4.0f} s  {part.closing if part.part in OF_PYTEST else ''}".rstrip()


def run(parts: list[str], chosen: list[str], *, slow: bool) -> int:
    """Run parts, with what pytest is told, and return the status: 0 if all is well."""
    workers = os.environ.get("WORKERS", "2")
    running = [
        Running(part, commands(part, workers, chosen, slow=slow), shown=place == 0, polite=part == "simulator")
        for place, part in enumerate(parts)
    ]
    for part in running:
        part.join()
        if not part.shown:
            show(f"\n=== {part.part} {'=' * (115 - len(part.part))}\n")
            show(part.said)
    found = [part for part in running if part.status != NOTHING_COLLECTED or part.part not in OF_PYTEST]
    if chosen and found:  # a few tests were asked for, and one of the two runs may have none of them
        running = found
    show("\n=== all parts " + "=" * 106 + "\n" + "".join(f"{line_of(part)}\n" for part in running))
    failed = [part.part for part in running if part.status]
    show(f"FAILED: {', '.join(failed)}\n" if failed else "All parts passed.\n")
    return int(bool(failed))


def main(arguments: list[str]) -> int:
    """Do what the command line says, and return the status."""
    cut = arguments.index("--") if "--" in arguments else len(arguments)
    parts, chosen = arguments[:cut], arguments[cut + 1 :]
    unknown = sorted(set(parts) - set(PARTS))
    if unknown:
        show(f"There is no part {', '.join(unknown)}. Try one of {', '.join(PARTS)}; what pytest takes follows --.\n")
        return 2
    try:
        return run(parts or list(OF_PYTEST if chosen else PARTS), chosen, slow=bool(arguments))
    except KeyboardInterrupt:  # the terminal interrupts the parts as well
        return 130


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
