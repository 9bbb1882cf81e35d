"""Which checkpoints a folder holds: the newest one, and a manager that keeps some and deletes the others.

The list is the file ``checkpoint.json`` in the folder. Its names are checked, since files are deleted by it.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from autodiff_lab.errors import ConversionError, InvalidArgumentError
from autodiff_lab.training.checkpoint_files import file_of

if TYPE_CHECKING:
    from autodiff_lab.engine.variable import Variable
    from autodiff_lab.training.checkpoints import Checkpoint

STATE = "checkpoint.json"


def _is_name(value: Any) -> bool:
    """Return whether a value names a file and no folder on the way to it."""
    return isinstance(value, str) and value not in ("", ".", "..") and Path(value).name == value


def _names(folder: Path) -> list[str]:
    """Return the names of the checkpoints in a folder, the newest last."""
    file = folder / STATE
    try:
        names = json.loads(file.read_text(encoding="utf-8"))["all"]
        if not isinstance(names, list) or not all(map(_is_name, names)):
            raise ValueError("its names are not names of files")
    except FileNotFoundError:
        return []
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise ConversionError(
            f"{file} is damaged, or is not a list of checkpoints ({error}). Try deleting it."
        ) from None
    return names


def _note(folder: Path, names: list[str]) -> None:
    temporary = folder / (STATE + ".part")
    temporary.write_text(json.dumps({"all": names}, indent=1), encoding="utf-8")
    temporary.replace(folder / STATE)


def note_latest(path: str | Path) -> None:
    """Note a checkpoint as the newest one of its folder."""
    folder, name = Path(path).parent, Path(path).name
    _note(folder, [*(other for other in _names(folder) if other != name), name])


def _present(folder: Path) -> list[str]:
    return [str(folder / name) for name in _names(folder) if file_of(folder / name).exists()]


def latest_checkpoint(checkpoint_dir: str | Path, latest_filename: str | None = None) -> str | None:
    """Return the path of the newest checkpoint that `Checkpoint.save` wrote to a folder; None if there is none.

    Parameters
    ----------
    checkpoint_dir : str or Path
        The folder.
    latest_filename : str, optional
        Without effect, for programs written for TensorFlow.

    Raises
    ------
    ConversionError
        If the list in the folder is damaged.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> import pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> print(lab.train.latest_checkpoint(folder))
    None
    >>> checkpoint = lab.train.Checkpoint(w=lab.Variable(1.0))
    >>> _ = checkpoint.save(folder / "ckpt"), checkpoint.save(folder / "ckpt")
    >>> pathlib.Path(lab.train.latest_checkpoint(folder)).name
    'ckpt-2'
    """
    present = _present(Path(checkpoint_dir))
    return present[-1] if present else None


class CheckpointManager:
    """Saves a checkpoint to a folder again and again, and deletes the oldest files.

    Parameters
    ----------
    checkpoint : Checkpoint
        What is saved.
    directory : str or Path
        The folder; it is made.
    max_to_keep : int, optional
        How many files are kept; None keeps all.
    keep_checkpoint_every_n_hours : float, optional
        A file that is this much younger than the last one kept so is never deleted.
    checkpoint_name : str
        What the names of the files begin with.
    step_counter : Variable, optional
        The number of steps, for `checkpoint_interval`.
    checkpoint_interval : int, optional
        `save` does nothing before so many steps have passed since the last time.
    init_fn : callable, optional
        What `restore_or_initialize` calls if there is no file.

    Raises
    ------
    InvalidArgumentError
        If `max_to_keep` is not positive, or an interval is given without a counter.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> import pathlib, tempfile
    >>> w = lab.Variable(1.0)
    >>> manager = lab.train.CheckpointManager(lab.train.Checkpoint(w=w), tempfile.mkdtemp(), max_to_keep=2)
    >>> for _ in range(3):
    ...     path = manager.save()
    >>> [pathlib.Path(name).name for name in manager.checkpoints]
    ['ckpt-2', 'ckpt-3']
    >>> status = manager.checkpoint.restore(manager.latest_checkpoint)
    """

    def __init__(self, checkpoint: Checkpoint, directory: str | Path, max_to_keep: int | None,
                 keep_checkpoint_every_n_hours: float | None = None, checkpoint_name: str = "ckpt",
                 step_counter: Variable | int | None = None, checkpoint_interval: int | None = None,
                 init_fn: Callable[[], object] | None = None) -> None:  # fmt: skip
        if max_to_keep is not None and max_to_keep < 1:
            raise InvalidArgumentError(f"CheckpointManager: max_to_keep must be positive or None, got {max_to_keep}.")
        if checkpoint_interval is not None and step_counter is None:
            raise InvalidArgumentError("CheckpointManager: checkpoint_interval needs step_counter, a lab.Variable.")
        if not _is_name(checkpoint_name):
            raise InvalidArgumentError(f"CheckpointManager: {checkpoint_name!r} is not the beginning of a file's name.")
        self.checkpoint, self.directory = checkpoint, str(directory)
        self.max_to_keep, self.checkpoint_interval = max_to_keep, checkpoint_interval
        self._hours, self._name, self._steps, self._begin = (
            keep_checkpoint_every_n_hours, checkpoint_name, step_counter, init_fn,
        )  # fmt: skip
        self._saved_at: int | None = None
        self._kept_at = time.time()

    def __repr__(self) -> str:
        return f"<CheckpointManager of {self.directory}: {len(self.checkpoints)} files>"

    @property
    def checkpoints(self) -> list[str]:
        """Paths of the files that exist, the newest last."""
        return _present(Path(self.directory))

    @property
    def latest_checkpoint(self) -> str | None:
        """Path of the newest file."""
        return latest_checkpoint(self.directory)

    def save(
        self, checkpoint_number: int | None = None, check_interval: bool = True, options: object = None
    ) -> str | None:
        """Save the checkpoint, and delete files that are too many; return its path, or None if it is not time yet.

        Parameters
        ----------
        checkpoint_number : int, optional
            The number of the file, instead of `save_counter`.
        check_interval : bool
            Whether `checkpoint_interval` applies.
        options : object, optional
            Without effect, for programs written for TensorFlow.
        """
        step = None if self._steps is None else int(self._steps)
        since = None if step is None or self._saved_at is None else step - self._saved_at
        if check_interval and self.checkpoint_interval and since is not None and since < self.checkpoint_interval:
            return None
        self._saved_at = step
        prefix = Path(self.directory) / self._name
        if checkpoint_number is None:
            path = self.checkpoint.save(prefix)
        else:
            self.checkpoint.save_counter.assign_add(1)
            path = self.checkpoint.write(f"{prefix}-{int(checkpoint_number)}")
            note_latest(path)
        self._sweep()
        return path

    def _sweep(self) -> None:
        """Delete the oldest files that are too many, except those kept for good."""
        folder, names = Path(self.directory), _names(Path(self.directory))
        while self.max_to_keep is not None and len(names) > self.max_to_keep:
            name = names.pop(0)
            file = file_of(folder / name)
            written = file.stat().st_mtime if file.exists() else 0.0
            if self._hours is not None and written - self._kept_at >= self._hours * 3600:
                self._kept_at = written
            else:
                file.unlink(missing_ok=True)
        _note(folder, names)

    def restore_or_initialize(self) -> str | None:
        """Restore the newest file; without one call `init_fn`. Return the path that was restored."""
        path = self.latest_checkpoint
        if path is not None:
            self.checkpoint.restore(path)
            if self._steps is not None:
                self._saved_at = int(self._steps)
        elif self._begin is not None:
            self._begin()
        return path
