"""Collect these tests only if a GPU was requested, real or simulated; `place` says how.

Without this file, which needs other packages, each test file is skipped with a reason instead.
"""

from tests.gpu.place import WANTED

collect_ignore_glob = [] if WANTED else ["test_*.py"]
