"""``python -m tests.benchmarks``, or `make bench`: measure, print, and write docs/performance.md.

Without arguments all rows and libraries are measured and the page is written.  ``--cases``, ``--peers`` and
``--probes`` select some (a program's name stands for its sizes), and then nothing is written unless ``--write`` is
given, which replaces the figures of the selected rows.  ``--resume`` goes on where a run was broken off.  ``--check``
compares values and times nothing; ``--page`` writes the page and the picture again from the stored figures.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import time
from pathlib import Path

from tests.benchmarks import machine, page, picture, probes, standing
from tests.benchmarks.cases import CASES, IMPORT
from tests.benchmarks.catalog import NAMES
from tests.benchmarks.check import WrongResult, error, oracle, prepare
from tests.benchmarks.environments import FOLDER, NotThere, interpreter
from tests.benchmarks.figures import Figures, as_json, merged
from tests.benchmarks.libraries import PEERS
from tests.benchmarks.programs import PROGRAMS, TESTED
from tests.benchmarks.programs.numeric import Numeric
from tests.benchmarks.rounds import Plan, measured

FIGURES = Path(__file__).parent / "figures.json"


def arguments() -> argparse.Namespace:
    """What the command line says."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__.split("\n\n")[1])
    parser.add_argument("--cases", nargs="*", metavar="ROW", help=f"some of: {' '.join([*CASES, IMPORT, *TESTED])}")
    parser.add_argument("--peers", nargs="*", metavar="PEER", help=f"some of: {' '.join(PEERS)}")
    parser.add_argument("--probes", nargs="*", metavar="PROBE", help=f"some of: {' '.join(probes.PROBES)}")
    parser.add_argument("--rounds", type=int, default=5, help="turns of each library (5)")
    parser.add_argument("--seconds", type=float, default=0.3, help="of each turn (0.3)")
    parser.add_argument("--longest", type=float, default=Plan.longest, help="seconds until a program must run (75)")
    parser.add_argument(
        "--core", type=int, default=machine.last_core(), help="the processor core to keep to (the last)"
    )
    parser.add_argument("--remark", help="a sentence about this run for the page")
    parser.add_argument("--write", action="store_true", help="keep the figures and write the page, also of a part")
    parser.add_argument("--resume", action="store_true", help="keep the rows of the run that was broken off")
    parser.add_argument("--check", action="store_true", help="compare values at small sizes, in this process")
    parser.add_argument("--page", action="store_true", help="write the page and the picture from the figures there are")
    args = parser.parse_args()
    args.part = any((args.cases, args.peers, args.probes))
    args.cases = [row for name in args.cases or () for row in rows_of(name)] or ([] if args.probes else list(NAMES))
    args.probes = list(probes.PROBES) if not args.part else args.probes or []
    args.peers = args.peers or list(PEERS)
    for given, known in ((args.cases, NAMES), (args.peers, PEERS), (args.probes, probes.PROBES)):
        for name in given:
            if name not in known:
                parser.error(f"{name} is not known; there are: {' '.join(known)}")
    return args


def rows_of(name: str) -> list[str]:
    """A row, or all sizes of a program."""
    return [row for row, program in PROGRAMS.items() if program.program == name] or [name]


def check(cases: list[str], peers: list[str]) -> int:
    """Compare the values of this project's modes with the programs by hand, or with differences."""
    wrong = 0
    for name in dict.fromkeys(PROGRAMS[name].program if name in PROGRAMS else name for name in cases if name != IMPORT):
        case = TESTED[name] if name in TESTED else CASES[name]
        data = case.data(small=True)
        wanted = oracle(case, data, Numeric() if name in TESTED else None)
        for peer in peers:
            library = None if PEERS[peer].environment else PEERS[peer].library()
            if library is None or not case.offered_by(library.family):
                continue
            try:
                off = error(case, library, prepare(case, library, data), wanted)
                print(f"{name:20} {PEERS[peer].title:14} error {off:.1e}")
            except WrongResult as why:
                wrong += 1
                print(f"{name:20} {PEERS[peer].title:14} WRONG: {why}")
    return wrong


def homes(peers: list[str]) -> dict[str, Path]:
    """The interpreters of the libraries that can be had; a line for each other."""
    found: dict[str, Path] = {}
    for name in peers:
        try:
            found[name] = interpreter(PEERS[name])
        except NotThere as why:
            print(f"{PEERS[name].title} is left out: {why}")
    return found


def run(args: argparse.Namespace) -> None:
    """Measure what was asked for, print it, and write it if that is wanted."""
    begin = time.perf_counter()
    plan = Plan(args.rounds, args.seconds, args.core, args.longest)
    stored = json.loads(FIGURES.read_text(encoding="utf-8")) if FIGURES.exists() else {}
    latest = FOLDER / ("part.json" if args.part else "latest.json")
    pythons = homes(args.peers) if args.cases else {}
    figures = begun(args, plan, latest)
    for name, rows in measured([name for name in args.cases if name not in figures["rows"]], pythons, plan):
        figures["rows"][name] = rows
        for peer, row in rows.items():
            if "version" in row:
                figures["peers"][peer] = row.pop("version")
            print(page.line(name, peer, row), flush=True)
        latest.write_text(as_json(figures), encoding="utf-8")
    for name in (name for name in args.probes if name not in figures["probes"]):
        figures["probes"][name] = probes.measure(name, plan)
        print("\n".join(page.probe_lines(name, figures["probes"][name])), flush=True)
        latest.write_text(as_json(figures), encoding="utf-8")
    print(f"{time.perf_counter() - begin:.0f} s in all; load {machine.load()} (above 1, other work was measured too)")
    print("\n".join(["Since the stored figures:", *standing.moved(stored, figures), *standing.left_out(figures)]))
    if args.write or not args.part:
        FIGURES.write_text(as_json(merged(stored if args.part else {}, figures)), encoding="utf-8")
        write()


def begun(args: argparse.Namespace, plan: Plan, latest: Path) -> Figures:
    """What to begin with: no figures, or those of a run that was broken off."""
    figures: Figures = {"machine": machine.about(), "rows": {}, "probes": {}, "peers": {}}
    figures["method"] = {"rounds": plan.rounds, "seconds": plan.seconds, "pinned": plan.core is not None,
                         "longest": plan.longest}  # fmt: skip
    if args.remark:
        figures["method"]["remark"] = args.remark
    FOLDER.mkdir(exist_ok=True)
    if args.resume and latest.exists():
        kept = json.loads(latest.read_text(encoding="utf-8"))
        return {**figures, **{part: kept[part] for part in ("rows", "probes", "peers")}}
    shutil.rmtree(FOLDER / "caches" / "programs", ignore_errors=True)
    return figures


def write() -> None:
    """Write the page, the table of the README and the pictures."""
    figures = json.loads(FIGURES.read_text(encoding="utf-8"))
    for path, text in page.pages(figures).items():
        path.write_text(text, encoding="utf-8")
        print(f"wrote {path.name}")
    for path in picture.draw(figures):
        print(f"wrote {path.name}")


if __name__ == "__main__":
    given = arguments()
    if given.check:
        sys.exit(check(given.cases, given.peers) > 0)
    write() if given.page else run(given)
