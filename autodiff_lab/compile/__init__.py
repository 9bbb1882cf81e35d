"""Compiling: trace a function to one Program, simplify it with passes, and turn it into code with back ends.

`front` traces and guards, `program` holds and rewrites what was traced, `loops` and `scalars` generate code, and
`backends` chooses between them.
"""

from autodiff_lab.compile.front.decorator import function
from autodiff_lab.compile.front.function import Function
from autodiff_lab.compile.program.program import Program

__all__ = ["Function", "Program", "function"]
