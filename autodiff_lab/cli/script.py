"""``autodiff-lab record``: run a script as Python would, under `record`, and write what its tapes did.

The script sees its own arguments, its folder on the import path, and itself as ``__main__``.  However it ends (an
exception, an interrupt or SIGTERM), what was recorded up to then is written where the command was given, and the exit
status is the script's.  `running` runs it, whatever it does to the process.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from autodiff_lab.cli.frameworks import framework_of, refusal
from autodiff_lab.cli.running import keep_lines, run_recorded, say
from autodiff_lab.errors import MissingPackage
from autodiff_lab.recording import Recording
from autodiff_lab.recording.files import write_whole

_DESCRIPTION = """\
Run a script and write what its tapes did. Arguments after the script that are not options listed below go to the
script; after a `--`, all of them do. Without an option the recording is printed.
"""


_FILES = ("html", "json", "svg", "png", "pdf", "to")
_TITLES = {"torch": "PyTorch"}


def add(commands: Any) -> None:
    """Describe the arguments."""
    parser = commands.add_parser(
        "record",
        help="run a script and write what its tapes did",
        description=_DESCRIPTION,
        allow_abbrev=False,
        usage="autodiff-lab record script.py [option ...] [argument ...]",
    )
    parser.add_argument("script", type=Path, help="a Python file")
    parser.add_argument("--html", type=Path, metavar="FILE", help="write a page that can be stepped through offline")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the recording for lab.load_recording")
    parser.add_argument("--svg", type=Path, metavar="FILE", help="write a picture of the graph")
    parser.add_argument("--png", type=Path, metavar="FILE", help="write the same picture in pixels")
    parser.add_argument("--pdf", type=Path, metavar="FILE", help="write the same picture as a page of its size")
    parser.add_argument(
        "--to",
        type=Path,
        metavar="FILE",
        help="write it while the script runs, for long scripts, one event a line: name it .jsonl",
    )
    parser.add_argument("--text", action="store_true", help="print the recording")
    parser.add_argument("--title", default="", help="heading of the page (default: the script's name)")


def run(options: argparse.Namespace, rest: Sequence[str]) -> int:
    """Run the script, then write what was requested."""
    path: Path = options.script
    problem = _problem(path, [getattr(options, name) for name in _FILES], options.to)
    if problem:
        print(f"autodiff-lab record: {problem}", file=sys.stderr)
        return 2
    here = Path.cwd()  # the script may go to another folder
    try:
        source = path.read_bytes()
        code = compile(source, str(path), "exec", dont_inherit=True)
        text = importlib.util.decode_source(source)
        keep_lines(path, text)
        framework = framework_of(text)
    except (SyntaxError, ValueError):
        traceback.print_exc(limit=0)
        return 1
    problem = refusal(framework, options.to is not None)
    if problem:
        print(f"autodiff-lab record: {problem}", file=sys.stderr)
        return 2
    process = os.getpid()
    to = None if options.to is None else here / options.to
    recording, status = run_recorded(code, path, list(rest), options.title or path.name, framework, to)
    if os.getpid() != process:
        return status  # a process that the script made by a fork: the recording is for its parent to write
    try:
        _write(recording, options, here)
    except BrokenPipeError:  # the reader, perhaps `head`, has closed the pipe
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except Exception as error:  # noqa: BLE001 - whatever stops the writing, the user is told in one line
        say(f"autodiff-lab record: could not write the recording: {error}")
        return status or 1
    return status


def _problem(script: Path, outputs: Sequence[Path | None], to: Path | None) -> str:
    """Return what is wrong with the files, before a long script runs in vain."""
    if not script.exists():
        return f"there is no file {script}."
    if script.is_dir():
        return f"{script} is a folder; name a Python file in it."
    for output in outputs:
        if output is not None and not output.parent.is_dir():
            return f"there is no folder {output.parent} to write {output.name} to."
        if output is not None and output.exists() and output.samefile(script):
            return f"{output} is the script itself; name another file to write to."
        if output is not None and output.is_dir():
            return f"{output} is a folder; name a file in it."
    if to is not None and to.suffix == ".json":
        lines = to.with_suffix(".jsonl")
        return f"{to} would not be JSON: --to writes one event a line. Try --to {lines}, or --json {to}."
    return ""


def _say_nothing_was_recorded(recording: Recording) -> None:
    title = _TITLES.get(recording.framework, "autodiff_lab")
    say(
        f"Nothing was recorded: the script ran no op of {title}, or ran them in threads or processes of its "
        "own, which are not recorded. Try lab.record() in the function that such a thread runs."
    )


def _write(recording: Recording, options: argparse.Namespace, here: Path) -> None:
    summary = repr(recording).partition(": ")[2].rstrip(">")
    if not recording.applications and recording.error is None:
        _say_nothing_was_recorded(recording)
    if options.html is not None:
        recording.to_html(here / options.html, title=recording.title)
        steps = "Open it in a browser and press the right arrow key." if recording.order else "It has no steps."
        say(f"{options.html}: {summary}. {steps}")
    if options.json is not None:
        recording.save(here / options.json)
    for name in filter(None, (options.json, options.to)):  # the second was written while the script ran
        say(f"{name}: {summary}. lab.load_recording reads it.")
    _write_pictures(recording, options, here, summary)
    printed = options.text or not any(getattr(options, name) for name in _FILES)
    if printed and not say(recording.to_text(), sys.stdout):
        say("autodiff-lab record: the script closed standard output, so the recording is not printed. Try --html.")


def _write_pictures(recording: Recording, options: argparse.Namespace, here: Path, summary: str) -> None:
    if options.svg is not None:
        write_whole(here / options.svg, recording.to_svg())
        say(f"{options.svg}: {summary}.")
    for picture, write in ((options.png, recording.to_png), (options.pdf, recording.to_pdf)):
        if picture is not None:
            try:
                write(here / picture)
            except MissingPackage as error:
                say(f"{picture} is not written. {error}")
            else:
                say(f"{picture}: {summary}.")
