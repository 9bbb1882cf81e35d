"""Imports of what this package does not have, such as ``autodiff_lab.optim``: the error says what to use.

Python asks the finders in `sys.meta_path` in order.  The one here comes last, answers for this package alone, and finds
nothing: it only words the error.  Namespaces that are single files have an empty ``__path__`` so that it is asked.
"""

from __future__ import annotations

import sys


class Absent:
    """A finder that raises for the names listed in `autodiff_lab.absent`, and leaves all others to Python.

    Examples
    --------
    >>> from autodiff_lab.keras.callbacks import TensorBoard
    Traceback (most recent call last):
        ...
    ModuleNotFoundError: 'autodiff_lab.callbacks' has no 'TensorBoard'. Try the History of fit, or keras...
    """

    @staticmethod
    def find_spec(fullname: str, path: object = None, target: object = None) -> None:
        """Raise if the name is one that programs written for other packages import.

        Raises
        ------
        ModuleNotFoundError
            With what to use instead. Its `name` is the last part: ``from ... import`` drops the error otherwise.
        """
        home, _, name = fullname.rpartition(".")
        if home.partition(".")[0] == "autodiff_lab" and home in sys.modules:
            from autodiff_lab.absent import cure_for

            cure = cure_for(sys.modules[home].__name__, name)
            if cure:
                raise ModuleNotFoundError(f"{home!r} has no {name!r}. Try {cure}.", name=name)


def install() -> None:
    """Put the finder behind those of Python."""
    sys.meta_path.append(Absent)  # pyright: ignore[reportArgumentType] - it never returns a spec
