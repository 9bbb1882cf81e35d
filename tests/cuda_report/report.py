"""The report on all CUDA kernels: the compiler's figures for each, and whether every method is compiled and tested.

`compile_all` compiles each kernel of `launching.KERNELS` for each of its signatures, in processes of their own, one a
processor core; `complaints` says in sentences what keeps the report from passing.
"""

from __future__ import annotations

import ast
import gc
import hashlib
import inspect
import os
import sys
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from functools import lru_cache
from importlib import import_module, metadata
from importlib.util import find_spec
from math import prod
from multiprocessing import get_context
from typing import TYPE_CHECKING, Any, NamedTuple

from tests.tree import PACKAGE

if TYPE_CHECKING:
    from autodiff_lab.kernels.cuda.launching import Kernel
    from tests.cuda_report.compiling import Compiled

PACKAGES = {"numba": "numba", "numba_cuda": "numba-cuda", "cuda.bindings.nvjitlink": "cuda-bindings"}
"""What compiling needs: modules, and the distributions that bring them."""
COMPILERS = ("numba-cuda", "nvidia-nvvm", "nvidia-nvjitlink")
"""Distributions whose versions decide which machine code comes out."""
FAMILIES = PACKAGE / "kernels"
HOW = "Try pip install 'autodiff-lab[cuda-build]'."


class Row(NamedTuple):
    """One kernel, one signature, one target: the compiler's figures, and the resulting occupancy.

    Attributes
    ----------
    made : Compiled or None
        None where compiling failed.
    threads : int or tuple of int
        Of a block.
    blocks : int
        That one multiprocessor holds at a time.
    limit : str
        What keeps it from holding more.
    error : str
        Why compiling failed; empty where it did not.
    """

    kernel: str
    signature: str
    target: str
    made: Compiled | None
    threads: int | tuple[int, ...] = 0
    blocks: int = 0
    limit: str = ""
    error: str = ""


def unavailable() -> str:
    """Say in one sentence why kernels cannot be compiled here; nothing if they can."""
    if os.environ.get("NUMBA_ENABLE_CUDASIM") == "1":
        return "NUMBA_ENABLE_CUDASIM=1 has Numba simulate CUDA, and then it does not compile. Try without it."
    for module, package in PACKAGES.items():
        try:
            missing = find_spec(module) is None
        except ModuleNotFoundError:
            missing = True
        if missing:
            return f"{package} is not installed, and kernels cannot be compiled without it. {HOW}"
    try:
        import_module("cuda.bindings.nvjitlink").version()
    except Exception as error:  # noqa: BLE001 - the loader of NVIDIA's libraries raises classes of its own
        words = (str(error).splitlines() or [""])[0]
        return f"the linker nvJitLink does not load ({type(error).__name__}: {words}). {HOW}"
    return ""


def versions() -> dict[str, str]:
    """Versions of what compiles: Python, whose bytecode is compiled, and the packages."""
    found = {"Python": "{}.{}".format(*sys.version_info[:2])}
    for package in COMPILERS:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            found[package] = "unknown"
    return found


def kernels() -> dict[str, Kernel]:
    """Return every kernel of the families, and samples of what `lab.function` writes."""
    for module in sorted(FAMILIES.glob("*/cuda.py")):
        import_module(f"autodiff_lab.kernels.{module.parent.name}.cuda")
    import_module("tests.cuda_report.fused_samples").declare()
    found: dict[str, Kernel] = import_module("autodiff_lab.kernels.cuda.launching").KERNELS
    return dict(sorted(found.items(), key=lambda item: _folder(item[1])))  # whichever was imported first


def _folder(kernel: Kernel) -> str:
    module = kernel.function.__module__
    return module.rpartition(".")[0] if module.startswith("autodiff_lab.") else "samples"


def fingerprint() -> str:
    """Return a hash of all that decides which machine code comes out: our sources, without their words, and compilers.

    While it is the one in docs/cuda_kernels.md, compiling again would give the figures that stand there.
    """
    sources = {*FAMILIES.glob("*/cuda*.py"), *FAMILIES.glob("cuda/*.py")} - {FAMILIES / "cuda" / "simulator.py"}
    parts = [code_of(path.read_text(encoding="utf-8")) for path in sorted(sources)]
    parts += import_module("tests.cuda_report.fused_samples").texts()
    return hashlib.sha256("\n".join([*parts, str(versions())]).encode()).hexdigest()[:16]


