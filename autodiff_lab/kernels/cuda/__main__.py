"""``python -m autodiff_lab.kernels.cuda --report``: compile every CUDA kernel and say what came out, on any machine.

The status is 0 if every method is served by a kernel, compiled for all targets, without spills and tested; 1 if not;
2 where kernels cannot be compiled.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from difflib import get_close_matches
from pathlib import Path

from autodiff_lab.kernels.cuda import report

FAILED, UNABLE = 1, 2


def main(arguments: list[str] | None = None) -> int:
    """Do what the command line says, and return the status."""
    parser = argparse.ArgumentParser(prog="python -m autodiff_lab.kernels.cuda", description=(__doc__ or "").strip())
    parser.add_argument("--report", action="store_true", help="compile all kernels and print the table")
    parser.add_argument("--write", type=Path, metavar="FILE", help="write the table as a page, docs/cuda_kernels.md")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures")
    parser.add_argument("--kernels", nargs="*", metavar="KERNEL", help="compile these alone; nothing else is checked")
    given = parser.parse_args(arguments)
    if not given.report:
        if given.write or given.json or given.kernels is not None:
            parser.error("--write, --json and --kernels say something about a report. Try --report with them.")
        parser.print_help()
        return 0
    why = report.unavailable()
    if why:
        print(f"No report: {why}", file=sys.stderr)
        return UNABLE
    unknown = set(given.kernels or ()) - set(report.kernels())
    if unknown:
        near = {name for word in unknown for name in get_close_matches(word, list(report.kernels()), 4, 0.5)}
        cure = ", ".join(sorted(near)) or "--report alone, which lists them"
        parser.error(f"there is no kernel {', '.join(sorted(unknown))}. Try {cure}.")
    if given.kernels and given.write:
        parser.error("--write makes a page of all kernels, and --kernels names some. Try one of the two.")
    for file in (given.write, given.json):
        if file is not None and not file.absolute().parent.is_dir():
            parser.error(f"there is no folder {file.parent} to write into. Try to make it first.")
    return _report(given.kernels, given.write, given.json)


def _report(chosen: list[str] | None, write: Path | None, figures: Path | None) -> int:
    from autodiff_lab.kernels.cuda import compile_table, coverage

    begin = time.perf_counter()
    rows = report.compile_all(chosen)
    errors = {row.error for row in rows}
    if rows and len(errors) == 1 and errors != {""}:
        print(f"No report: nothing compiles here. {errors.pop()}", file=sys.stderr)
        return UNABLE
    folder = coverage.tests_folder()
    tests = None if folder is None else coverage.methods_tested(folder)
    listed = () if chosen else report.methods()
    known = [kernel for name, kernel in report.kernels().items() if not chosen or name in chosen]
    said = report.complaints(listed, known, rows, tests)
    print(compile_table.table(rows))
    print(f"\n{len(known)} kernels for {len(listed)} methods, compiled in {time.perf_counter() - begin:.0f} s")
    if tests is None:
        print("There is no folder tests/simulated beside the package: whether methods are tested was not looked at.")
    if write:
        serves = {kernel.name: kernel.serves for kernel in known}
        modules = {kernel.name: kernel.function.__module__.rpartition(".")[2] for kernel in known}
        write.write_text(compile_table.page(rows, report.versions(), serves, modules), encoding="utf-8")
    if figures:
        found = {
            "versions": report.versions(),
            "kernels": [_flat(row) for row in rows],
            "methods": {name: (tests or {}).get(name, []) for name in listed},
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
