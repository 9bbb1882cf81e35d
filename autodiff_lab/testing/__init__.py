"""Check gradients against finite differences, for authors of derivative rules.

The project's own table of ops is tested with it. `differences` computes what is compared, `check` compares, `line` and
`diagnosis` find out why the two disagree, and `report` says it.
"""

from autodiff_lab.testing.check import check_gradient
from autodiff_lab.testing.differences import gradient, numeric_gradient, weighted_sum
from autodiff_lab.testing.report import GradientCheck, GradientEntry, StepError

__all__ = [
    "GradientCheck",
    "GradientEntry",
    "StepError",
    "check_gradient",
    "gradient",
    "numeric_gradient",
    "weighted_sum",
]
