"""Contours of a sampled surface by marching squares: every cell of the grid gives at most two pieces of a line.

Where the corners of a cell alternate, its mean decides which of them are joined.  Cells with a corner that is not
finite are left out.
"""

from __future__ import annotations

import numpy as np

# Which edges (0 bottom, 1 right, 2 top, 3 left) a line joins, by corners above the level: 1 for bottom left, then
# counterclockwise 2, 4, 8.  The two alternating cases are decided by the mean.
_JOINED: dict[int, tuple[tuple[int, int], ...]] = {
    1: ((3, 0),), 2: ((0, 1),), 3: ((3, 1),), 4: ((1, 2),), 6: ((0, 2),), 7: ((3, 2),),
    8: ((2, 3),), 9: ((2, 0),), 11: ((2, 1),), 12: ((1, 3),), 13: ((1, 0),), 14: ((0, 3),),
}  # fmt: skip
_ALTERNATING = {
    (5, True): ((3, 2), (1, 0)), (5, False): ((3, 0), (1, 2)),
    (10, True): ((0, 3), (2, 1)), (10, False): ((0, 1), (2, 3)),
}  # fmt: skip


def contour_lines(x: np.ndarray, y: np.ndarray, heights: np.ndarray, level: float) -> list[np.ndarray]:
    """Return the lines on which a surface has one height.

    Parameters
    ----------
    x, y : numpy.ndarray
        Shapes (n,) and (m,), increasing.
    heights : numpy.ndarray
        Shape (m, n): a row for each y.
    level : float
        The height.

    Returns
    -------
    list of numpy.ndarray
        Lines of shape (k, 2); a closed one ends where it begins.

    Examples
    --------
    >>> across = np.linspace(-1.0, 1.0, 21)
    >>> (circle,) = contour_lines(across, across, across**2 + across[:, None] ** 2, 0.5)
    >>> bool(np.allclose(np.hypot(*circle.T), 0.5**0.5, atol=0.01)), bool((circle[0] == circle[-1]).all())
    (True, True)
    """
    above = heights > level
    finite = np.isfinite(heights)
    index = above[:-1, :-1] + 2 * above[:-1, 1:] + 4 * above[1:, 1:] + 8 * above[1:, :-1]
    whole = finite[:-1, :-1] & finite[:-1, 1:] & finite[1:, 1:] & finite[1:, :-1]
    pieces: list[tuple[tuple[int, int, int], tuple[int, int, int]]] = []
    for row, column in np.argwhere(whole & (index > 0) & (index < 15)).tolist():
        case = int(index[row, column])
        joined = _JOINED.get(case)
        if joined is None:
            middle = float(heights[row : row + 2, column : column + 2].mean())
            joined = _ALTERNATING[case, middle > level]
        pieces += [(_edge(row, column, one), _edge(row, column, other)) for one, other in joined]
    return [np.array([_crossing(x, y, heights, level, edge) for edge in chain]) for chain in _chained(pieces)]


def levels_of(heights: np.ndarray, count: int = 12) -> list[float]:
    """Return levels that show a surface: evenly many samples lie between two neighbours, rather than equal heights.

    Examples
    --------
    >>> levels_of(np.arange(101.0), 4)
    [20.0, 40.0, 60.0, 80.0]
    >>> levels_of(np.ones((3, 3)))
    []
    """
    finite = np.unique(heights[np.isfinite(heights)])
    if len(finite) < 2:
        return []
    known = heights[np.isfinite(heights)]
    found = np.quantile(known, np.arange(1, count + 1) / (count + 1))
    return [float(level) for level in np.unique(found) if finite[0] < level < finite[-1]]


def _edge(row: int, column: int, side: int) -> tuple[int, int, int]:
    """Return the key of an edge, the same from both cells: its first corner, and 0 across or 1 up."""
    return [(row, column, 0), (row, column + 1, 1), (row + 1, column, 0), (row, column, 1)][side]


def _crossing(
    x: np.ndarray, y: np.ndarray, heights: np.ndarray, level: float, edge: tuple[int, int, int]
) -> tuple[float, float]:
    row, column, up = edge
    first = float(heights[row, column])
    second = float(heights[row + up, column + 1 - up])
    part = (level - first) / (second - first)
    if up:
        return float(x[column]), float(y[row] + part * (y[row + 1] - y[row]))
    return float(x[column] + part * (x[column + 1] - x[column])), float(y[row])


def _chained(pieces: list[tuple[tuple[int, int, int], tuple[int, int, int]]]) -> list[list[tuple[int, int, int]]]:
    """Join pieces that share an edge; every edge belongs to at most two."""
    at: dict[tuple[int, int, int], list[int]] = {}
    for number, piece in enumerate(pieces):
        for edge in piece:
            at.setdefault(edge, []).append(number)
    used = [False] * len(pieces)
    chains: list[list[tuple[int, int, int]]] = []
    starts = [number for number, piece in enumerate(pieces) if any(len(at[edge]) == 1 for edge in piece)]
    for number in (*starts, *range(len(pieces))):
        if used[number]:
            continue
        used[number] = True
        one, other = pieces[number]
        chain = [other, one] if len(at[other]) == 1 else [one, other]
        while True:
            following = next((k for k in at[chain[-1]] if not used[k]), None)
            if following is None:
                break
            used[following] = True
            one, other = pieces[following]
            chain.append(other if one == chain[-1] else one)
        chains.append(chain)
    return chains
