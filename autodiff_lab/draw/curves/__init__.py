"""Curves of a function and its derivatives: plain arrays in, marks, pictures and words out.

Nothing here knows where the numbers come from.  Whoever has a function passes samples, and `find_marks` a callable that
samples further; `autodiff_lab.exploring` lets the tape compute them.
"""

from autodiff_lab.draw.curves.account import account
from autodiff_lab.draw.curves.marks import find_marks
from autodiff_lab.draw.curves.model import Curves, Mark
from autodiff_lab.draw.curves.svg import svg

__all__ = ["Curves", "Mark", "account", "find_marks", "svg"]
