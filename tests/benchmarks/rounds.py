"""Rounds in which the libraries take turns, so that other load affects all of them alike."""

from __future__ import annotations

import hashlib
import queue
import shutil
import subprocess
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from tests.benchmarks.cases import IMPORT
from tests.benchmarks.catalog import ROWS
from tests.benchmarks.environments import FOLDER, NotThere, interpreter, variables
from tests.benchmarks.libraries import PEERS, Peer
from tests.benchmarks.machine import other_core
from tests.benchmarks.process import Gone, Process, without_folders
from tests.benchmarks.programs import PROGRAMS
from tests.tree import ROOT

CACHING = {"lab", "lab-function", "torch-compile"}
"""Those that keep compiled code on disk: their first call is measured with empty and with filled caches."""
SLOWEST_TO_COMPILE = "torch-compile"
"""Begun first in each batch, so that the two cores are done at about the same time."""
IMPORT_TIMES = """
import time
cpu, wall = time.process_time(), time.perf_counter()
import {package}
print(time.process_time() - cpu, time.perf_counter() - wall)
"""

BATCH = 4
"""Programs that are begun together: enough to occupy two cores, and few enough for their processes to fit in memory."""

Row = dict[str, Any]


@dataclass(frozen=True)
class Plan:
    """The number and duration of the rounds, the processor core, and how long a program may take to start."""

    rounds: int = 5
    seconds: float = 0.3
    core: int | None = None
    longest: float = 75.0


def measured(names: Iterable[str], pythons: dict[str, Path], plan: Plan) -> Iterator[tuple[str, dict[str, Row]]]:
    """Each row's name with its figures by library; ``{"missing": why}`` for a library that has none.

    Programs are begun `BATCH` at a time, so that both cores compile, and timed when no library is compiling.
    """
    batch: list[str] = []
    for name in names:
        if name in PROGRAMS:
            batch.append(name)
        else:
            yield name, _case(name, _peers(name, pythons), pythons, plan)
        if len(batch) == BATCH:
            yield from _programs(batch, pythons, plan)
            batch = []
    yield from _programs(batch, pythons, plan)


def _peers(name: str, pythons: dict[str, Path]) -> list[Peer]:
    return [PEERS[peer] for peer in pythons if _takes_part(PEERS[peer], name)]


def _case(name: str, peers: list[Peer], pythons: dict[str, Path], plan: Plan) -> dict[str, Row]:
    """One of the single cases, whose first calls are timed too: nothing else runs meanwhile."""
    if name == IMPORT:
        return imports(peers, pythons, plan)
    caches = FOLDER / "caches" / name
    shutil.rmtree(caches, ignore_errors=True)
    rows: dict[str, Row] = {}
    workers: dict[str, Process] = {}
    for peer in peers:
        try:
            rows[peer.name] = _first(peer, name, pythons[peer.name], plan, caches / peer.name, workers)
        except Gone as why:
            rows[peer.name] = {"missing": str(why)}
    _take_turns(rows, workers, plan, plan.seconds)
    if ROWS[name].memory:
        for peer in workers:
            rows[peer].update(_memory(peer, name, pythons[peer], plan, caches / peer))
    return rows


def _programs(names: list[str], pythons: dict[str, Path], plan: Plan) -> Iterator[tuple[str, dict[str, Row]]]:
    """Programs: begun on two cores, as most of the time goes into compiling, then measured in turns on one."""
    workers: dict[str, dict[str, Process]] = {name: {} for name in names}
    cores: queue.Queue[int | None] = queue.Queue()
    for core in {plan.core, other_core(plan.core)}:
        cores.put(core)

    def begin(name: str, peer: Peer, reference: Path | str) -> Row:
        if isinstance(reference, str):
            return {"missing": reference}
        core = cores.get()
        process = None
        try:
            more = ["--reference", str(reference), *([] if core is None else ["--start-core", str(core)])]
            process = _started(peer.name, name, pythons[peer.name], plan, more, peer.name)
            row = process.answer(plan.longest)
            workers[name][peer.name] = process
        except Gone as why:
            if process is not None:
                process.end()
            return {"missing": str(why)}
        finally:
            cores.put(core)
        return row

    with ThreadPoolExecutor(2) as pool:
        references = dict(zip(names, pool.map(lambda name: _reference(name, pythons, plan), names), strict=True))
        begun = [(name, peer) for name in names for peer in _peers(name, pythons)]
        begun.sort(key=lambda pair: pair[1].name != SLOWEST_TO_COMPILE)
        started = {(name, peer.name): pool.submit(begin, name, peer, references[name]) for name, peer in begun}
    for name in names:
        rows = {peer.name: started[name, peer.name].result() for peer in _peers(name, pythons)}
        _take_turns(rows, workers[name], plan, plan.seconds / 2)
        yield name, rows


