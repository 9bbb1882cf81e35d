"""``python -m tests.front_ends``, or `make test-front-ends`: the wheel in the front ends that a learner may have.

JupyterLab, Notebook, Voila, marimo and nbconvert are installed into ``build/front-ends`` with the wheel, and
tests/browser/test_front_ends.py opens each in a browser.  Further arguments go to pytest.
"""

from __future__ import annotations

import os
import subprocess
import sys

from tests.fresh import environment, run, wheel
from tests.tree import ROOT

HOME = ROOT / "build" / "front-ends"
FRONT_ENDS = ("jupyterlab==4.6.6", "notebook==7.6.5", "voila==0.5.13", "marimo==0.25.2", "nbconvert==7.17.2")


def main() -> int:
    """Install what is missing, and test; the wheel is replaced in every run."""
    path = wheel(ROOT / "build" / "front-ends-wheel")
    python = environment(HOME, [*FRONT_ENDS, f"{path}[lab]"]) / "python"
    run(python, "-m", "pip", "install", "--quiet", "--no-deps", "--force-reinstall", path)
    test = (sys.executable, "-m", "pytest", "-q", "tests/browser/test_front_ends.py", *sys.argv[1:])
    return subprocess.call(test, cwd=ROOT, env={**os.environ, "FRONT_ENDS_PYTHON": str(python)})


if __name__ == "__main__":
    sys.exit(main())
