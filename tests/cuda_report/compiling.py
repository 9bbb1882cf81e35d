"""Compile kernels to machine code on any machine, with or without a GPU, and read the compiler's report.

Numba produces PTX, NVIDIA's portable assembly; the linker in CUDA's Python packages turns it into machine code for one
GPU architecture and reports registers, shared memory and spills: values that did not fit into registers and go
through memory at every use.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from functools import lru_cache
from importlib import import_module
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from autodiff_lab.kernels.cuda.launching import Kernel

TARGETS = {"sm_80": (8, 0), "sm_90": (9, 0), "sm_100": (10, 0)}
"""GPUs that kernels are compiled for: A100; H100 and H200; B200."""
USUAL = ("sm_90",)
"""Those of a report that is not asked for others: most mistakes show on every kind, and each takes its time."""
_FIGURES = {
    "registers": r"[Uu]sed (\d+) registers",
    "shared": r"(\d+) bytes smem",
    "stack": r"(\d+) bytes stack frame",
    "spill_stores": r"(\d+) bytes spill stores",
    "spill_loads": r"(\d+) bytes spill loads",
}
COUNTED_WITH_THE_SYSTEM_S = {"sm_90": 1024}
"""Bytes of shared memory that the log counts to a block's own and that the system keeps for itself."""
_EXECUTED = 4
"""The flag of a section of an ELF file that holds machine code."""


class Compiled(NamedTuple):
    """The compiler's report on one kernel, one signature and one GPU architecture.

    Attributes
    ----------
    registers : int
        32-bit registers per thread.
    shared, stack, spill_stores, spill_loads : int
        Bytes: shared memory per block, and memory per thread for lack of registers.
    size : int
        Bytes of machine code, without the tables that come with it.
    """

    kernel: str
    signature: str
    target: str
    registers: int
    shared: int
    stack: int
    spill_stores: int
    spill_loads: int
    size: int

    @property
    def spills(self) -> int:
        """Bytes stored and loaded for want of registers."""
        return self.spill_stores + self.spill_loads


def ptx(kernel: Kernel, signature: str, target: str) -> str:
    """The PTX of a kernel for one signature."""
    (made,) = _library(kernel, signature).get_asm_strs(cc=TARGETS[target])
    return made


@lru_cache(1)
def _library(kernel: Kernel, signature: str) -> Any:
    """What Numba has before it makes PTX of it, which takes most of the time and is the same for all targets."""
    compiler, types = import_module("numba.cuda.compiler"), import_module("numba.types")
    parsed = eval(f"({signature},)", dict(vars(types)))
    oldest = min(TARGETS.values())
    with _pretended(oldest):
        # The public `compile_ptx` is this and PTX for one target.
        made, _ = compiler._compile_pyfunc_with_fixup(
            kernel.function, parsed, device=False, abi="numba", cc=oldest, **kernel.how
        )
    return made


@contextmanager
def _pretended(capability: tuple[int, int]) -> Generator[None]:
    """Let Numba believe that such a GPU is here: it compiles device functions for the one that it finds."""
    dispatcher: Any = import_module("numba.cuda.dispatcher")
    asked = dispatcher.get_current_device
    dispatcher.get_current_device = lambda: SimpleNamespace(compute_capability=capability)
    try:
        yield
    finally:
        dispatcher.get_current_device = asked


def compiled(kernel: Kernel, signature: str, target: str) -> Compiled:
    """Compile a kernel to machine code and read the compiler's log."""
    nvjitlink = import_module("cuda.bindings.nvjitlink")
    source = ptx(kernel, signature, target).encode()
    options = [f"-arch={target}", "-verbose", "-Xptxas=-v"]
    linker = nvjitlink.create(len(options), options)
    try:
        nvjitlink.add_data(linker, nvjitlink.InputType.PTX, source, len(source), kernel.name)
        nvjitlink.complete(linker)
        code = bytearray(nvjitlink.get_linked_cubin_size(linker))
        nvjitlink.get_linked_cubin(linker, code)
        log = bytearray(nvjitlink.get_info_log_size(linker))
        nvjitlink.get_info_log(linker, log)
    finally:
        nvjitlink.destroy(linker)
    figures = _read(bytes(log).decode())
    figures["shared"] = max(0, figures["shared"] - COUNTED_WITH_THE_SYSTEM_S.get(target, 0))
    return Compiled(kernel.name, signature, target, **figures, size=sum(_code_sizes(bytes(code))))


def _read(log: str) -> dict[str, int]:
    found: dict[str, Any] = {name: re.findall(pattern, log) for name, pattern in _FIGURES.items()}
    return {name: max(map(int, values), default=0) for name, values in found.items()}


def _code_sizes(elf: bytes) -> Iterator[int]:
    """Bytes of each section of an ELF file of 64 bits that is executed, from the file's table of sections."""
    (table,) = struct.unpack_from("<Q", elf, 40)
    size, count = struct.unpack_from("<HH", elf, 58)
    for place in range(table, table + size * count, size):
        flags, _, _, length = struct.unpack_from("<4Q", elf, place + 8)
        if flags & _EXECUTED:
            yield length
