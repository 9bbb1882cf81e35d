"""How many blocks of a kernel one multiprocessor holds at a time, computed from the compiler's report.

A multiprocessor has a fixed number of registers, bytes of shared memory and threads; what a block needs of each
determines how many blocks run concurrently, and so how well memory latency is hidden.  The limits are
NVIDIA's: *CUDA C++ Programming Guide*, appendix "Compute Capabilities", table "Technical Specifications per Compute
Capability"; what is handed out at once (registers of a warp, bytes of shared memory) is that of *CUDA Occupancy
Calculator*, which the profiler Nsight Compute contains.
"""

from __future__ import annotations

from math import prod
from typing import NamedTuple

WARP = 32


class Limits(NamedTuple):
    """The limits of one multiprocessor of a GPU architecture.

    Attributes
    ----------
    threads, blocks, registers, shared : int
        At most at a time; shared memory in bytes.
    reserved : int
        Bytes of shared memory that the system takes of each block.
    """

    threads: int
    blocks: int
    registers: int
    shared: int
    reserved: int = 1024


LIMITS = {
    "sm_80": Limits(2048, 32, 65536, 164 * 1024),
    "sm_90": Limits(2048, 32, 65536, 228 * 1024),
    "sm_100": Limits(2048, 32, 65536, 228 * 1024),
}
"""By target."""
REGISTERS_AT_ONCE = 256
"""Registers are given to a warp in units of so many."""
WARPS_AT_ONCE = 4
"""A multiprocessor has four parts, each with a quarter of the registers; warps are dealt out to them in turn."""
SHARED_AT_ONCE = 128
"""Shared memory is given to a block in units of so many bytes."""


def blocks_per_multiprocessor(
    target: str, threads: int | tuple[int, ...], registers: int, shared: int
) -> tuple[int, str]:
    """Count the blocks that run beside each other on one multiprocessor, and name what limits them.

    Parameters
    ----------
    target : str
        One of `LIMITS`.
    threads : int or tuple of int
        Of a block.
    registers : int
        Of a thread.
    shared : int
        Bytes of a block.

    Returns
    -------
    int, str
        Blocks, 0 where not even one fits, and ``"threads"``, ``"blocks"``, ``"registers"`` or ``"shared"``.

    Examples
    --------
    >>> from tests.cuda_report.occupancy import blocks_per_multiprocessor
    >>> blocks_per_multiprocessor("sm_90", 256, registers=32, shared=1024)
    (8, 'threads')
    >>> blocks_per_multiprocessor("sm_90", 256, registers=128, shared=16384)
    (2, 'registers')
    """
    limits = LIMITS[target]
    warps = -(-prod(threads if isinstance(threads, tuple) else (threads,)) // WARP)
    of_a_warp = _rounded(max(registers, 1) * WARP, REGISTERS_AT_ONCE)
    warps_of_a_part = limits.registers // WARPS_AT_ONCE // of_a_warp
    fitting = {
        "threads": limits.threads // WARP // warps,
        "blocks": limits.blocks,
        "registers": warps_of_a_part * WARPS_AT_ONCE // warps,
        "shared": limits.shared // _rounded(shared + limits.reserved, SHARED_AT_ONCE),
    }
    why = min(fitting, key=fitting.__getitem__)
    return fitting[why], why


def _rounded(amount: int, unit: int) -> int:
    return -(-amount // unit) * unit
