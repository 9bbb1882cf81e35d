"""``autodiff-lab record``: run a script as Python would, under `record`, and write what its tapes did.

The script sees its own arguments, its folder on the import path, and itself as ``__main__``.  If it raises, what was
recorded until then is written all the same, the traceback is printed, and the exit status says that it failed.
"""

from __future__ import annotations

import argparse
import os
import sys
import traceback
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

from autodiff_lab.recording import Recording, record

_DESCRIPTION = """\
Run a script and write what its tapes did. What follows the script and is not an option below goes to the script; after
a `--`, everything does. Without an option the recording is printed.
"""


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
    parser.add_argument("--text", action="store_true", help="print the recording")
    parser.add_argument("--title", default="", help="heading of the page; the script's name if not given")


def run(options: argparse.Namespace, rest: Sequence[str]) -> int:
    """Run the script, then write what was asked for."""
    path: Path = options.script
    problem = _problem(path, [options.html, options.json, options.svg])
    if problem:
        print(f"autodiff-lab record: {problem}", file=sys.stderr)
        return 2
    try:
        code = compile(path.read_bytes(), str(path), "exec")
    except (SyntaxError, ValueError):
        traceback.print_exc(limit=0)
        return 1
    recording, status = run_recorded(code, path, list(rest), options.title or path.name)
    sys.stdout.flush()
    try:
        _write(recording, options)
    except BrokenPipeError:  # the reader, `head` perhaps, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except Exception as error:  # noqa: BLE001 - whatever stops the writing, the user is told in one line
        print(f"autodiff-lab record: could not write the recording: {error}", file=sys.stderr)
        return status or 1
    return status


def _problem(script: Path, outputs: Sequence[Path | None]) -> str:
    """What is wrong with the files, found before a long script runs in vain."""
    if not script.exists():
        return f"there is no file {script}."
    if not script.is_file():
        return f"{script} is a folder; name a Python file in it."
    for output in outputs:
        if output is not None and not output.parent.is_dir():
            return f"there is no folder {output.parent} to write {output.name} to."
        if output is not None and output.exists() and output.samefile(script):
            return f"{output} is the script itself; name another file to write to."
        if output is not None and output.is_dir():
            return f"{output} is a folder; name a file in it."
    return ""


def run_recorded(code: Any, path: Path, arguments: Sequence[str], title: str) -> tuple[Recording, int]:
    """Run the code of a script as ``__main__``; gives its recording and the exit status that Python would give."""
    module = ModuleType("__main__")
    module.__file__ = str(path)
    module.__dict__["__builtins__"] = __builtins__
    status = 0
    recording: Recording | None = None
    with _as_main(module, path, arguments):
        try:
            with record(title, namespace=module.__dict__) as recording:
                exec(code, module.__dict__)
        except SystemExit as stop:
            status = _status(stop)
        except BaseException as error:  # noqa: BLE001 - an interrupt, too, leaves what was recorded
            _print_traceback(error)
            status = 130 if isinstance(error, KeyboardInterrupt) else 1
    assert recording is not None
    return replace(recording, title=title), status


@contextmanager
def _as_main(module: ModuleType, path: Path, arguments: Sequence[str]) -> Generator[None]:
    saved = sys.argv, sys.path[:], sys.modules.get("__main__")
    sys.argv = [str(path), *arguments]
    sys.path.insert(0, str(path.resolve().parent))
    sys.modules["__main__"] = module
    try:
        yield
    finally:
        sys.argv, sys.path[:] = saved[0], saved[1]
        if saved[2] is not None:
            sys.modules["__main__"] = saved[2]


def _status(stop: SystemExit) -> int:
    if stop.code is None or isinstance(stop.code, int):
        return stop.code or 0
    print(stop.code, file=sys.stderr)
    return 1


def _print_traceback(error: BaseException) -> None:
    """The traceback as Python would print it: from the script on, without our frame."""
    first = error.__traceback__
    traceback.print_exception(error.with_traceback(first.tb_next if first is not None else None))


def _write(recording: Recording, options: argparse.Namespace) -> None:
    summary = repr(recording).partition(": ")[2].rstrip(">")
    if not recording.applications:
        print(
            "Nothing was recorded: the script ran no op of autodiff_lab, or ran them in threads, "
            "which are not heard. Try lab.record() in the function that a thread runs.",
            file=sys.stderr,
        )
    if options.text or not (options.html or options.json or options.svg):
        print(recording.to_text(), flush=True)
    if options.html is not None:
        recording.to_html(options.html, title=recording.title)
        print(f"{options.html}: {summary}. Open it in a browser and press the right arrow key.", file=sys.stderr)
    if options.json is not None:
        recording.save(options.json)
        print(f"{options.json}: {summary}. lab.load_recording reads it.", file=sys.stderr)
    if options.svg is not None:
        from autodiff_lab.recording.wire import write_whole

        write_whole(options.svg, recording.to_svg())
        print(f"{options.svg}: {summary}.", file=sys.stderr)
