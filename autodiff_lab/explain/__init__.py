"""Answers about a recording: why a gradient is missing, what adds up to it, where a nan began.

Reads recordings only, so that a recording that was loaded from a file, or made by another framework, can be asked as
well.  `causes` names the one reason, `ledger` lists the paths, `nonfinite` finds the first bad value, and `remarks`
says in one line what nobody asked for and everybody should know.
"""

from autodiff_lab.explain.causes import explain
from autodiff_lab.explain.model import CAUSES, Explanation

__all__ = ["CAUSES", "Explanation", "explain"]
