"""Answer questions about a recording: why a gradient is missing, which paths make it up, where a nan began.

These functions read recordings only, so they work just as well on one that was loaded from a file or made by another
framework.  `causes` names the one reason, `ledger` lists the paths, `nonfinite` finds the first bad value, and
`remarks` reports missing and non-finite gradients in one line each.
"""

from autodiff_lab.explain.causes import explain
from autodiff_lab.explain.ledger import Ledger, ledger
from autodiff_lab.explain.model import CAUSES, Explanation
from autodiff_lab.explain.nonfinite import Bad, NonFinite, first_nonfinite
from autodiff_lab.explain.remarks import remarks

__all__ = ["CAUSES", "Bad", "Explanation", "Ledger", "NonFinite", "explain", "first_nonfinite", "ledger", "remarks"]
