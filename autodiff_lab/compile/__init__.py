"""Compiling: a function is traced to one Program, passes simplify it, back ends turn it into code.

`function` is the decorator; `trace` hears, `passes` rewrite, `backends` choose, `source` writes.
"""

from autodiff_lab.compile.function import Function, function
from autodiff_lab.compile.program import Program

__all__ = ["Function", "Program", "function"]
