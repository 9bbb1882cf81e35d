"""Every op on stacks of rows gives what it gives row by row, and so do its derivatives."""

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab import errors
from autodiff_lab.engine.op import REGISTRY
from autodiff_lab.extras.batching_rules import ALIKE, BROADCASTING, RULES, STACKABLE
from tests.ops.samples.core import Sample, ops_of_the_catalogue, samples

ROWS = 3
# Decompositions are unique up to signs, which differ where LAPACK meets other numbers.
UP_TO_SIGNS = {"svd", "eig", "eigh", "qr"}
SYMMETRIC = {"eigh", "cholesky"}


def varied(sample: Sample, stacked: tuple[bool, ...], rng: np.random.Generator) -> Iterator[Any]:
    """Yield a stack of rows near each input that is stacked, and the others as they are."""
    for x, several in zip(sample.inputs, stacked, strict=True):
        array = np.asarray(x)
        if not several:
            yield array
        elif array.dtype.kind != "f":
            yield np.stack([array] * ROWS)
        elif sample.op.name in SYMMETRIC:
            yield np.stack([array * (1 + 0.1 * k) for k in range(ROWS)])
        else:
            yield np.stack([array + k * 0.003 * rng.normal(size=array.shape) for k in range(ROWS)])


def leaves(made: Any) -> list[np.ndarray]:
    return [np.asarray(t.numpy()) for t in (made if isinstance(made, tuple) else (made,))]


def close(one: Any, other: Any) -> None:
    for a, b in zip(leaves(one), leaves(other), strict=True):
        assert a.shape == b.shape
        assert a.dtype == b.dtype
        if a.dtype.kind in "fc":
            np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-7)
        else:
            np.testing.assert_array_equal(a, b)


def masks(count: int) -> list[tuple[bool, ...]]:
    """Return which of some inputs are stacked: any of up to three, of more one, all but one, or all."""
    if count <= 3:
        return [mask for mask in product((False, True), repeat=count) if any(mask)]
    alone = [tuple(k == i for k in range(count)) for i in range(count)]
    return [*alone, *[tuple(not k for k in mask) for mask in alone], (True,) * count]


def numeric(name: str) -> list[Sample]:
    return [s for s in samples(name) if all(np.asarray(x).dtype.kind in "fiubc" for x in s.inputs)]


@pytest.mark.slow(keep=80)
@pytest.mark.parametrize("name", ops_of_the_catalogue())
def test_every_op_on_stacks_gives_what_it_gives_row_by_row(name: str) -> None:
    rng = np.random.default_rng(1)
    tried = 0
    for sample in numeric(name):
        for mask in masks(len(sample.inputs)):
            if 0 in np.shape(sample.inputs[mask.index(True)]):
                continue
            arrays = list(varied(sample, mask, rng))

            def of_row(rows: Any, sample: Sample = sample, mask: Any = mask, arrays: Any = arrays) -> Any:
                given = iter(rows)
                return sample(*[next(given) if m else lab.constant(a) for a, m in zip(arrays, mask, strict=True)])

            rows = tuple(lab.constant(a) for a, m in zip(arrays, mask, strict=True) if m)
            try:
                wanted = lab.map_fn(of_row, rows)
            except errors.LabError:
                continue  # the other rows of a sample need not be in the domain, or have results of one shape
            tried += 1
            made = lab.vectorized_map(of_row, rows)
            if name in UP_TO_SIGNS:
                made, wanted = (tuple(lab.abs(t) for t in each) for each in (made, wanted))
            close(made, wanted)
    assert tried or not numeric(name), "no sample could be applied to rows"


def merged(arrays: list[Any], which: list[int], rows: Any) -> list[Any]:
    """Return arrays as tensors, and a row in place of some."""
    given = [lab.constant(a) for a in arrays]
    for i, row in zip(which, rows, strict=True):
        given[i] = row
    return given


def derivatives(sample: Sample, given: list[Any], which: list[int], *, whole: bool) -> Any:
    """Return the gradients of a sum of weighted results, or Jacobians."""
    with lab.GradientTape(persistent=True) as tape:
        for i in which:
            tape.watch(given[i])
        made = sample(*given)
        made = [t for t in (made if isinstance(made, tuple) else (made,)) if t.dtype.is_floating]
        loss = lab.add_n([lab.reduce_sum(lab.cos(t)) for t in made])
    if whole:
        found = [tape.jacobian(made[0], given[i], unconnected_gradients="zero") for i in which]
    else:
        found = tape.gradient(loss, [given[i] for i in which], unconnected_gradients="zero")
    return tuple(lab.convert_to_tensor(g) for g in found)


STACKED = frozenset([n for n in REGISTRY if REGISTRY[n].elementwise]) | ALIKE | BROADCASTING | STACKABLE | RULES.keys()
"""Ops that are not applied row by row."""


def with_derivatives() -> list[str]:
    """Return ops whose derivatives are unique; of the elementwise ones, which one rule stacks, a few."""
    names = [n for n in ops_of_the_catalogue() if n not in UP_TO_SIGNS and any(s.differentiable for s in numeric(n))]
    return [n for n in names if not REGISTRY[n].elementwise or n in ("add", "divide", "maximum", "power", "tanh")]


@pytest.mark.slow(keep=60)
@pytest.mark.parametrize(
    ("name", "whole"),
    [(name, whole) for name in with_derivatives() for whole in (False, True) if name in STACKED or not whole],
)
def test_derivatives_of_every_op_on_stacks(name: str, whole: bool) -> None:
    rng = np.random.default_rng(2)
    for sample in numeric(name):
        which = sample.differentiable
        if not which or any(0 in np.shape(x) for x in sample.inputs) or sum(np.size(x) for x in sample.inputs) > 200:
            continue
        stacked = tuple(i in which for i in range(len(sample.inputs)))
        arrays = list(varied(sample, stacked, rng))
        rows = tuple(lab.constant(arrays[i]) for i in which)

        def of_row(rows: Any, sample: Sample = sample, arrays: Any = arrays, which: Any = which) -> Any:
            return derivatives(sample, merged(arrays, which, rows), which, whole=whole)

        try:
            wanted = lab.map_fn(of_row, rows)
        except errors.LabError:
            continue
        for a, b in zip(lab.vectorized_map(of_row, rows), wanted, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-7)
        if whole:
            continue
        around = []
        for mapped in (lab.vectorized_map, lab.map_fn):
            with lab.GradientTape() as tape:
                tape.watch(rows)
                made = mapped(lambda rows, given=(arrays, which), s=sample: s(*merged(*given, rows)), rows)
                parts = [t for t in lab.nest.flatten(made) if t.dtype.is_floating]
                loss = lab.add_n([lab.reduce_sum(lab.cos(t)) for t in parts])
            around.append(tape.gradient(loss, rows, unconnected_gradients="zero"))
        for a, b in zip(*around, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-7)


def test_an_op_belongs_to_one_kind() -> None:
    kinds = [
        ALIKE,
        BROADCASTING,
        STACKABLE,
        frozenset(RULES),
        frozenset(n for n in REGISTRY if REGISTRY[n].elementwise),
    ]
    for i, kind in enumerate(kinds):
        assert all(name in REGISTRY for name in kind)
        for other in kinds[i + 1 :]:
            assert not kind & other
