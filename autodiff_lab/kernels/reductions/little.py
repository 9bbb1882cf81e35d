"""Reductions of small arrays inside compiled code, over axes that stand next to each other.

Generated modules import it.  Arrays are flat and contiguous: `outer` times `length` rows of `inner` elements, of which
`length` become one.
"""
# ruff: noqa: ANN001

from __future__ import annotations

from math import isnan

from autodiff_lab.kernels.base.deferred import register_jitable
from autodiff_lab.kernels.maths.single import add_up, greatest, least


@register_jitable
def reduce_sum(out, x, outer, length, inner, mean) -> int:
    """Write sums, or means; those of one row are added up in as many parts as a vector register has lanes."""
    for s in range(outer):
        target = out[s * inner : (s + 1) * inner]
        if inner == 1:
            row = x[s * length : (s + 1) * length]
            total = x.dtype.type(0)
            for k in range(length):
                total = add_up(total, row[k])
            target[0] = total
        else:
            for j in range(inner):
                target[j] = 0
            for k in range(s * length, (s + 1) * length):
                row = x[k * inner : (k + 1) * inner]
                for j in range(inner):
                    target[j] += row[j]
        if mean:
            for j in range(inner):
                target[j] /= length
    return 0


@register_jitable
def reduce_prod(out, x, outer, length, inner, _) -> int:
    """Write products."""
    for s in range(outer):
        target = out[s * inner : (s + 1) * inner]
        for j in range(inner):
            target[j] = 1
        for k in range(s * length, (s + 1) * length):
            row = x[k * inner : (k + 1) * inner]
            for j in range(inner):
                target[j] *= row[j]
    return 0


@register_jitable
def reduce_to_extreme(out, x, outer, length, inner, largest) -> int:
    """Write the largest elements, or the smallest; nan if one is."""
    for s in range(outer):
        target, first = out[s * inner : (s + 1) * inner], x[s * length * inner : (s * length + 1) * inner]
        for j in range(inner):
            target[j] = first[j]
        for k in range(s * length + 1, (s + 1) * length):
            row = x[k * inner : (k + 1) * inner]
            if largest:
                for j in range(inner):
                    target[j] = greatest(target[j], row[j])
            else:
                for j in range(inner):
                    target[j] = least(target[j], row[j])
    return 0


@register_jitable
def reduce_integers(out, x, outer, length, inner, how) -> int:
    """Write sums of integers for 0, products for 1, the largest for 2 and the least for 3; of bools any, and all."""
    for s in range(outer):
        for j in range(inner):
            begin = s * length * inner + j
            found = int(x[begin])
            for k in range(1, length):
                new = int(x[begin + k * inner])
                if how < 2:
                    found = found * new if how else found + new
                else:
                    found = max(found, new) if how == 2 else min(found, new)
            out[s * inner + j] = found
    return 0


@register_jitable
def reduce_complex(out, x, outer, length, inner, mean) -> int:
    """Write sums of complex numbers, or means."""
    for s in range(outer):
        for j in range(inner):
            total = x[s * length * inner + j]
            for k in range(1, length):
                total += x[(s * length + k) * inner + j]
            out[s * inner + j] = total / length if mean else total
    return 0


@register_jitable
def find_extreme(out, x, outer, length, inner, largest) -> int:
    """Write the positions of the first largest elements, or smallest; that of the first nan if there is one."""
    for s in range(outer):
        for j in range(inner):
            begin, at = s * length * inner + j, 0
            best = x[begin]
            for k in range(1, length):
                new = x[begin + k * inner]
                if not isnan(best) and (not new <= best if largest else not new >= best):
                    best, at = new, k
            out[s * inner + j] = at
    return 0
