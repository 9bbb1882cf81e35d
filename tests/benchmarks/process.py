"""The measuring side of a worker: start it, send requests, and stop it after a timeout."""

from __future__ import annotations

import json
import re
import selectors
import subprocess
import time
from pathlib import Path
from typing import Any

from tests.benchmarks.environments import FOLDER
from tests.tree import ROOT

LONGEST_START = 240.0
LONGEST_SAMPLE = 60.0


class Gone(Exception):
    """A worker that stopped or does not respond, with its last output."""


class Process:
    """A worker process; what it prints beside its answers goes to a log."""

    def __init__(self, python: Path, arguments: list[str], environment: dict[str, str], label: str) -> None:
        logs = FOLDER / "logs"
        logs.mkdir(parents=True, exist_ok=True)
        self._log = logs / f"{label}.log"
        with self._log.open("w", encoding="utf-8") as log:
            self._process = subprocess.Popen(
                [str(python), "-m", *arguments], cwd=ROOT, env=environment, text=True, bufsize=1,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log,
            )  # fmt: skip

    def answer(self, longest: float = LONGEST_START) -> dict[str, Any]:
        """The next object that the worker says.

        Raises
        ------
        Gone
            Where it ends or says nothing for ``longest`` seconds.
        """
        out = self._process.stdout
        assert out is not None
        end = time.monotonic() + longest
        with selectors.DefaultSelector() as selector:
            selector.register(out, selectors.EVENT_READ)
            while (left := end - time.monotonic()) > 0 and selector.select(left):
                line = out.readline()
                if not line:
                    raise Gone(self._last_words())
                if line.startswith("{"):
                    return json.loads(line)
        raise Gone(f"it said nothing for {longest:.0f} s")

    def sample(self, seconds: float) -> tuple[float, float]:
        """Least CPU and wall seconds of a call, of as many calls as fit in ``seconds``."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(f"{seconds}\n")
        except BrokenPipeError as error:
            raise Gone(self._last_words()) from error
        cpu, wall = self.answer(LONGEST_SAMPLE)["sample"]
        return cpu, wall

    def ask(self, question: dict[str, Any], longest: float) -> dict[str, Any]:
        """The answer to a JSON object.

        Raises
        ------
        Gone
            Where it ended, or says nothing for ``longest`` seconds.
        """
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(question) + "\n")
        except (BrokenPipeError, ValueError) as error:
            raise Gone(self._last_words()) from error
        return self.answer(longest)

    def end(self) -> None:
        """Stop it."""
        self._process.kill()
        self._process.communicate()

    def _last_words(self) -> str:
        self._process.wait()
        words = self._log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
        return without_folders(words[-1][:200]) if words else f"it ended with status {self._process.returncode}"


def without_folders(words: str) -> str:
    """Words without the folders of this machine, which the figures do not tell."""
    return re.sub(r"(?:/[\w.+~-]+)+/", "…/", words)
