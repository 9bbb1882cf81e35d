"""Exponentials of small matrices and their derivatives inside compiled code, as functions of `little`.

The arithmetic is that of `exponential`.  Products of very small matrices are taken of `LANES` of a stack at once, whose
elements lie side by side, since rows of three fill no vector.
"""
# ruff: noqa: ANN001

from __future__ import annotations

from autodiff_lab.kernels.base.deferred import register_jitable
from autodiff_lab.kernels.matmul.exponential import BOUNDS, WEIGHTS
from autodiff_lab.kernels.matmul.little import subtract_row

LANES, WIDEST = 16, 5
"""Matrices that are multiplied at once, and their largest number of rows."""
MOST_HALVINGS = 10
"""Halvings up to which it costs few digits that a matrix is scaled by its norm; what needs more is left to NumPy."""
SLOTS = 9
"""Matrices for which there is room: powers, the parts of the polynomial, and the result."""
_BOUNDS, _WEIGHTS = BOUNDS.ravel(), WEIGHTS.ravel()


def room_of(count: int, n: int, parts: int) -> int:
    """Return the elements of memory that exponentials of (count, n, n) need: 1 part, or 2 with their derivatives."""
    lanes = lanes_of(count, n)
    return SLOTS * parts * n * n * lanes + lanes


@register_jitable
def lanes_of(count, n) -> int:
    """Return how many matrices are multiplied at once."""
    return LANES if n <= WIDEST and count > 2 else 1


@register_jitable
def _add_side_by_side(room, z, x, y, n) -> None:
    """Add the products of as many matrices as there are lanes."""
    for i in range(n):
        for p in range(n):
            factors = room[x + (i * n + p) * LANES : x + (i * n + p + 1) * LANES]
            for j in range(n):
                at, other = z + (i * n + j) * LANES, y + (p * n + j) * LANES
                cell, others = room[at : at + LANES], room[other : other + LANES]
                for lane in range(LANES):
                    cell[lane] += factors[lane] * others[lane]


@register_jitable
def _multiply(room, z, x, y, n, lanes, adds) -> None:
    """Write the product of matrices at x and y to z, or add it."""
    if not adds:
        for k in range(z, z + n * n * lanes):
            room[k] = 0
    if lanes > 1:
        _add_side_by_side(room, z, x, y, n)
        return
    for i in range(n):
        for p in range(n):
            subtract_row(room, z + i * n, room, y + p * n, -room[x + i * n + p], n)


@register_jitable
def _times(room, z, x, y, n, lanes, parts, adds) -> None:
    """Write or add products of slots, and their derivatives by the product rule."""
    size = n * n * lanes
    z, x, y = z * parts * size, x * parts * size, y * parts * size
    _multiply(room, z, x, y, n, lanes, adds)
    if parts == 2:
        _multiply(room, z + size, x, y + size, n, lanes, adds)
        _multiply(room, z + size, x + size, y, n, lanes, True)


@register_jitable
def _approximate(room, n, lanes, parts, degree, first) -> None:
    """Write the polynomial of the matrix in slot 0 to slot 7, by the weights that begin at `first`."""
    size = n * n * lanes
    both, number = parts * size, room.dtype.type
    _times(room, 1, 0, 0, n, lanes, parts, False)
    _times(room, 2, 1, 0, n, lanes, parts, False)
    if degree == 1:
        _times(room, 3, 2, 2, n, lanes, parts, False)
    for k in range(5):
        begin = (8 if k == 3 else 7 if k == 4 else 4 + k) * both
        made = room[begin : begin + both]
        for q in range(3 + degree):
            weight, power = number(_WEIGHTS[first + 5 * k + q + 1]), room[q * both : (q + 1) * both]
            if q == 0:
                for e in range(both):
                    made[e] = weight * power[e]
            else:
                for e in range(both):
                    made[e] += weight * power[e]
        weight = number(_WEIGHTS[first + 5 * k])
        for i in range(n):
            for lane in range(lanes):
                made[i * (n + 1) * lanes + lane] += weight
    _times(room, 6, 4, 5, n, lanes, parts, True)
    sums, middle = room[8 * both : 9 * both], room[6 * both : 7 * both]
    for e in range(both):
        sums[e] += middle[e]
    _times(room, 7, 8, 6, n, lanes, parts, True)


