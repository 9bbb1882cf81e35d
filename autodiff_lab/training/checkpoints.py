"""`Checkpoint`: the values of objects in a file, matched with objects by the attributes that lead to them."""

from __future__ import annotations

import logging
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

from autodiff_lab.engine.devices import device
from autodiff_lab.engine.variable import Variable
from autodiff_lab.errors import InvalidArgumentError, ShapeMismatch
from autodiff_lab.events.listener import unheard
from autodiff_lab.layers.module import arrived, await_values
from autodiff_lab.training.checkpoint_files import Content, file_of, fitted, read, write, written
from autodiff_lab.training.checkpoint_paths import KINDS, holds_any, walk
from autodiff_lab.training.checkpoint_states import note_latest

_LOG = logging.getLogger("autodiff_lab")


class Checkpoint:
    """A group of objects whose values are saved to a file and restored from it.

    Parameters
    ----------
    root : object, optional
        One whose attributes are saved as if they were the checkpoint's own.
    **objects
        Variables, modules, layers, models, optimizers with their state, metrics, random generators, other checkpoints,
        and lists and dicts of them. Each becomes an attribute.

    Raises
    ------
    InvalidArgumentError
        If an object cannot be saved.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> import pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> layer = lab.layers.Dense(1, kernel_initializer="ones")
    >>> _ = layer(lab.constant([[0.0, 0.0]]))
    >>> path = lab.train.Checkpoint(layer=layer).save(folder / "ckpt")

    The values arrive in objects of the same structure, also where their variables do not exist yet:

    >>> other = lab.layers.Dense(1)
    >>> status = lab.train.Checkpoint(layer=other).restore(path)
    >>> print(other(lab.constant([[1.0, 2.0]])))
    Tensor([[3.]], shape=(1, 1), dtype=float32)
    >>> _ = status.assert_consumed()
    """

    def __init__(self, root: object = None, **objects: object) -> None:
        self._root = root
        if root is not None:
            self._check("root", root)
        for name, value in objects.items():
            self._check(name, value)
            setattr(self, name, value)
        self._counter: Variable | None = None

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        if not name.startswith("_"):
            arrived(self)

    @staticmethod
    def _check(name: str, value: Any) -> None:
        if not holds_any(value):
            raise InvalidArgumentError(
                f"Checkpoint: {name} is a {type(value).__name__}, which has nothing to save. Try {KINDS}; a number "
                "becomes a lab.Variable."
            )

    def checkpointed(self) -> Iterator[tuple[str, object]]:
        """Yield the objects by name."""
        if self._root is not None:
            yield "", self._root
        yield from ((name, value) for name, value in vars(self).items() if not name.startswith("_"))
        if self._counter is not None:
            yield "save_counter", self._counter

    @property
    def save_counter(self) -> Variable:
        """How many times `save` was called; it is saved too."""
        if self._counter is None:
            with device("/CPU:0"):
                self._counter = Variable(0, False, dtype="int64", name="save_counter")
        return self._counter

    def __repr__(self) -> str:
        return f"<Checkpoint of {', '.join(name or 'root' for name, _ in self.checkpointed()) or 'nothing'}>"

    def save(self, file_prefix: str | Path, options: object = None) -> str:
        """Write the values to a file whose name is numbered, and note it in the folder as the latest.

        Parameters
        ----------
        file_prefix : str or Path
            ``"folder/ckpt"`` writes ``folder/ckpt-1.npz``, then ``folder/ckpt-2.npz``. The folder is made.
        options : object, optional
            Without effect, for programs written for TensorFlow.

        Returns
        -------
        str
            The path to restore from, ``"folder/ckpt-1"``.

        Raises
        ------
        ConversionError
            If a variable holds strings.
        """
        self.save_counter.assign_add(1)
        path = self.write(f"{file_prefix}-{int(self.save_counter)}")
        note_latest(path)
        return path

    def write(self, file_prefix: str | Path, options: object = None) -> str:
        """Write the values to a file, ``file_prefix.npz``, without numbering it; return the path to read from."""
        found = walk(self)
        write(file_prefix, written({path: value.read() for path, value in found.values.items()}, found.also))
        return str(file_prefix)

    def restore(self, save_path: str | Path | None, options: object = None) -> CheckpointLoadStatus:
        """Read the values of a file that `save` wrote; those of variables that do not exist yet follow when they do.

        Layers get their values when they are built, optimizers when they make their state. What is in memory already
        is changed all at once or, if something does not fit, not at all.

        Parameters
        ----------
        save_path : str or Path, optional
            As `save` returned it; with None nothing happens.
        options : object, optional
            Without effect, for programs written for TensorFlow.

        Returns
        -------
        CheckpointLoadStatus
            Its methods check whether everything was found.

        Raises
        ------
        FileNotFoundError
            If there is no such file.
        ConversionError
            If the file is damaged, or is not a checkpoint.
        ShapeMismatch
            If a value has another shape or dtype than its variable.
        """
        _ = self.save_counter  # so that it is restored
        return self.read(save_path)

    def read(self, save_path: str | Path | None, options: object = None) -> CheckpointLoadStatus:
        """Read the values of a file that `write` wrote; as `restore`, which also reads `save_counter`."""
        if save_path is None:
            return CheckpointLoadStatus(self, Content({}, {}), None)
        return CheckpointLoadStatus(self, read(save_path), str(file_of(save_path)))


