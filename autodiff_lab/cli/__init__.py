"""The command ``autodiff-lab``: open the lessons, record a script, report what works on this machine.

Each command is one module beside this one with two functions: `add` describes its arguments, `run` does the work and
returns the exit status.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from autodiff_lab.cli import doctor, lessons, results, script

_DESCRIPTION = """\
Record a computation, see its tape as a graph, and step through its gradient.

  autodiff-lab                                     open JupyterLab on the lessons
  autodiff-lab record script.py --html page.html   run a script and write what its tapes did
  autodiff-lab results folder                      count what a class has solved, without names
  autodiff-lab doctor                              what works on this machine, and how to get the rest
"""
_COMMANDS = {"lab": lessons, "record": script, "results": results, "doctor": doctor}


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    made = argparse.ArgumentParser(prog="autodiff-lab", description=_DESCRIPTION, allow_abbrev=False,
                                   formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--version", action="store_true", help="print the version and stop")
    commands = made.add_subparsers(dest="command", metavar="command", title="commands")
    for module in _COMMANDS.values():
        module.add(commands)
    return made


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line and return its exit status.

    Parameters
    ----------
    arguments : sequence of str, optional
        What follows ``autodiff-lab``; by default the arguments of this process.

    Examples
    --------
    >>> main(["--version"])
    autodiff_lab 0.1.0
    0
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    if not words or (words[0].startswith("-") and words[0] not in ("-h", "--help", "--version")):
        words = ["lab", *words]
    words, rest = _at_dashes(words)
    options, unknown = parser().parse_known_args(words)
    if options.version:
        from autodiff_lab import __version__

        print(f"autodiff_lab {__version__}")
        return 0
    if options.command == "doctor" and (unknown or rest):
        parser().error(f"doctor takes no arguments: {' '.join(unknown + rest)}")
    return _COMMANDS[options.command].run(options, [*unknown, *rest])


def _at_dashes(words: list[str]) -> tuple[list[str], list[str]]:
    """Split at ``--``: what comes before is ours, what comes after is for the script or JupyterLab."""
    if "--" not in words:
        return words, []
    position = words.index("--")
    return words[:position], words[position + 1:]
