"""``autodiff-lab results``: count what a class has solved, from its progress files, without names."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any


def add(commands: Any) -> None:
    """Describe the arguments."""
    parser = commands.add_parser(
        "results",
        help="count what a class has solved, from a folder of progress files, without names",
        allow_abbrev=False,
        description="Count solved exercises and misconceptions in the progress files of a class. Nothing that could "
        "tell who answered is printed or written; files that cannot be read are named and left as they are.",
    )
    parser.add_argument("paths", nargs="+", type=Path, metavar="FOLDER", help="a folder of progress files, or files")
    parser.add_argument("--csv", type=Path, metavar="FILE", help="write the counts as a table")
    parser.add_argument("--svg", type=Path, metavar="FILE", help="write a picture of them")


def run(options: argparse.Namespace, rest: Sequence[str]) -> int:
    """Print the counts and write what was asked for; the status is 1 if no file could be counted."""
    from autodiff_lab import lessons
    from autodiff_lab.errors import InvalidArgumentError

    if rest:
        print(f"autodiff-lab results takes folders, --csv and --svg, not {' '.join(rest)}", file=sys.stderr)
        return 2
    try:
        found = lessons.class_results(options.paths)
        if options.csv:
            found.to_csv(options.csv)
        if options.svg:
            options.svg.write_text(found.picture().svg, encoding="utf-8")
    except (InvalidArgumentError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    print(found.account())
    for path, why in found.skipped.items():
        print(f"not counted: {path}: {why}", file=sys.stderr)
    return 0 if found.learners else 1
