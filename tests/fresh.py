"""Fresh environments below ``build/`` for what the development environment does not hold: other people's tools.

`environment` makes one and keeps it until its packages change; `wheel` builds the package.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import venv
from collections.abc import Iterable
from pathlib import Path

from tests.tree import ROOT


def run(*command: str | Path, folder: Path = ROOT) -> str:
    """Run a command in `folder` and return what it printed; end with its output if it fails."""
    done = subprocess.run(list(map(str, command)), cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


def environment(home: Path, packages: Iterable[str]) -> Path:
    """Return the folder of commands of an environment at `home` with these packages; it is made if it is not there."""
    commands, stamp = home / "bin", home / "packages.txt"
    wanted = "\n".join(packages)
    if not stamp.exists() or stamp.read_text("utf-8") != wanted:
        venv.create(home, with_pip=True, clear=True)
        run(commands / "python", "-m", "pip", "install", "--quiet", *wanted.splitlines())
        stamp.write_text(wanted, "utf-8")
    return commands


def wheel(folder: Path) -> Path:
    """Build the package's wheel into `folder`, without those of earlier builds; return its path."""
    shutil.rmtree(folder, ignore_errors=True)
    run(sys.executable, "-m", "build", "--wheel", "--outdir", folder, ROOT)
    (path,) = folder.glob("*.whl")
    return path
