"""Run one probe in this process: ``python -m tests.benchmarks.probes NAME [CORE]``."""

from __future__ import annotations

import importlib
import json
import os
import sys

from tests.benchmarks.environments import ONE_THREAD
from tests.benchmarks.worker import own_output, pin

if __name__ == "__main__":
    if ONE_THREAD.items() - os.environ.items():  # NumPy, which is loaded by now, has started its threads
        again = [sys.executable, "-m", "tests.benchmarks.probes", *sys.argv[1:]]
        os.execve(sys.executable, again, {**os.environ, **ONE_THREAD})
    if sys.argv[1] != "first_call":
        os.environ["AUTODIFF_LAB_COMPILE"] = "wait"  # what is timed is the program
    pin(int(sys.argv[2]) if len(sys.argv) > 2 else None)
    out = own_output()
    print(json.dumps(importlib.import_module(f"tests.benchmarks.probes.{sys.argv[1]}").figures()), file=out)
