"""Pictures of functions and training runs: explorers are widgets, plots are figures of matplotlib.

Only here is the user's function run on a tape: `sampling` computes f and its derivatives at many
points, and everything that draws receives plain arrays.
"""

from autodiff_lab.exploring.costs import costs
from autodiff_lab.exploring.explore import explore
from autodiff_lab.exploring.figure import plot_derivative
from autodiff_lab.exploring.local_jacobian import local_jacobian
from autodiff_lab.exploring.steps import explore_steps, plot_steps
from autodiff_lab.exploring.surfaces import explore_2d, plot_2d
from autodiff_lab.exploring.training import TrainingWatch, watch_training

__all__ = [
    "TrainingWatch",
    "costs",
    "explore",
    "explore_2d",
    "explore_steps",
    "local_jacobian",
    "plot_2d",
    "plot_derivative",
    "plot_steps",
    "watch_training",
]
