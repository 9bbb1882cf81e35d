"""A Jacobian as a table of signs and sizes, beside the small product that does without it: arrays in, picture out.

Nothing here knows where the numbers come from; `autodiff_lab.lessons` lets the tape compute them.
"""

from autodiff_lab.draw.jacobian.model import JacobianTable, Product
from autodiff_lab.draw.jacobian.svg import panels, svg

__all__ = ["JacobianTable", "Product", "panels", "svg"]
