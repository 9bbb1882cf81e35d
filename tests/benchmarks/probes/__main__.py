"""Run one probe in this process: ``python -m tests.benchmarks.probes NAME [CORE]``."""

from __future__ import annotations

import importlib
import json
import sys

from tests.benchmarks.worker import own_output, pin

if __name__ == "__main__":
    pin(int(sys.argv[2]) if len(sys.argv) > 2 else None)
    out = own_output()
    print(json.dumps(importlib.import_module(f"tests.benchmarks.probes.{sys.argv[1]}").figures()), file=out)
