"""``python -m tests.peers``, or `make test-peers`: the comparisons with other frameworks, in a Python that has some.

That Python needs pytest, hypothesis, what this package itself needs, and torch or TensorFlow; the plugins that
pyproject.toml lists for the other tests are not needed.  Missing packages are reported before anything runs.
"""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec

from tests.tree import ROOT

NEEDED = ("numpy", "scipy", "ml_dtypes", "pytest", "hypothesis")
PEERS = ("torch", "tensorflow", "keras")
OPTIONS = ("-ra", "--strict-markers", "--strict-config", "--import-mode=importlib")


def missing(names: tuple[str, ...]) -> list[str]:
    """Return the modules of these that this Python does not have."""
    return [name for name in names if find_spec(name) is None]


def main(arguments: list[str]) -> int:
    """Run the comparisons; return pytest's status, or 2 if this Python cannot run any of them."""
    if lacks := missing(NEEDED):
        print(f"{sys.executable} does not have {', '.join(lacks)}: install what is missing there, or name another "
              "Python, as in `make test-peers PEER_PYTHON=path/to/python`.", file=sys.stderr)  # fmt: skip
        return 2
    if absent := missing(PEERS):
        print(f"{sys.executable} does not have {', '.join(absent)}: comparisons with what is missing are skipped.")
    command = [sys.executable, "-m", "pytest", "--override-ini=addopts=", *OPTIONS, "tests/peers", *arguments]
    folders = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    return subprocess.call(command, cwd=ROOT, env={**os.environ, "PYTHONPATH": os.pathsep.join(folders)})


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
