"""What the lessons use beside the package itself: predictions that open a picture, and checks that answer kindly.

A door: it imports what it presents.  `predict` makes the widgets (`prediction`), checks answer with a `CheckResult`
(`result`) whose code is an entry of `CODES` (`codes`), and what a learner wrote runs under `attempt`.  There is one
module for the checks of each lesson.
"""

from autodiff_lab.lessons.codes import CODES, Misconception
from autodiff_lab.lessons.gradients import check_gradients
from autodiff_lab.lessons.prediction import Prediction, Unlocked, predict
from autodiff_lab.lessons.puzzle import BackwardPuzzle, backward_puzzle
from autodiff_lab.lessons.rates import check_average_rate, check_interval, check_meeting, check_rate_from_table
from autodiff_lab.lessons.repairs import check_repair
from autodiff_lab.lessons.result import CheckResult
from autodiff_lab.lessons.taping import check_entries, check_off_the_record

__all__ = [
    "CODES", "BackwardPuzzle", "CheckResult", "Misconception", "Prediction", "Unlocked", "backward_puzzle",
    "check_average_rate", "check_entries", "check_gradients", "check_interval", "check_meeting",
    "check_off_the_record", "check_rate_from_table", "check_repair", "predict",
]