@register_jitable
def _read(room, at, a, begin, n, lanes, down, along) -> float:
    """Copy a matrix into a lane, and return its norm."""
    most = room.dtype.type(0)
    for j in range(n):
        total = room.dtype.type(0)
        for i in range(n):
            element = a[begin + i * down + j * along]
            room[at + (i * n + j) * lanes] = element
            total += abs(element)
        if not total <= most:
            most = total
    return most


@register_jitable
def _halve(room, turns, bound, size, lanes, count) -> int:
    """Halve matrices until their norms, which `turns` holds, are within a bound; return the most halvings of one."""
    number, most = room.dtype.type, 0
    for lane in range(count):
        norm, factor, found = turns[lane], number(1), 0
        for _ in range(MOST_HALVINGS):
            if norm > bound:
                norm, factor, found = norm * number(0.5), factor * number(0.5), found + 1
        turns[lane] = found
        most = max(most, found)
        if found > 0:
            for k in range(size):
                room[k * lanes + lane] *= factor
    return most


@register_jitable
def _square(room, turns, most, size, lanes, count, n, parts) -> None:
    """Square what is in slot 7, each lane as often as its matrix was halved."""
    squared, made = room[: size * lanes], room[7 * size * lanes : 8 * size * lanes]
    for turn in range(most):
        _times(room, 0, 7, 7, n, lanes, parts, False)
        for k in range(size):
            for lane in range(count):
                if turns[lane] > turn:
                    made[k * lanes + lane] = squared[k * lanes + lane]


@register_jitable
def _exponentials(
    out, room, a, e, first, count, n, lanes, parts, a_step, a_down, a_along, e_step, e_down, e_along
) -> int:  # fmt: skip
    """Write the exponentials, or derivatives, of as many matrices as there are lanes, or of fewer; 1 if it declines."""
    number, size = room.dtype.type, parts * n * n
    turns = room[SLOTS * size * lanes : (SLOTS * size + 1) * lanes]
    most = number(0)
    for k in range(size * lanes):
        room[k] = 0
    for lane in range(count):
        turns[lane] = _read(room, lane, a, (first + lane) * a_step, n, lanes, a_down, a_along)
        if parts == 2:
            _read(room, n * n * lanes + lane, e, (first + lane) * e_step, n, lanes, e_down, e_along)
        if not turns[lane] <= most:
            most = turns[lane]
    kind = 2 if room.itemsize == 8 else 0
    if most > number(_BOUNDS[4 * (parts - 1) + kind]):
        kind += 1
    bound = number(_BOUNDS[4 * (parts - 1) + kind])
    if not most <= bound * number(1 << MOST_HALVINGS):
        return 1
    halvings = _halve(room, turns, bound, size, lanes, count)
    _approximate(room, n, lanes, parts, kind % 2, 25 * kind)
    _square(room, turns, halvings, size, lanes, count, n, parts)
    begin = 7 * size * lanes + (parts - 1) * n * n * lanes
    for lane in range(count):
        for k in range(n * n):
            out[(first + lane) * n * n + k] = room[begin + k * lanes + lane]
    return 0


@register_jitable
def _all(out, room, a, e, count, n, parts, a_step, a_down, a_along, e_step, e_down, e_along) -> int:
    """Write the exponentials, or derivatives, of all matrices, as many side by side as there are lanes."""
    lanes = lanes_of(count, n)
    for s in range(0, count, lanes):
        together = min(lanes, count - s)
        if _exponentials(
            out, room, a, e, s, together, n, lanes, parts, a_step, a_down, a_along, e_step, e_down, e_along
        ):
            return 1
    return 0


@register_jitable
def expm(out, room, a, count, n, a_step, a_down, a_along) -> int:
    """Write the exponentials of matrices."""
    return _all(out, room, a, a, count, n, 1, a_step, a_down, a_along, a_step, a_down, a_along)


@register_jitable
def expm_frechet(out, room, a, e, count, n, a_step, a_down, a_along, e_step, e_down, e_along) -> int:
    """Write the derivatives of the exponential at matrices a in the directions e."""
    return _all(out, room, a, e, count, n, 2, a_step, a_down, a_along, e_step, e_down, e_along)
