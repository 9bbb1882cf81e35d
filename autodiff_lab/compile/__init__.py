"""Compiling: a function is traced to one Program, passes simplify it, back ends turn it into code.

`front` traces and guards, `program` holds what was traced and rewrites it, `loops` and `scalars` make code of it, and
`backends` chooses between them.
"""

from autodiff_lab.compile.front.function import Function, function
from autodiff_lab.compile.program.program import Program

__all__ = ["Function", "Program", "function"]
