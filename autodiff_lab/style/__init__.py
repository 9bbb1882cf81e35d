"""The look of the widgets for matplotlib figures: two style sheets and two ways to apply them.

``light.mplstyle`` and ``dark.mplstyle`` carry the colours of `autodiff_lab.draw.theme` (a test compares them), the same
line widths, and curves that differ in dashes as well as in colour, so that a figure can be printed in grey.  matplotlib
itself finds them too: ``plt.style.use("autodiff_lab.style.light")``.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path

from autodiff_lab.errors import MissingPackage

__all__ = ["context", "path", "use"]

THEMES = ("light", "dark")


def path(theme: str = "light") -> Path:
    """Return the style sheet of a theme.

    Parameters
    ----------
    theme : str
        ``"light"`` or ``"dark"``.

    Raises
    ------
    ValueError
        For another theme.

    Examples
    --------
    >>> from autodiff_lab import style
    >>> style.path("dark").name
    'dark.mplstyle'
    """
    if theme not in THEMES:
        raise ValueError(f"expected 'light' or 'dark' as theme, got {theme!r}.")
    return Path(__file__).parent / f"{theme}.mplstyle"


def use(theme: str = "light") -> None:
    """Apply the look of the widgets to every figure made from now on.

    Parameters
    ----------
    theme : str
        ``"light"`` or ``"dark"``.

    Raises
    ------
    ValueError
        For another theme.
    MissingPackage
        Where matplotlib is not installed.

    Examples
    --------
    >>> import matplotlib
    >>> from autodiff_lab import style
    >>> with matplotlib.rc_context():
    ...     style.use()
    ...     matplotlib.rcParams["legend.frameon"]
    False
    """
    _styles().use(path(theme))


def context(theme: str = "light") -> AbstractContextManager[None]:
    """Apply the look of the widgets to figures made inside a ``with`` block, and leave all others alone.

    Parameters
    ----------
    theme : str
        ``"light"`` or ``"dark"``.

    Raises
    ------
    ValueError
        For another theme.
    MissingPackage
        Where matplotlib is not installed.

    Examples
    --------
    >>> import matplotlib
    >>> from autodiff_lab import style
    >>> with style.context("dark"):
    ...     matplotlib.rcParams["figure.facecolor"]
    '#0d1117'
    """
    return _styles().context(path(theme))


def _styles():  # noqa: ANN202 - a module, imported late: `import autodiff_lab` must not load matplotlib
    try:
        import matplotlib.style as styles
    except ImportError as error:
        raise MissingPackage.of("The style", "matplotlib", "lab") from error
    return styles
