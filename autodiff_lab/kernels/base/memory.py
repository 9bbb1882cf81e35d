"""Keep the memory that large arrays free, because getting it from the system again costs more than most ops.

The C library of Linux returns the memory of a large array to the system as soon as it is freed.  The next array then
causes a page fault every few kilobytes, which on arrays of a million numbers takes longer than the arithmetic.  Two
thresholds of that library, set once, make it keep freed memory for the next array instead.
"""

from __future__ import annotations

import os
import sys

KEPT_BYTES = 512 * 2**20
"""How much freed memory at the end of the heap the process keeps, at most."""
LARGEST_BYTES = 32 * 2**20
"""Arrays up to this size come from memory that is kept; larger ones from the system (the library takes no more)."""
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # M_TRIM_THRESHOLD and M_MMAP_THRESHOLD of malloc.h
_CHOSEN_BY_USER = ("MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_")


def keep_freed_memory() -> bool:
    """Make the process keep up to `KEPT_BYTES` of freed memory for its next arrays.

    Nothing happens where the C library is not glibc, where the environment variable ``AUTODIFF_LAB_MEMORY`` is
    ``system``, and where the user chose the thresholds by glibc's own variables.

    Returns
    -------
    bool
        Whether the thresholds were set.

    Examples
    --------
    >>> from autodiff_lab.kernels.base.memory import keep_freed_memory
    >>> keep_freed_memory() in (True, False)
    True
    """
    if os.environ.get("AUTODIFF_LAB_MEMORY") == "system" or any(name in os.environ for name in _CHOSEN_BY_USER):
        return False
    if not sys.platform.startswith("linux"):
        return False
    import ctypes  # NumPy has loaded it

    try:
        set_option = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):  # another C library
        return False
    return bool(set_option(_MMAP_THRESHOLD, LARGEST_BYTES)) and bool(set_option(_TRIM_THRESHOLD, KEPT_BYTES))
