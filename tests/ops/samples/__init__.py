"""How to call each op of the registry; importing this package fills the table of samplers."""

from tests.ops.samples import arrays, mathematics, networks, products, texts
from tests.ops.samples.core import GENERAL, SHAPES, Sample, draw, elementwise, ops_of_the_catalogue, samples

__all__ = [
    "GENERAL",
    "SHAPES",
    "Sample",
    "arrays",
    "draw",
    "elementwise",
    "linalg",
    "mathematics",
    "networks",
    "ops_of_the_catalogue",
    "products",
    "samples",
    "texts",
]
