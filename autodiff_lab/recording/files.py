"""Writes files such that an interruption leaves the old file or the new one, and nothing in between."""

from __future__ import annotations

import os
import secrets
from pathlib import Path


def write_whole(path: Path, content: str | bytes) -> None:
    """Write a file atomically: to a neighbouring file first, which then takes its place.

    A target that is not a regular file, such as a pipe, is written directly.

    Parameters
    ----------
    path : Path
        Where to write it.
    content : str or bytes
        Text is written in UTF-8, with line feeds at the ends of lines on every system.

    Raises
    ------
    OSError
        If it cannot be written; a file that was there is unchanged.
    """
    data = content.encode() if isinstance(content, str) else content
    if path.exists() and not path.is_file() and not path.is_dir():
        path.write_bytes(data)
        return
    path = Path(os.path.realpath(path))  # a link stays a link
    beside = path.parent / f".{secrets.token_hex(8)}.part"
    handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        beside.replace(path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