def code_of(source: str) -> str:
    """Return a module as Python reads it: without comments and docstrings."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
            node.body = [
                line for line in node.body if not (isinstance(line, ast.Expr) and isinstance(line.value, ast.Constant))
            ]
    return ast.unparse(tree)


def methods() -> tuple[str, ...]:
    """Return the names of the kernels that have an override on a GPU."""
    return tuple(sorted({name for kernel in kernels().values() for name in kernel.serves} - {"fused"}))


def threads_of(kernel: Kernel) -> int | tuple[int, ...]:
    """Threads of a block of a kernel: at most what it was declared with, else what its launches say, else the usual."""
    bounds = kernel.how.get("launch_bounds")
    if bounds is not None:
        return bounds[0] if isinstance(bounds, tuple) else bounds
    found: list[Any] = []
    for name in sorted(name for name in sys.modules if name.startswith("autodiff_lab.kernels.")):
        for call in _launches(name):
            if isinstance(call.args[0], ast.Name) and call.args[0].id == kernel.name:
                try:
                    found.append(eval(compile(ast.Expression(call.args[2]), "", "eval"), dict(vars(sys.modules[name]))))
                except NameError:  # worked out in the launcher
                    continue
    usual = import_module("autodiff_lab.kernels.cuda.launching").THREADS
    return max(found, key=lambda size: prod(size) if isinstance(size, tuple) else size, default=usual)


@lru_cache(None)
def _launches(module: str) -> tuple[ast.Call, ...]:
    tree = ast.parse(inspect.getsource(sys.modules[module]))
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and len(node.args) > 2]
    return tuple([call for call in calls if isinstance(call.func, ast.Name) and call.func.id == "launch"])


def compile_all(targets: Iterable[str], chosen: Iterable[str] | None = None) -> list[Row]:
    """Compile every kernel, or those named, for some targets.

    Parameters
    ----------
    targets : iterable of str
        Names in `compiling.TARGETS`.
    chosen : iterable of str, optional
        Names of kernels.

    Returns
    -------
    list of Row
        In the order of the kernels, their signatures and the targets.
    """
    wanted = None if chosen is None else set(chosen)
    given = tuple(targets)
    jobs = [
        (name, signature, given)
        for name, kernel in kernels().items()
        if wanted is None or name in wanted
        for signature in kernel.signatures
    ]
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    workers = max(1, min(cores, len(jobs)))
    # Numba makes millions of objects that stay; a process that ends soon need not look through them for garbage.
    with ProcessPoolExecutor(workers, get_context("spawn"), initializer=gc.disable) as pool:
        return [row for group in pool.map(compile_signature, jobs) for row in group]


def compile_signature(job: tuple[str, str, tuple[str, ...]]) -> list[Row]:
    """Compile one kernel for one signature and some targets."""
    name, signature, targets = job
    return [compile_one(kernels()[name], signature, target) for target in targets]


def compile_one(kernel: Kernel, signature: str, target: str) -> Row:
    """Compile one kernel for one signature and one target."""
    from tests.cuda_report.compiling import compiled
    from tests.cuda_report.occupancy import blocks_per_multiprocessor

    name, threads = kernel.name, threads_of(kernel)
    try:
        made = compiled(kernel, signature, target)
    except Exception as error:  # noqa: BLE001 - whatever a compiler says belongs in the report
        words = " ".join(str(error).split())
        return Row(name, signature, target, None, threads, error=f"{type(error).__name__}: {words[:300]}")
    blocks, limit = blocks_per_multiprocessor(target, threads, made.registers, made.shared)
    return Row(name, signature, target, made, threads, blocks, limit)


def complaints(
    listed: Iterable[str],
    known: Iterable[Kernel],
    rows: Iterable[Row],
    tests: dict[str, list[str]],
    targets: Iterable[str],
) -> list[str]:
    """Say what keeps the report from passing, a sentence each; nothing if all is well.

    Parameters
    ----------
    listed : iterable of str
        Names of the kernels that have CUDA overrides.
    known : iterable of Kernel
        All kernels.
    rows : iterable of Row
        What was compiled.
    tests : dict of str to list of str
        By method, the files that test it.
    targets : iterable of str
        What every kernel must have been compiled for.
    """
    said: list[str] = []
    known, rows, targets = list(known), list(rows), list(targets)
    done = {(row.kernel, row.signature, row.target) for row in rows}
    for method in listed:
        if not any(method in kernel.serves for kernel in known):
            said.append(f"{method}: no kernel serves it. Try @kernel(({method!r},), ...) where it is launched.")
        if not tests.get(method):
            said.append(f"{method}: no test in tests/simulated calls agree({method!r}, ...).")
    for kernel in known:
        if not kernel.signatures:
            said.append(f"{kernel.name}: it has no signature, so that nothing of it is compiled.")
        said.extend(
            f"{kernel.name}({signature}): not compiled for {target}."
            for signature in kernel.signatures
            for target in targets
            if (kernel.name, signature, target) not in done
        )
    said.extend(complaint for row in rows for complaint in _of_a_row(row))
    return said


def _of_a_row(row: Row) -> Iterable[str]:
    what = f"{row.kernel}({row.signature}) for {row.target}"
    if row.made is None:
        yield f"{what}: does not compile: {row.error}"
        return
    if row.made.spills:
        yield f"{what}: {row.made.spills} bytes of spills. Try smaller tiles, or fewer values alive at a time."
    if row.made.stack:
        yield f"{what}: {row.made.stack} bytes of stack. Try constant bounds for loops over local arrays."
    if not row.blocks:
        yield f"{what}: not one block of {row.threads} threads fits a multiprocessor, for its {row.limit}."
