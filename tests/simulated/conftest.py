"""Collects these tests only where a GPU is simulated, which `make test-simulated` sees to."""

import os

SIMULATED = os.environ.get("NUMBA_ENABLE_CUDASIM") == "1"
collect_ignore_glob = [] if SIMULATED else ["test_*.py"]
