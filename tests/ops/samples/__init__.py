"""How to call each op of the registry; importing this package imports its modules, which fill the table of samplers."""

import importlib
import pkgutil

from tests.ops.samples.core import (
    GENERAL,
    REFUSES_HALVES,
    SHAPES,
    Sample,
    draw,
    elementwise,
    ops_of_the_catalogue,
    samples,
)

for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")

__all__ = ["GENERAL", "REFUSES_HALVES", "SHAPES", "Sample", "draw", "elementwise", "ops_of_the_catalogue", "samples"]
