"""Answers about a recording: why a gradient is missing, what adds up to it, where a nan began.

Reads recordings only, so that a recording that was loaded from a file, or made by another framework, can be asked as
well.  `causes` names the one reason, `ledger` lists the paths, `nonfinite` finds the first bad value, and `remarks`
says in one line what nobody asked for and everybody should know.
"""

from autodiff_lab.explain.causes import explain
from autodiff_lab.explain.ledger import Ledger, ledger
from autodiff_lab.explain.model import CAUSES, Explanation
from autodiff_lab.explain.nonfinite import Bad, NonFinite, first_nonfinite
from autodiff_lab.explain.remarks import remarks

__all__ = ["CAUSES", "Bad", "Explanation", "Ledger", "NonFinite", "explain", "first_nonfinite", "ledger", "remarks"]
