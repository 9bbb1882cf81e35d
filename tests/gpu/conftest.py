"""Collects these tests only where a GPU was asked for, real or simulated; `place` says how.

Whoever runs them without this file, for want of other packages, gets a skip with a reason from each file instead.
"""

from tests.gpu.place import WANTED

collect_ignore_glob = [] if WANTED else ["test_*.py"]
