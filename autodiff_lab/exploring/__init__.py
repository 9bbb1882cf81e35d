"""Pictures of functions: `explore` opens a widget, `plot_derivative` draws a figure.

Only here is the user's function run on a tape: `sampling` computes f and its derivatives at many
points, and everything that draws receives plain arrays.
"""

from autodiff_lab.exploring.explore import explore
from autodiff_lab.exploring.figure import plot_derivative

__all__ = ["explore", "plot_derivative"]
