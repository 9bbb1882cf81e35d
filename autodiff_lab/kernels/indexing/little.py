"""Picking by position, adding up by position, and running sums of small arrays inside compiled code.

Generated modules import it.  Arrays are flat and contiguous.  An axis of `length` has `outer` rows before it and
`inner` elements after it.  Each function returns 1 where a position lies outside, and 0 otherwise.
"""
# ruff: noqa: ANN001

from __future__ import annotations

from math import isnan

from numpy import finfo

from autodiff_lab.kernels.base.deferred import register_jitable
from autodiff_lab.kernels.maths.single import greatest, least

OTHER_VALUE = 2
"""What `expect` returns instead of 1: the program is to be left, and not run again by NumPy."""


@register_jitable
def _copy_rows(out, x, positions, inner, count) -> None:
    for k in range(count):
        source, target = x[positions[k] * inner : (positions[k] + 1) * inner], out[k * inner : (k + 1) * inner]
        for j in range(inner):
            target[j] = source[j]


@register_jitable
def _add_rows(out, g, positions, inner, count) -> None:
    for k in range(count):
        source, target = g[k * inner : (k + 1) * inner], out[positions[k] * inner : (positions[k] + 1) * inner]
        for j in range(inner):
            target[j] += source[j]


@register_jitable
def _copy_narrow(out, x, positions, inner, count) -> None:
    """Copy rows of up to 4 elements, as those of points; the turns over a number that is known are written out."""
    if inner == 1:
        for k in range(count):
            out[k] = x[positions[k]]
    elif inner == 2:
        _copy_rows(out, x, positions, 2, count)
    elif inner == 3:
        _copy_rows(out, x, positions, 3, count)
    else:
        _copy_rows(out, x, positions, 4, count)


@register_jitable
def _add_narrow(out, g, positions, inner, count) -> None:
    """Add rows of up to 4 elements to those at positions."""
    if inner == 1:
        for k in range(count):
            out[positions[k]] += g[k]
    elif inner == 2:
        _add_rows(out, g, positions, 2, count)
    elif inner == 3:
        _add_rows(out, g, positions, 3, count)
    else:
        _add_rows(out, g, positions, 4, count)


@register_jitable
def gather(out, x, positions, outer, length, inner, count) -> int:
    """Write the elements of an axis at `count` positions."""
    for k in range(count):
        if positions[k] < 0 or positions[k] >= length:
            return 1
    for s in range(outer):
        if inner <= 4:
            _copy_narrow(out[s * count * inner :], x[s * length * inner :], positions, inner, count)
            continue
        for k in range(count):
            begin, at = (s * length + positions[k]) * inner, (s * count + k) * inner
            source, target = x[begin : begin + inner], out[at : at + inner]
            for j in range(inner):
                target[j] = source[j]
    return 0


@register_jitable
def scatter(out, g, positions, outer, length, inner, count) -> int:
    """Add the elements at `count` positions of an axis up, which begins with zeros."""
    for k in range(count):
        if positions[k] < 0 or positions[k] >= length:
            return 1
    for j in range(outer * length * inner):
        out[j] = 0
    for s in range(outer):
        if inner <= 4:
            _add_narrow(out[s * length * inner :], g[s * count * inner :], positions, inner, count)
            continue
        for k in range(count):
            at, begin = (s * length + positions[k]) * inner, (s * count + k) * inner
            source, target = g[begin : begin + inner], out[at : at + inner]
            for j in range(inner):
                target[j] += source[j]
    return 0


@register_jitable
def repeat(out, x, rows, inner, count) -> int:
    """Write each row of `inner` elements `count` times, one after the other."""
    if inner == 1:
        for s in range(rows):
            for k in range(s * count, (s + 1) * count):
                out[k] = x[s]
        return 0
    for s in range(rows):
        source = x[s * inner : (s + 1) * inner]
        for k in range(s * count, (s + 1) * count):
            target = out[k * inner : (k + 1) * inner]
            for j in range(inner):
                target[j] = source[j]
    return 0


@register_jitable
def along_rows(out, x, positions, outer, length, inner, count, puts) -> int:
    """Take the elements at positions that differ from row to row, or put them there, added up in zeros."""
    for j in range(outer * length * inner if puts else 0):
        out[j] = 0
    for n in range(outer * count * inner):
        there, found = n // (count * inner) * length, positions[n]
        if found < 0 or found >= length:
            return 1
        if puts:
            out[(there + found) * inner + n % inner] += x[n]
        else:
            out[n] = x[(there + found) * inner + n % inner]
    return 0


