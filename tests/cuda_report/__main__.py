"""``python -m tests.cuda_report``: compile every CUDA kernel and print the result, on any machine.

The status is 0 if every method has a kernel that compiles for all targets without spills and is tested; 1 if not; 2 if
kernels cannot be compiled.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from difflib import get_close_matches
from pathlib import Path

from tests.cuda_report import coverage, report, table
from tests.cuda_report.compiling import TARGETS, USUAL

FAILED, UNABLE = 1, 2


def main(arguments: list[str] | None = None) -> int:
    """Do what the command line says, and return the status."""
    parser = argparse.ArgumentParser(prog="python -m tests.cuda_report", description=(__doc__ or "").strip())
    parser.add_argument("--kernels", nargs="+", metavar="KERNEL", help="compile these alone; nothing else is checked")
    parser.add_argument(
        "--targets", nargs="+", choices=TARGETS, metavar="TARGET",
        help=f"compile for these of {', '.join(TARGETS)}; without it for {', '.join(USUAL)}, all for --write",
    )  # fmt: skip
    parser.add_argument("--write", type=Path, metavar="FILE", help="write the table as a page, docs/cuda_kernels.md")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures")
    given = parser.parse_args(arguments)
    why = report.unavailable()
    if why:
        print(f"No report: {why}", file=sys.stderr)
        return UNABLE
    unknown = set(given.kernels or ()) - set(report.kernels())
    if unknown:
        near = {name for word in unknown for name in get_close_matches(word, list(report.kernels()), 4, 0.5)}
        cure = ", ".join(sorted(near)) or "it without --kernels, which lists them"
        parser.error(f"there is no kernel {', '.join(sorted(unknown))}. Try {cure}.")
    if given.write and (given.kernels or given.targets):
        parser.error("--write makes a page of all kernels and targets. Try it without --kernels and --targets.")
    for file in (given.write, given.json):
        if file is not None and not file.absolute().parent.is_dir():
            parser.error(f"there is no folder {file.parent} to write into. Try to make it first.")
    targets = given.targets or (TARGETS if given.write else USUAL)
    return _report(given.kernels, tuple(targets), given.write, given.json)


def _report(chosen: list[str] | None, targets: tuple[str, ...], write: Path | None, figures: Path | None) -> int:
    begin = time.perf_counter()
    rows = report.compile_all(targets, chosen)
    errors = {row.error for row in rows}
    if rows and len(errors) == 1 and errors != {""}:
        print(f"No report: nothing compiles here. {errors.pop()}", file=sys.stderr)
        return UNABLE
    tests = coverage.methods_tested(coverage.FOLDER)
    listed = () if chosen else report.methods()
    known = [kernel for name, kernel in report.kernels().items() if not chosen or name in chosen]
    said = report.complaints(listed, known, rows, tests, targets)
    print(table.text(rows))
    took = f"compiled for {', '.join(targets)} in {time.perf_counter() - begin:.0f} s"
    print(f"\n{len(known)} kernels for {len(listed)} methods, {took}")
    if write and not said:
        write.write_text(table.page(rows, known, report.versions(), report.fingerprint()), encoding="utf-8")
    if figures:
        found = {
            "versions": report.versions(),
            "kernels": [_flat(row) for row in rows],
            "methods": {name: tests.get(name, []) for name in listed},
            "complaints": said,
        }
        figures.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    for sentence in said:
        print(sentence, file=sys.stderr)
    print("All is well." if not said else f"{len(said)} complaints, above.", file=sys.stderr if said else sys.stdout)
    return FAILED if said else 0


def _flat(row: report.Row) -> dict[str, object]:
    return {**{k: v for k, v in row._asdict().items() if k != "made"}, **(row.made._asdict() if row.made else {})}


if __name__ == "__main__":
    sys.exit(main())
