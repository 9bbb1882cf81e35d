"""The compile table as text: for a terminal, and as the page docs/cuda_kernels.md.

A line is a kernel with one signature; a cell holds the figures of the targets in their order, or one figure where they
are the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from tests.cuda_report.occupancy import LIMITS
from tests.cuda_report.report import Row

if TYPE_CHECKING:
    from autodiff_lab.kernels.cuda.launching import Kernel

HEAD = """# What the compiler makes of the CUDA kernels

This page is written by the program: `python -m tests.cuda_report --write docs/cuda_kernels.md` renews it where all is
well. A test compiles one kernel of each family anew, for `sm_90`, and all of them where their sources are no longer
those of this page. No GPU is needed for it.

Every kernel is compiled for three kinds of GPU: {targets}.
A cell holds their figures in this order, or one figure where all are the same.

- *types*: of the arrays, which are C-contiguous and have one axis, and of numbers; `(8 × i32)` is a tuple.
- *threads*: of a block; the most, where a launch chooses.
- *registers*: of 32 bits, of each thread. A thread has 255 at most, a multiprocessor 65,536.
- *shared*: bytes of shared memory that a block asks for; a multiprocessor has {shared}.
- *blocks*: how many run beside each other on one multiprocessor, and what keeps more of them from it. A multiprocessor
  runs 2,048 threads and 32 blocks at most (NVIDIA, *CUDA C++ Programming Guide*, "Technical Specifications per Compute
  Capability").
- *code*: bytes of machine code.
- *spilled*: bytes that a thread keeps in memory for want of registers, its stack included. They must be 0.

Compilers: {versions}.
Sources and compilers: `{fingerprint}`.
"""
COLUMNS = ("kernel", "types", "threads", "registers", "shared", "blocks", "code", "spilled")


def page(rows: list[Row], known: Iterable[Kernel], versions: dict[str, str], fingerprint: str) -> str:
    """Return the text of docs/cuda_kernels.md.

    Parameters
    ----------
    rows : list of Row
        All that was compiled, for all targets.
    known : iterable of Kernel
        All kernels.
    versions : dict of str to str
        Of the compilers.
    fingerprint : str
        Of the sources and the compilers.
    """
    head = HEAD.format(
        targets=", ".join(f"`{target}`" for target in LIMITS),
        shared=", ".join(f"{limit.shared // 1024}" for limit in LIMITS.values()) + " KB",
        versions=", ".join(f"{name} {version}" for name, version in versions.items()),
        fingerprint=fingerprint,
    )
    return "\n".join([head, *sections(rows, known)]).rstrip() + "\n"


def sections(rows: list[Row], known: Iterable[Kernel]) -> list[str]:
    """Return the lines of the page below its head, a table for each family."""
    kernels = {kernel.name: kernel for kernel in known}
    parts: list[str] = []
    for name in dict.fromkeys(family(kernels[row.kernel]) for row in rows):
        mine = [row for row in rows if family(kernels[row.kernel]) == name]
        about = dict.fromkeys(f"`{method}`" for row in mine for method in kernels[row.kernel].serves)
        parts.extend([f"## {name}", "", f"For {', '.join(about) or 'no method'}.", ""])
        parts.extend(["| " + " | ".join(COLUMNS) + " |", "| --- | --- |" + " ---: |" * (len(COLUMNS) - 2)])
        parts.extend(lines_of_page(mine))
        parts.append("")
    return parts


def lines_of_page(rows: Iterable[Row]) -> list[str]:
    """Return the lines of a table of the page, without its head."""
    return [f"| `{name}` | {' | '.join(cells)} |" for name, *cells in lines(rows)]


def family(kernel: Kernel) -> str:
    """Name the folder that holds a kernel."""
    folder, _, module = kernel.function.__module__.rpartition(".")
    return folder.rpartition(".")[2] if folder.startswith("autodiff_lab.kernels.") else module


def text(rows: list[Row]) -> str:
    """Return the table for a terminal."""
    cells = [COLUMNS, *lines(rows)]
    widths = [max(len(line[at]) for line in cells) for at in range(len(COLUMNS))]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) for line in cells)


def lines(rows: Iterable[Row]) -> list[tuple[str, ...]]:
    """Return the cells of every kernel and signature."""
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        groups.setdefault((row.kernel, row.signature), []).append(row)
    return [_line(kernel, signature, group) for (kernel, signature), group in groups.items()]


def _line(kernel: str, signature: str, group: list[Row]) -> tuple[str, ...]:
    made = [row.made for row in group if row.made is not None]
    if len(made) < len(group):
        return (kernel, _types(signature), _block(group[0].threads), *["does not compile"] + ["–"] * 4)
    return (
        kernel,
        _types(signature),
        _block(group[0].threads),
        _cell(one.registers for one in made),
        _cell(f"{one.shared:,}" for one in made),
        _cell(f"{row.blocks} ({row.limit})" for row in group),
        _cell(f"{one.size:,}" for one in made),
        _cell(one.spills + one.stack for one in made),
    )


def _cell(values: Iterable[Any]) -> str:
    words = [str(value) for value in values]
    return words[0] if len(set(words)) == 1 else " / ".join(words)


def _block(threads: int | tuple[int, ...]) -> str:
    return " × ".join(map(str, threads)) if isinstance(threads, tuple) else str(threads)


_SHORT = {"float": "f", "uint": "u", "int": "i", "complex": "c", "boolean": "bool"}


def _types(signature: str) -> str:
    """A signature in few letters: ``2 × f32[], i32`` for two arrays of float32 and a number."""
    runs: list[list[Any]] = []
    for part in re.findall(r"\w+\([^)]*\)|\w+(?:\[[^\]]*\])?", signature):
        word = re.sub("boolean|complex|float|uint|int", lambda found: _SHORT[found[0]], part)
        word = re.sub(r"\[.*\]", "[]", word)
        word = re.sub(r"UniTuple\((\w+), (\d+)\)", r"(\2 × \1)", word)
        if runs and runs[-1][0] == word:
            runs[-1][1] += 1
        else:
            runs.append([word, 1])
    return ", ".join(word if count == 1 else f"{count} × {word}" for word, count in runs)