@register_jitable
def one_hot(out, positions, outer, length, inner, on, off, strict) -> int:
    """Write one number at the position of each row and another elsewhere; `strict` says that positions lie inside."""
    for j in range(outer * length * inner):
        out[j] = off
    for s in range(outer):
        for j in range(inner):
            put = positions[s * inner + j]
            if 0 <= put < length:
                out[(s * length + put) * inner + j] = on
            elif strict:
                return 1
    return 0


@register_jitable
def goes_before(a, b, falling) -> bool:
    """Return whether a number comes strictly before another; nan is larger than all numbers."""
    less, more = (b, a) if falling else (a, b)
    return less < more or (isnan(more) and not isnan(less))


@register_jitable
def find_order(out, x, outer, length, inner, count, falling) -> int:
    """Write the positions of the first `count` elements in order, by insertion; of equal ones the first comes first."""
    for row in range(outer * inner):
        begin, at = row // inner * length * inner + row % inner, row // inner * count * inner + row % inner
        for k in range(length):
            new, p = x[begin + k * inner], min(k, count)
            while p > 0 and goes_before(new, x[begin + out[at + (p - 1) * inner] * inner], falling):
                p -= 1
                if p + 1 < count:
                    out[at + (p + 1) * inner] = out[at + p * inner]
            if p < count:
                out[at + p * inner] = k
    return 0


@register_jitable
def expect(out, x, value) -> int:
    """Copy one number; return `OTHER_VALUE` where it is another than the program was compiled for."""
    out[0] = x[0]
    return 0 if x[0] == value else OTHER_VALUE


@register_jitable
def copy_finite(out, x, count) -> int:
    """Copy numbers; decline them if one is infinite or nan."""
    other = 0
    for k in range(count):
        out[k] = x[k]
        other |= x[k] - x[k] != 0
    return 1 if other else 0


@register_jitable
def extremes(out, room, x, positions, length, inner, count, largest, empty) -> int:
    """Write the largest of the rows at each position, or the least; 0 or the limit of the dtype where there is none."""
    nothing = finfo(x.dtype).max if empty > 0 else finfo(x.dtype).min if empty < 0 else x.dtype.type(0)
    for k in range(length):
        room[k] = 0
    for j in range(length * inner):
        out[j] = nothing
    for k in range(count):
        put = positions[k]
        if put < 0 or put >= length:
            return 1
        begin, at = k * inner, put * inner
        for j in range(inner):
            if room[put] == 0:
                out[at + j] = x[begin + j]
            elif largest:
                out[at + j] = greatest(out[at + j], x[begin + j])
            else:
                out[at + j] = least(out[at + j], x[begin + j])
        room[put] = 1
    return 0


@register_jitable
def move(out, x, take, put, rows, length, inner, count) -> int:
    """Add rows of x at `count` positions up at others, of `length` rows that begin with zeros."""
    for k in range(count):
        if take[k] < 0 or take[k] >= rows or put[k] < 0 or put[k] >= length:
            return 1
    for j in range(length * inner):
        out[j] = 0
    for k in range(count):
        begin, at = take[k] * inner, put[k] * inner
        source, target = x[begin : begin + inner], out[at : at + inner]
        for j in range(inner):
            target[j] += source[j]
    return 0


@register_jitable
def are_inside(coordinates, count, depth, a, b, c, d) -> bool:
    """Return whether rows of coordinates lie inside of axes of these lengths."""
    wrong = False
    if depth == 2:  # at a third of the price
        for k in range(count):
            i, j = coordinates[2 * k], coordinates[2 * k + 1]
            wrong |= (i < 0) | (i >= a) | (j < 0) | (j >= b)
        return not wrong
    if depth == 3:
        for k in range(count):
            i, j, m = coordinates[3 * k], coordinates[3 * k + 1], coordinates[3 * k + 2]
            wrong |= (i < 0) | (i >= a) | (j < 0) | (j >= b) | (m < 0) | (m >= c)
        return not wrong
    for p in range(depth):
        length = a if p == 0 else b if p == 1 else c if p == 2 else d
        for k in range(count):
            at = coordinates[k * depth + p]
            wrong |= (at < 0) | (at >= length)
    return not wrong


@register_jitable(forceinline=True)
def row_of(coordinates, k, depth, b, c, d) -> int:
    """Return which row the coordinates number k name."""
    at = k * depth
    row = coordinates[at] * b + coordinates[at + 1]
    if depth > 2:
        row = row * c + coordinates[at + 2]
    if depth > 3:
        row = row * d + coordinates[at + 3]
    return row


