"""Plots: points, lines, bands and arrows over linear or logarithmic axes, contours, and labels that avoid lines.

A `Plot` is plain numbers; `svg` draws it, and `Plot.facts` is what the scripts in ``widgets/plotting`` draw alike.
"""

from autodiff_lab.draw.plots.axes import Axis
from autodiff_lab.draw.plots.contours import contour_lines, levels_of
from autodiff_lab.draw.plots.model import Label, Layer, Plot, arrows, band, line, points
from autodiff_lab.draw.plots.svg import svg

__all__ = [
    "Axis",
    "Label",
    "Layer",
    "Plot",
    "arrows",
    "band",
    "contour_lines",
    "levels_of",
    "line",
    "points",
    "svg",
]
