"""``autodiff-lab``: open JupyterLab on the lessons.

In a checkout these are the files in ``notebooks/``.  An installed package keeps them among its own files, which
are not to be modified, so they are first copied to a folder of the user's; existing files are left alone.

JupyterLab starts with the defaults in ``jupyter/labconfig``: widgets are saved with a notebook, so that reopening
it shows the pictures and not "model not found". The user's own settings still take precedence.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

PACKAGE = Path(__file__).resolve().parent.parent
FOLDER = "autodiff_lab_lessons"
DEFAULTS = Path(__file__).resolve().parent / "jupyter"


def add(commands: Any) -> None:
    """Describe the arguments."""
    parser = commands.add_parser(
        "lab",
        help="open JupyterLab on the lessons (the default)",
        allow_abbrev=False,
        usage="autodiff-lab [lab] [--folder FOLDER] [--language LANGUAGE] [argument of jupyterlab ...]",
        description="Open JupyterLab on the lessons. Other arguments, such as --no-browser, go to JupyterLab.",
    )
    parser.add_argument(
        "--folder",
        type=Path,
        metavar="FOLDER",
        help=f"where an installed package copies the lessons to (default: ~/{FOLDER})",
    )
    parser.add_argument("--language", metavar="LANGUAGE", help="open the first lesson in another language, such as de")


def run(options: argparse.Namespace, rest: Sequence[str]) -> int:
    """Find the lessons and start JupyterLab; return its exit status."""
    if find_spec("jupyterlab") is None:
        print(f"JupyterLab is not installed. Try: {sys.executable} -m pip install 'autodiff-lab[lab]'", file=sys.stderr)
        return 1
    source = find_lessons(PACKAGE)
    if source is None:
        print("No lessons were found beside this package. Is the installation complete?", file=sys.stderr)
        return 1
    try:
        folder = writable_lessons(source, options.folder)
    except OSError as error:
        print(f"The lessons could not be copied: {error}. Try --folder with a folder of your own.", file=sys.stderr)
        return 1
    known = sorted({path.parent.name for path in folder.glob("[a-z][a-z]/*.ipynb")})
    if options.language not in (None, "en", *known):
        print(f"The lessons are not translated into {options.language!r}. Try: en, {', '.join(known)}", file=sys.stderr)
        return 1
    command = jupyter_command(folder, rest, "" if options.language == "en" else options.language or "")
    print(f"Lessons: {folder}", file=sys.stderr)
    return _wait(subprocess.Popen(command, cwd=folder, env=environment()))


def _wait(process: subprocess.Popen[bytes]) -> int:
    """Wait for JupyterLab to end; it handles Ctrl-C itself, by asking back and stopping its kernels."""
    while True:
        try:
            return process.wait()
        except KeyboardInterrupt:
            continue


def find_lessons(package: Path) -> Path | None:
    """Return the folder with the notebooks: that of a checkout, else the copy inside an installed package."""
    for folder in (package.parent / "notebooks", package / "_notebooks"):
        if any(folder.glob("*.ipynb")):
            return folder
    return None


def writable_lessons(source: Path, folder: Path | None = None) -> Path:
    """Return the folder in which the lessons are opened; those of an installed package are copied there.

    Parameters
    ----------
    source : Path
        As returned by `find_lessons`.
    folder : Path, optional
        Where to copy the lessons to, also from a checkout.

    Raises
    ------
    OSError
        If the folder cannot be written.
    """
    installed = source.name == "_notebooks"
    if folder is None and not installed and os.access(source, os.W_OK):
        return source
    target = (folder or Path.home() / FOLDER).expanduser().resolve()
    for file in sorted(source.rglob("*")):
        copy = target / file.relative_to(source)
        hidden = any(part.startswith((".", "__")) for part in file.relative_to(source).parts)
        if file.is_file() and not hidden and not copy.exists():
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, copy)
    return target


def environment() -> dict[str, str]:
    """Return the environment that JupyterLab starts in: this one, with our defaults as a fallback for its settings."""
    known = os.environ.get("JUPYTER_CONFIG_PATH")
    return {**os.environ, "JUPYTER_CONFIG_PATH": os.pathsep.join([*([known] if known else []), str(DEFAULTS)])}


def jupyter_command(folder: Path, rest: Sequence[str], language: str = "") -> list[str]:
    """Return the command that opens JupyterLab on the first lesson of a language; root needs an extra option."""
    first = min((folder / language).glob("*.ipynb"), default=None)
    root = getattr(os, "geteuid", lambda: 1)() == 0 and "--allow-root" not in rest
    return [
        sys.executable,
        "-m",
        "jupyterlab",
        *(["--allow-root"] if root else []),
        *rest,
        *([first.relative_to(folder).as_posix()] if first is not None else []),
    ]