class CheckpointLoadStatus:
    """What became of a file that was restored; made by `Checkpoint.restore` and `Checkpoint.read`.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> import pathlib, tempfile
    >>> path = lab.train.Checkpoint(w=lab.Variable(1.0)).write(pathlib.Path(tempfile.mkdtemp()) / "state")
    >>> status = lab.train.Checkpoint(w=lab.Variable(0.0), b=lab.Variable(0.0)).read(path)
    >>> status.assert_consumed()
    Traceback (most recent call last):
        ...
    AssertionError: restore: b is not in ...state.npz.
    """

    def __init__(self, root: Checkpoint, content: Content, path: str | None) -> None:
        self._root, self._content, self._path = root, content, path
        self._unused = dict.fromkeys(content.arrays)
        self._met: set[str] = set()
        self._silent: list[bool] = []
        self._update()
        weakref.finalize(self, _report_unused, self._unused, self._silent, path)

    def _update(self) -> None:
        """Give their values to the objects that have become reachable."""
        found = walk(self._root)
        changes: list[tuple[str, Any, Any]] = []
        for path, value in found.values.items():
            if path in self._met:
                continue
            key = self._content.key(path)
            if key not in self._content.arrays:
                continue
            array = fitted(self._content.arrays[key], value.read())
            if not value.takes(array):
                raise ShapeMismatch(
                    f"restore: {path} is {array.dtype}{list(array.shape)} in {self._path}, but "
                    f"{value.read().dtype}{list(value.read().shape)} here. No value was changed."
                )
            changes.append((path, value, array))
        with unheard():
            for path, value, array in changes:
                value.change(array)
                self._met.add(path)
                self._unused.pop(self._content.key(path), None)
        for owner in found.owners:
            await_values(owner, self._update, bool(self._unused) and not getattr(owner, "built", False))

    def _missing(self) -> list[str]:
        """Return the paths of values that exist and are not in the file."""
        return [path for path in walk(self._root).values if path not in self._met]

    def assert_consumed(self) -> Self:
        """Check that every value of the file was used, and that every value that exists was in the file.

        Raises
        ------
        AssertionError
            If not; the message names them.
        """
        self.assert_existing_objects_matched()
        if self._unused:
            raise AssertionError(f"restore: no object uses {_listed(self._unused)} of {self._path} yet.")
        return self

    def assert_existing_objects_matched(self) -> Self:
        """Check that every value that exists was in the file; others may be in it as well.

        Raises
        ------
        AssertionError
            If not; the message names them.
        """
        if self._path is None:
            raise AssertionError("restore: there was no checkpoint to restore.")
        self._update()
        missing = self._missing()
        if missing:
            raise AssertionError(f"restore: {_listed(missing)} not in {self._path}.")
        return self

    def assert_nontrivial_match(self) -> Self:
        """Check that something besides the checkpoint itself was found in the file.

        Raises
        ------
        AssertionError
            If not.
        """
        if self._path is None or not self._met - {"save_counter"}:
            raise AssertionError(f"restore: nothing here has a value in {self._path}.")
        return self

    def expect_partial(self) -> Self:
        """Say that values of the file may remain unused, so that no message is logged about them."""
        self._silent.append(True)
        return self

    def __repr__(self) -> str:
        return f"<CheckpointLoadStatus {self._path}: {len(self._met)} values restored, {len(self._unused)} unused>"


def _listed(names: Any) -> str:
    names = list(names)
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    return ", ".join(names[:5]) + more + (" is" if len(names) == 1 else " are")


def _report_unused(unused: dict[str, None], silent: list[bool], path: str | None) -> None:
    """Log what was never used, when nothing can use it any more."""
    left = [name for name in unused if name != "save_counter"]
    if left and not silent:
        _LOG.warning(
            "restore: %s in %s, and no object used it. Call expect_partial() on what restore returns if that is "
            "intended.",
            _listed(left),
            path,
        )
