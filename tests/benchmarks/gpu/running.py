"""The measuring side: libraries in separate processes, which take turns case by case."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from tests.benchmarks.figures import megabytes, seconds
from tests.benchmarks.gpu.check import error, oracle
from tests.benchmarks.gpu.engines import PEERS
from tests.benchmarks.gpu.listed import PROGRAMS
from tests.benchmarks.gpu.programs import FUNCTION, LAB
from tests.benchmarks.gpu.targets import sentence, share, verdicts
from tests.benchmarks.process import Gone, Process

LONGEST_START, LONGEST_CASE = 90.0, 90.0
Rows = dict[str, dict[str, dict[str, Any]]]


def environment(caches: Path) -> dict[str, str]:
    """What every process sees: float32 as it is, no memory taken in advance, kernels compiled for this run."""
    return {
        **{name: value for name, value in os.environ.items() if not name.startswith("PYTEST")},
        "NVIDIA_TF32_OVERRIDE": "0",
        "XLA_PYTHON_CLIENT_PREALLOCATE": "false",
        "AUTODIFF_LAB_KERNELS": "auto",
        "AUTODIFF_LAB_CACHE": str(caches),
    }


def start(peers: list[str], small: bool, caches: Path) -> tuple[dict[str, Process], dict[str, str], dict[str, str]]:
    """The processes of the libraries that are here, why others are not, and the versions of all."""
    workers: dict[str, Process] = {}
    missing: dict[str, str] = {}
    versions: dict[str, str] = {}
    for peer in peers:
        ours = peer in {LAB, FUNCTION}
        python = os.environ.get(f"PEER_PYTHON_{peer.upper()}", "")
        if small and not ours:
            missing[peer] = "the simulator runs this project alone"
        elif not ours and not python and find_spec(peer) is None:
            missing[peer] = "it is not installed"
        else:
            command = ["tests.benchmarks.gpu.worker", peer, "tiny" if small else "full"]
            worker = Process(Path(python or sys.executable), command, environment(caches), f"gpu-{peer}")
            try:
                said = worker.answer(LONGEST_START)
            except Gone as why:
                said = {"missing": str(why)}
            if "missing" in said:
                missing[peer] = said["missing"]
                worker.end()
            else:
                workers[peer] = worker
                versions.update(said["version"])
        if peer in missing:
            print(f"{PEERS[peer]} is left out: {missing[peer]}", flush=True)
    return workers, missing, versions


def measure_all(cases: list[str], peers: list[str], *, small: bool, seconds: float, each: float) -> dict[str, Any]:
    """Check and time cases; print them and the verdicts, and give back all figures."""
    end = time.perf_counter() + seconds
    with tempfile.TemporaryDirectory() as folder:
        workers, missing, versions = start(peers, small, Path(folder) / "caches")
        bench: dict[str, Any] = {"rows": {}, "left_out": missing, "versions": versions, "small": small}
        bench["wrong"] = [f"{PEERS[peer]}: {missing[peer]}" for peer in (LAB, FUNCTION) if peer in missing]
        try:
            if LAB in workers:
                bench.update(ask(workers[LAB], {"do": "bandwidth"}))
                print(f"copies on the GPU: {bench.get('bandwidth', 0) / 1e9:,.0f} GB/s, read and written", flush=True)
            for case in cases:
                rows = bench["rows"][case] = {}
                if time.perf_counter() > end:
                    print(f"{case:14} left out: no time left")
                    continue
                wanted = oracle(PROGRAMS[case], "tiny" if small else "check")
                for peer, worker in workers.items():
                    if peer not in PROGRAMS[case].apart and time.perf_counter() < end:
                        rows[peer] = one(worker, case, Path(folder) / f"{case}-{peer}.npz", wanted, each)
                        print(line(case, peer, rows[peer], None if small else bench.get("bandwidth")), flush=True)
                bench["wrong"] += [f"{case}, {PEERS[peer]}: {rows[peer]['missing']}"
                                   for peer in (LAB, FUNCTION) if "missing" in rows.get(peer, {})]  # fmt: skip
        finally:
            for worker in workers.values():
                worker.end()
    return judged(bench)


def judged(bench: dict[str, Any]) -> dict[str, Any]:
    """The figures with their verdicts, which are printed; tiny sizes have none."""
    bench["targets"] = [] if bench["small"] else verdicts(bench)
    for verdict in bench["targets"]:
        if bench["rows"].get(verdict["case"]) is not None:
            print(sentence(verdict))
    for sentence_of_it in bench["wrong"]:
        print(f"WRONG: {sentence_of_it}")
    return bench


def one(worker: Process, case: str, file: Path, wanted: list[Any], each: float) -> dict[str, Any]:
    """Check one library in one case, and time it if it is right."""
    said = ask(worker, {"do": "check", "case": case, "file": str(file)})
    if "missing" in said:
        return said
    off, why = error(PROGRAMS[case], file, wanted)
    if why:
        return {"missing": f"wrong: {why}", "error": off}
    return {"error": off, **ask(worker, {"do": "measure", "case": case, "seconds": each})}


def ask(worker: Process, question: dict[str, Any]) -> dict[str, Any]:
    """What a process answers; ``{"missing": why}`` if it ended or stays silent."""
    try:
        return worker.ask(question, LONGEST_CASE)
    except Gone as why:
        worker.end()
        return {"missing": str(why)}


def line(case: str, peer: str, row: dict[str, Any], bandwidth: float | None) -> str:
    """One figure for the terminal."""
    head = f"{case:14} {PEERS[peer]:13}"
    if "missing" in row:
        return f"{head} left out: {row['missing']}"
    time_of = row.get("device") or row["wall"]
    part = share(case, time_of["median"], bandwidth) if bandwidth else None
    return (
        f"{head} {seconds(time_of['median']):>9} ({seconds(time_of['low'])} to {seconds(time_of['high'])})"
        f"  wall {seconds(row['wall']['median']):>9}  first {seconds(row['first']):>8}"
        + (f"  {part:5.0%} of bandwidth" if part is not None else "")
        + (f"  peak {megabytes(row['peak'])}" if row.get("peak") is not None else "")
        + (f"  fallbacks={row['fallbacks']}" if row.get("fallbacks") else "")
    )
