"""Freed memory is kept for the next arrays, unless the user turns this off."""

import os
import subprocess
import sys
from collections.abc import Callable

import pytest

CHAIN = """
import resource, numpy as np, autodiff_lab as lab
x = lab.constant(np.ones(1_000_000, np.float32))
def run():
    with lab.GradientTape() as tape:
        tape.watch(x)
        y = lab.reduce_sum(lab.sin(lab.exp(x) * x) * x + x)
    return tape.gradient(y, x)
run(), run()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(5):
    run()
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def faults(**variables: str) -> int:
    """Count the page faults of five gradients of a chain over a million numbers."""
    # A setting of the user that the test itself runs under must not decide.
    plain = {k: v for k, v in os.environ.items() if not k.startswith(("MALLOC_", "AUTODIFF_LAB_MEMORY"))}
    plain["NUMPY_MADVISE_HUGEPAGE"] = "0"  # a huge page is one fault
    done = subprocess.run([sys.executable, "-c", CHAIN], env=plain | variables, capture_output=True, check=True)
    return int(done.stdout)


# With the moving thresholds of glibc it is chance whether memory goes back, as a small block above it holds it.
# Thresholds that are named do not move.
GIVEN_BACK = {"MALLOC_TRIM_THRESHOLD_": "131072"}
ASKED = "from autodiff_lab.kernels.base.memory import keep_freed_memory; print(keep_freed_memory())"


def is_set(**variables: str) -> bool:
    """Whether our thresholds are set in a process with these variables."""
    plain = {k: v for k, v in os.environ.items() if not k.startswith(("MALLOC_", "AUTODIFF_LAB_MEMORY"))}
    done = subprocess.run([sys.executable, "-c", ASKED], env=plain | variables, capture_output=True, check=True)
    return done.stdout.strip() == b"True"


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only glibc has these thresholds")
def test_arrays_find_memory_that_is_kept(figure: Callable[..., None]) -> None:
    kept, given_back = faults(), faults(**GIVEN_BACK)
    figure("page faults of five gradients over a million numbers", f"{kept}, and {given_back} if memory is given back")
    assert kept * 10 < given_back


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only glibc has these thresholds")
def test_thresholds_are_ours_unless_the_user_chose() -> None:
    assert is_set()
    assert not is_set(AUTODIFF_LAB_MEMORY="system")
    assert not is_set(**GIVEN_BACK)
    assert not is_set(MALLOC_MMAP_THRESHOLD_="131072")
