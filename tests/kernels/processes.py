"""Separate processes for the tests of matrix products, as a process chooses its library only once."""

import json
import os
import subprocess
import sys
import textwrap


def say(code: str, wish: str, **environment: str) -> object:
    """Run code in a process with a wish; gives what it printed, read as JSON."""
    surroundings = {k: v for k, v in os.environ.items() if k not in ("OPENBLAS_CORETYPE", "AUTODIFF_LAB_BLAS")}
    if wish == "second":  # kernels of NumPy's that leave something to gain
        surroundings["OPENBLAS_CORETYPE"] = "Haswell"
    surroundings |= {"AUTODIFF_LAB_KERNELS": "numpy", "AUTODIFF_LAB_BLAS": wish} | environment
    done = subprocess.run(
        [sys.executable, "-W", "error::RuntimeWarning", "-c", "import json\n" + textwrap.dedent(code)],
        env=surroundings, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
