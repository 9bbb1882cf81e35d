"""What a layout program says: centres and rough curves, before edges get ends of their own."""

from __future__ import annotations

from dataclasses import dataclass

Point = tuple[float, float]
"""Pixels, y downwards."""


@dataclass(frozen=True, slots=True)
class Placed:
    """Centres by node key; a curve for each edge: a start and triples of Bezier points, or nothing."""

    centres: dict[str, Point]
    curves: tuple[tuple[Point, ...], ...]
