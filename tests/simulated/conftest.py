"""Collect these tests only if a GPU is simulated, as in `make test-simulated`."""

import os

SIMULATED = os.environ.get("NUMBA_ENABLE_CUDASIM") == "1"
collect_ignore_glob = [] if SIMULATED else ["test_*.py"]
