"""The files of the project, for the tests that read them as text."""

import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "autodiff_lab"
_LEFT_BEHIND = {".venv", ".git", "node_modules", "__pycache__", "build", "dist", ".hypothesis"}


def project_files() -> list[Path]:
    """Return every file that belongs to the project: what git tracks or would, else (an unpacked archive) a walk."""
    listing = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=ROOT,
        capture_output=True,
        check=False,
    )
    if listing.returncode == 0 and listing.stdout:
        found = {ROOT / name for name in listing.stdout.decode().split("\0") if name}
    else:
        found = {path for path in ROOT.rglob("*") if not _LEFT_BEHIND.intersection(path.parts)}
    return sorted(path for path in found if path.is_file())


def shown(path: Path) -> str:
    """Return a path as a reader types it: relative to the root, with forward slashes."""
    return path.relative_to(ROOT).as_posix()
