"""The door to the pictures of functions: `explore` opens a widget, `plot_derivative` draws a figure.

Here, and nowhere to the left, the user's function meets the tape: `sampling` computes f and its derivatives at many
points, and everything that draws is given plain arrays.
"""

from autodiff_lab.exploring.explore import explore
from autodiff_lab.exploring.figure import plot_derivative

__all__ = ["explore", "plot_derivative"]
