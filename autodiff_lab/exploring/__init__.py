"""Pictures of functions: `explore` and `explore_steps` open widgets, `plot_derivative` and `plot_steps` draw figures.

Only here is the user's function run on a tape: `sampling` computes f and its derivatives at many
points, and everything that draws receives plain arrays.
"""

from autodiff_lab.exploring.explore import explore
from autodiff_lab.exploring.figure import plot_derivative
from autodiff_lab.exploring.steps import explore_steps, plot_steps

__all__ = ["explore", "explore_steps", "plot_derivative", "plot_steps"]
