"""Golf on a valley, the game of lesson 12: the ball rolls along minus the gradient, the player chooses how far."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextvars import Context
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np

import autodiff_lab as lab
from autodiff_lab.draw.golf import Green
from autodiff_lab.errors import ConversionError, InvalidArgumentError, MissingPackage, NotCallable
from autodiff_lab.exploring.curves import own_name
from autodiff_lab.exploring.surfaces import value_at

if TYPE_CHECKING:
    from autodiff_lab.widgets.golf import Golf

_TRIED = ((0.0, 0.0), (1.0, 0.0), (0.0, 1.0), (-3.0, 2.0), (0.7, -4.1))
"""Points at which a function must behave as a quadratic does."""
_CURVATURES = (2, 3, 4, 5, 6, 8, 10)


def valley(p: Any) -> Any:
    """Return ½(x² + 10y²), the valley of the lesson.

    Examples
    --------
    >>> valley([10.0, 1.0])
    55.0
    """
    return 0.5 * (p[0] * p[0] + 10.0 * p[1] * p[1])


def golf(
    f: Callable[[Any], Any] | None = None, start: Sequence[float] = (10.0, 1.0), *, name: str | None = None
) -> Golf:  # fmt: skip
    """Open a game of golf: each stroke goes along minus the gradient of f, and the player chooses its length h.

    The next three strokes are shown before they are played, and a second player can be switched on who always takes the
    same length.  Two bars show what a stroke multiplies the error by along each curvature.

    Parameters
    ----------
    f : callable, optional
        Of one Tensor of shape (2,): a quadratic with one lowest point.  By default ½(x² + 10y²).
    start : pair of float
        Where the ball lies at first.
    name : str, optional
        What is shown of f; by default the name of the function, or f.

    Returns
    -------
    Golf
        A widget; ``.to_html(path)`` writes the game as a page that needs no kernel, ``.strokes`` is what was played.

    Raises
    ------
    NotCallable
        If f is not a function.
    InvalidArgumentError
        If f is not a quadratic with one lowest point, or the start is not a pair of finite numbers.
    MissingPackage
        Where anywidget is not installed.

    Examples
    --------
    >>> from autodiff_lab import lessons
    >>> game = lessons.golf()
    >>> game.play(1.0)
    >>> game.play(0.1)
    >>> print(game.account())
    Golf on ½(x² + 10y²) from (10, 1), par 3
      stroke 1: 1 to (0, -9), f = 405
      stroke 2: 0.1 to (0, 0), f = 0
    In the hole after 2 strokes, 1 under par.
    """
    if f is not None and not callable(f):
        raise NotCallable(f"f: expected a function, got {type(f).__name__}. Try lambda p: p[0] ** 2 + 5 * p[1] ** 2.")
    try:
        tee = np.asarray(start, dtype=float)
    except (TypeError, ValueError) as error:
        raise ConversionError(f"start: expected two numbers, got {start!r}.") from error
    if tee.shape != (2,) or not np.isfinite(tee).all():
        raise InvalidArgumentError(f"start: expected two finite numbers, got {start!r}. Try (10, 1).")
    hessian, hole = Context().run(_quadratic, f or valley)
    return _opened(Green(hessian, hole, tee, own_name(f, name or ("½(x² + 10y²)" if f is None else None))))


def deal_valley(seed: int | None = None) -> Golf:
    """Deal a valley whose directions are tilted and whose two curvatures, a and b, are for the player to find.

    Parameters
    ----------
    seed : int, optional
        Deals the same valley again.

    Examples
    --------
    >>> from autodiff_lab import lessons
    >>> print(lessons.deal_valley(seed=1).account())
    Golf on a tilted valley from (-10, -7), par 3
    """
    rng = np.random.default_rng(seed)
    low, high = sorted(rng.choice(_CURVATURES, 2, replace=False).tolist())
    turn = np.radians(float(rng.choice([20, 35, 55, 70, 110, 125, 145, 160])))
    along = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    hessian = along @ np.diag([low, high]) @ along.T
    while True:
        tee = rng.integers(-10, 11, 2).astype(float)
        if min(abs(along.T @ tee)) > 1.5:
            return _opened(Green(hessian, np.zeros(2), tee, "a tilted valley", hidden=True))


def is_game(given: Any) -> TypeGuard[Golf]:
    """Return whether this is a game that `golf` or `deal_valley` opened.

    Examples
    --------
    >>> is_game(golf()), is_game([1.0, 0.1])
    (True, False)
    """
    try:
        from autodiff_lab.widgets.golf import Golf
    except ImportError:  # without it no game can be opened
        return False
    return isinstance(given, Golf)


def _opened(green: Green) -> Golf:
    try:
        from autodiff_lab.widgets.golf import Golf
    except ImportError as error:
        raise MissingPackage.of("The game", "anywidget", "lab") from error
    return Golf(green)


def _quadratic(f: Callable[[Any], Any]) -> tuple[np.ndarray, np.ndarray]:
    """Return the second derivatives and the lowest point of a quadratic."""
    try:
        g = lambda p: value_at(f, p)  # noqa: E731
        places = [lab.constant(place, dtype=lab.float64) for place in _TRIED]
        slopes = np.array([lab.gradient(g)(place).numpy() for place in places])
        hessian = np.asarray(lab.hessian(g)(places[0]).numpy(), dtype=float)
        fits = np.allclose(slopes, slopes[0] + np.array(_TRIED) @ hessian, rtol=1e-6, atol=1e-9)
        steep = fits and bool((np.linalg.eigvalsh(hessian) > 1e-9).all())
    except Exception as error:
        said = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise InvalidArgumentError(
            f"golf: the gradient of f could not be computed: {said}\nTry lambda p: 0.5 * (p[0] ** 2 + 4 * p[1] ** 2)."
        ) from error
    if not steep:
        raise InvalidArgumentError(
            "golf is played on quadratics with one lowest point, and f is not one.\n"
            "Try lambda p: 0.5 * (p[0] ** 2 + 4 * p[1] ** 2); lab.explore_2d shows any function."
        )
    return (hessian + hessian.T) / 2, -np.linalg.solve(hessian, slopes[0])
