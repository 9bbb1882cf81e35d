"""A Jacobian as a table of signs and sizes, beside the small product that avoids it: arrays in, picture out.

Nothing here knows where the numbers come from; in `autodiff_lab.lessons` the tape computes them.
"""

from autodiff_lab.draw.jacobian.model import JacobianTable, Product
from autodiff_lab.draw.jacobian.svg import panels, svg

__all__ = ["JacobianTable", "Product", "panels", "svg"]