def _reference(name: str, pythons: dict[str, Path], plan: Plan) -> Path | str:
    """A file of what JAX computes in float64 or, without JAX, this project op by op; why there is none.

    It is kept for later runs, until a program or the way that a library is called changes.
    """
    path = FOLDER / "references" / _digest() / f"{name}.npz"
    if path.exists():
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    peer, python = "jax", pythons.get("jax")
    if python is None:
        try:
            python = interpreter(PEERS[peer])
        except NotThere:
            peer, python = "lab", interpreter(PEERS["lab"])
    process = _started(peer, name, python, plan, ["--write-reference", str(path)], "reference")
    try:
        process.answer(plan.longest)
    except Gone as why:
        path.unlink(missing_ok=True)  # it may have been written in part
        return f"no reference to compare with: {why}"
    finally:
        process.end()
    return path


@cache
def _digest() -> str:
    """What the references depend on: the source of the programs and of the libraries' adapters."""
    here = Path(__file__).parent
    sources = sorted([*(here / "programs").glob("*.py"), *(here / "libraries").glob("*.py")])
    return hashlib.sha256(b"".join(source.read_bytes() for source in sources)).hexdigest()[:16]


def _started(peer: str, name: str, python: Path, plan: Plan, more: list[str], label: str) -> Process:
    caches = FOLDER / "caches" / "programs"
    return Process(python, _arguments(peer, name, plan, *more), variables(caches), f"{name}-{label}")


def _take_turns(rows: dict[str, Row], workers: dict[str, Process], plan: Plan, seconds: float) -> None:
    """Sample every worker in each round, beginning with another one each time; those that fail are dropped."""
    for number in range(plan.rounds):
        names = list(workers)
        begin = number % max(1, len(names))
        for peer in names[begin:] + names[:begin]:
            try:
                _keep_least(rows[peer], workers[peer].sample(seconds))
            except Gone as why:
                rows[peer] = {"missing": str(why)}
                workers.pop(peer).end()
    for worker in workers.values():
        worker.end()


def _takes_part(peer: Peer, case: str) -> bool:
    if case in peer.apart:
        return False
    return case == IMPORT or ROWS[case].offered_by(peer.kind.family)


def _arguments(peer: str, case: str, plan: Plan, *more: str) -> list[str]:
    core = [] if plan.core is None else ["--core", str(plan.core)]
    return ["tests.benchmarks.worker", peer, case, *core, *more]


def _first(peer: Peer, case: str, python: Path, plan: Plan, caches: Path, workers: dict[str, Process]) -> Row:
    """The first call: in a process that finds empty caches, and in one that finds what the first left behind."""
    environment = variables(caches)
    cold = None
    if peer.name in CACHING:
        process = Process(python, _arguments(peer.name, case, plan, "--cold"), environment, f"{case}-{peer.name}-cold")
        try:
            cold = process.answer()["first"]
        finally:
            process.end()
    worker = Process(python, _arguments(peer.name, case, plan), environment, f"{case}-{peer.name}")
    try:
        row = worker.answer()
    except Gone:
        worker.end()
        raise
    workers[peer.name] = worker
    if cold is not None:
        row["again"], row["first"] = row["first"], cold
    return row


def _memory(peer: str, case: str, python: Path, plan: Plan, caches: Path) -> Row:
    process = Process(python, _arguments(peer, case, plan, "--memory"), variables(caches), f"{case}-{peer}-memory")
    try:
        return process.answer()
    except Gone as why:
        return {"peak": None, "why": str(why)}
    finally:
        process.end()


def imports(peers: Iterable[Peer], pythons: dict[str, Path], plan: Plan) -> dict[str, Row]:
    """The import statement, each time in a fresh process."""
    rows: dict[str, Row] = {}
    chosen = list(peers)
    for _ in range(plan.rounds * 2):
        for peer in chosen:
            row = rows.setdefault(peer.name, {})
            code = IMPORT_TIMES.format(package=peer.kind.package)
            if plan.core is not None:
                code = f"import os\nos.sched_setaffinity(0, {{{plan.core}}})\n{code}"
            done = subprocess.run([pythons[peer.name], "-c", code], cwd=ROOT, capture_output=True, text=True,
                                  env=variables(FOLDER / "caches" / "import"), check=False)  # fmt: skip
            if done.returncode:
                row["missing"] = without_folders((done.stderr.strip().splitlines() or ["the import failed"])[-1])
            else:
                cpu, wall = map(float, done.stdout.split()[-2:])
                _keep_least(row, (cpu, wall))
    return rows


def _keep_least(row: Row, sample: tuple[float, float]) -> None:
    cpu, wall = sample
    row["cpu"], row["wall"] = min(cpu, row.get("cpu", cpu)), min(wall, row.get("wall", wall))