@register_jitable
def gather_nd(out, x, coordinates, outer, inner, count, depth, a, b, c, d) -> int:
    """Write rows of `inner` elements by `count` coordinates in up to four axes."""
    if depth == 1:
        return gather(out, x, coordinates, outer, a, inner, count)
    if not are_inside(coordinates, count, depth, a, b, c, d):
        return 1
    if outer * inner == 1 and depth == 2:
        for k in range(count):
            out[k] = x[coordinates[2 * k] * b + coordinates[2 * k + 1]]
        return 0
    if outer * inner == 1 and depth == 3:
        for k in range(count):
            out[k] = x[(coordinates[3 * k] * b + coordinates[3 * k + 1]) * c + coordinates[3 * k + 2]]
        return 0
    size = a * b * c * d
    for k in range(count):
        row = row_of(coordinates, k, depth, b, c, d)
        for s in range(outer):
            begin, at = (s * size + row) * inner, (s * count + k) * inner
            source, target = x[begin : begin + inner], out[at : at + inner]
            for j in range(inner):
                target[j] = source[j]
    return 0


@register_jitable
def add_numbers(out, g, coordinates, count, depth, b, c) -> None:
    """Add single numbers up by two or three coordinates."""
    if depth == 2:
        for k in range(count):
            out[coordinates[2 * k] * b + coordinates[2 * k + 1]] += g[k]
    else:
        for k in range(count):
            out[(coordinates[3 * k] * b + coordinates[3 * k + 1]) * c + coordinates[3 * k + 2]] += g[k]


@register_jitable
def scatter_nd(out, g, coordinates, outer, inner, count, depth, a, b, c, d) -> int:
    """Add rows of `inner` elements up by `count` coordinates in up to four axes of zeros."""
    if depth == 1:
        return scatter(out, g, coordinates, outer, a, inner, count)
    if not are_inside(coordinates, count, depth, a, b, c, d):
        return 1
    size = a * b * c * d
    for j in range(outer * size * inner):
        out[j] = 0
    if outer * inner == 1 and depth < 4:
        add_numbers(out, g, coordinates, count, depth, b, c)
        return 0
    for k in range(count):
        row = row_of(coordinates, k, depth, b, c, d)
        for s in range(outer):
            at, begin = (s * size + row) * inner, (s * count + k) * inner
            source, target = g[begin : begin + inner], out[at : at + inner]
            for j in range(inner):
                target[j] += source[j]
    return 0


@register_jitable
def change_rows(out, x, updates, coordinates, inner, count, depth, a, b, c, d, how) -> int:
    """Copy an array and change rows of it by `count` coordinates: subtract for a `how` of -1, add for 1, else put."""
    if not are_inside(coordinates, count, depth, a, b, c, d):
        return 1
    for j in range(a * b * c * d * inner):
        out[j] = x[j]
    for k in range(count):
        row = row_of(coordinates, k, depth, b, c, d) if depth > 1 else coordinates[k]
        begin, at = k * inner, row * inner
        source, target = updates[begin : begin + inner], out[at : at + inner]
        for j in range(inner):
            if how == 0:
                target[j] = source[j]
            elif how > 0:
                target[j] += source[j]
            else:
                target[j] -= source[j]
    return 0


@register_jitable
def accumulate(out, x, outer, length, inner, exclusive, reverse, multiplies) -> int:
    """Write running sums along an axis, or running products."""
    for s in range(outer):
        for turn in range(length):
            i = length - 1 - turn if reverse else turn
            before = i + 1 if reverse else i - 1
            at, last = (s * length + i) * inner, (s * length + before) * inner
            for j in range(inner):
                if turn == 0:
                    out[at + j] = multiplies if exclusive else x[at + j]
                elif multiplies:
                    out[at + j] = out[last + j] * (x[last + j] if exclusive else x[at + j])
                else:
                    out[at + j] = out[last + j] + (x[last + j] if exclusive else x[at + j])
    return 0


@register_jitable
def accumulate_top(out, x, outer, length, inner, reverse) -> int:
    """Write the largest element so far, clipped to the range of finite numbers; nan from the first nan on."""
    limit = finfo(x.dtype).max
    for s in range(outer):
        for turn in range(length):
            i = length - 1 - turn if reverse else turn
            before = i + 1 if reverse else i - 1
            at, last = (s * length + i) * inner, (s * length + before) * inner
            for j in range(inner):
                value = least(greatest(x[at + j], -limit), limit)
                out[at + j] = greatest(out[last + j], value) if turn else value
    return 0


@register_jitable
def recur(out, b, a, outer, length, inner, reverse) -> int:
    """Write ``h = b + a h`` along an axis, where h on the right is the element before."""
    for s in range(outer):
        for turn in range(length):
            i = length - 1 - turn if reverse else turn
            before = i + 1 if reverse else i - 1
            at, last = (s * length + i) * inner, (s * length + before) * inner
            for j in range(inner):
                out[at + j] = b[at + j] + a[at + j] * out[last + j] if turn else b[at + j]
    return 0
