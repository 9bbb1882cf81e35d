"""Where each library is installed: a separate environment under ``.bench/``, created on demand.

``PEER_PYTHON_TORCH=path`` (or ``_JAX``, ``_AUTOGRAD``, ``_MICROGRAD``) names an interpreter that has the library
already.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.benchmarks.libraries import Peer
from tests.tree import ROOT

FOLDER = ROOT / ".bench"
"""What benchmarks leave behind; version control ignores it."""
LONGEST_INSTALL = 900


class NotThere(Exception):
    """A library that is not available here, and why."""


def interpreter(peer: Peer | Any) -> Path:
    """The interpreter that has a library; its environment is made if need be.

    Anything with a `title`, an `environment` and `packages` will do for a peer.

    Raises
    ------
    NotThere
        Where the library cannot be installed.
    """
    if not peer.environment:
        return Path(sys.executable)
    named = os.environ.get(f"PEER_PYTHON_{peer.environment.upper()}")
    if named:
        if not Path(named).is_file():
            raise NotThere(f"PEER_PYTHON_{peer.environment.upper()} names {named}, which is not a file")
        return Path(named).absolute()
    folder = FOLDER / "environments" / peer.environment
    python = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    stamp = folder / ".installed"
    wanted = "\n".join(peer.packages)
    if not stamp.is_file() or stamp.read_text(encoding="utf-8") != wanted:
        print(f"Installing {', '.join(peer.packages)} for {peer.title} ...", flush=True)
        # pip of this environment serves the new one, which so needs no pip and no ensurepip.
        _do(sys.executable, "-m", "venv", "--without-pip", str(folder))
        _do(sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet",
            "--disable-pip-version-check", *peer.packages)  # fmt: skip
        stamp.write_text(wanted, encoding="utf-8")
    return python


def _do(*command: str) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=LONGEST_INSTALL, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NotThere(f"it cannot be installed: {type(error).__name__}") from error
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["without a message"])[-1]
        raise NotThere(f"it cannot be installed: {last}")


ONE_THREAD = {
    **{f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL", "NUMEXPR", "VECLIB_MAXIMUM")},
    "AUTODIFF_LAB_THREADS": "1",
}
"""What a process must be started with: idle threads of a library wait in a loop, which counts as the program's time."""


def variables(caches: Path) -> dict[str, str]:
    """What every measured process sees: one thread, and caches that belong to this run."""
    return {
        **{name: value for name, value in os.environ.items() if not name.startswith("PYTEST")},
        **ONE_THREAD,
        "AUTODIFF_LAB_CACHE": str(caches / "autodiff_lab"),
        "NUMBA_CACHE_DIR": str(caches / "numba"),
        "TORCHINDUCTOR_CACHE_DIR": str(caches / "torch"),
        "JAX_PLATFORMS": "cpu",
        "PYTHONHASHSEED": "0",
    }
