"""What the lessons add to the package: predictions that open a picture, and checks that answer kindly.

This package imports what it presents.  `predict` makes the widgets (`prediction`), checks answer with a `CheckResult`
(`result`) whose code is an entry of `CODES` (`codes`), and what a learner wrote runs under `attempt`.  There is a
module or two for the checks of each lesson.
"""

from autodiff_lab.lessons.booking import check_clean_engine, check_engine
from autodiff_lab.lessons.broadcasting import (
    check_price,
    check_regression,
    check_scale,
    check_sum_rule,
    check_sums,
    check_unbroadcast,
)
from autodiff_lab.lessons.casework import check_case, check_own_case
from autodiff_lab.lessons.checkpoints import check_board, check_checkpoints, checkpoint_board, run_board
from autodiff_lab.lessons.classroom import ClassResults, class_results
from autodiff_lab.lessons.clinic import Case, case, ward
from autodiff_lab.lessons.codes import CODES, Misconception
from autodiff_lab.lessons.compiling import check_compiled, check_one_program
from autodiff_lab.lessons.costs import check_pays, check_total, check_traffic
from autodiff_lab.lessons.curvature import check_derivative, check_hessian, check_hvp, check_mixed, check_newton
from autodiff_lab.lessons.differences import (
    check_averaging_time,
    check_central,
    check_good_step,
    check_one_sided,
    check_second_difference,
)
from autodiff_lab.lessons.downhill import (
    check_bound,
    check_distance,
    check_largest_step,
    check_shower,
    check_stroke,
    check_two_strokes,
    check_under_par,
)
from autodiff_lab.lessons.duals import check_dual
from autodiff_lab.lessons.emitting import check_emitted
from autodiff_lab.lessons.exercises import EXERCISES, check
from autodiff_lab.lessons.explaining import Explained, explain
from autodiff_lab.lessons.golf import deal_valley, golf
from autodiff_lab.lessons.gradients import check_gradients
from autodiff_lab.lessons.guarding import check_birthplaces, check_mended, check_safe, check_thermometer
from autodiff_lab.lessons.health import Health, health
from autodiff_lab.lessons.inventory import Inventory, inventory
from autodiff_lab.lessons.iterating import check_day, check_digits_left, check_pair, check_what_a_tape_does
from autodiff_lab.lessons.launches import check_blocks, check_element, check_kernel, check_overtakes, check_sum
from autodiff_lab.lessons.ledgers import engines
from autodiff_lab.lessons.levels import (
    ShuffledCurves,
    check_extrema,
    check_farthest,
    check_level,
    check_shuffled,
    check_slopes,
    prices,
    shuffled_curves,
)
from autodiff_lab.lessons.loops import check_loops
from autodiff_lab.lessons.map import progress
from autodiff_lab.lessons.measuring import Traffic, once, seconds, times, traffic
from autodiff_lab.lessons.memory import memory_line, run_chain
from autodiff_lab.lessons.orders import check_early, check_uncleared, check_wrong_numbers
from autodiff_lab.lessons.pictures import Picture, derivatives, jacobian_map, matmul_map, tape_frames
from autodiff_lab.lessons.plans import check_bulbs, check_fewest, check_pieces, check_reach, check_staircase
from autodiff_lab.lessons.prediction import Prediction, predict
from autodiff_lab.lessons.products import check_matmul_vjp, check_modes, check_own_slope, check_sizes, check_vjp
from autodiff_lab.lessons.puzzle import BackwardPuzzle, backward_puzzle
from autodiff_lab.lessons.ranking import Method, Methods, check_order, methods
from autodiff_lab.lessons.rates import check_average_rate, check_interval, check_meeting, check_rate_from_table
from autodiff_lab.lessons.repairs import check_repair
from autodiff_lab.lessons.result import CheckResult
from autodiff_lab.lessons.reviving import Trained, check_revive, digits, train_digits
from autodiff_lab.lessons.shapes import loss_curves, shape_drill, shape_lens
from autodiff_lab.lessons.simulated import run_simulated
from autodiff_lab.lessons.sketching import SketchPrediction, check_sketches, deal_slopes, sketch_pad, slope_of_the_day
from autodiff_lab.lessons.stepping import forward_stepper, locked_stepper
from autodiff_lab.lessons.steps import step_game, step_plot
from autodiff_lab.lessons.sweeping import check_per_point, check_sweeps, check_swept_gradient
from autodiff_lab.lessons.swelling import swell
from autodiff_lab.lessons.taping import check_entries, check_off_the_record
from autodiff_lab.lessons.threads import Launch, cuda, launch
from autodiff_lab.lessons.unlocked import Unlocked
from autodiff_lab.lessons.verdicts import Patient, Patients, check_patients, check_verdict, patients
from autodiff_lab.lessons.whodunnit import whodunnit
from autodiff_lab.lessons.written import DealtLoop, check_formula, check_tape_length, deal_loop

__all__ = [
    "health",
    "Health",
    "check_stroke",
    "train_digits",
    "digits",
    "check_revive",
    "Trained",
    "check_under_par",
    "check_two_strokes",
    "check_shower",
    "check_largest_step",
    "check_distance",
    "check_bound",
    "CODES",
    "EXERCISES",
    "BackwardPuzzle",
    "Case",
    "CheckResult",
    "ClassResults",
    "DealtLoop",
    "Explained",
    "Inventory",
    "Launch",
    "Method",
    "Methods",
    "Misconception",
    "Patient",
    "Patients",
    "Picture",
    "Prediction",
    "ShuffledCurves",
    "SketchPrediction",
    "Traffic",
    "Unlocked",
    "backward_puzzle",
    "case",
    "check",
    "check_average_rate",
    "check_averaging_time",
    "check_birthplaces",
    "check_blocks",
    "check_board",
    "check_bulbs",
    "check_case",
    "check_central",
    "check_checkpoints",
    "check_clean_engine",
    "check_compiled",
    "check_day",
    "check_derivative",
    "check_digits_left",
    "check_dual",
    "check_early",
    "check_element",
    "check_emitted",
    "check_engine",
    "check_entries",
    "check_extrema",
    "check_farthest",
    "check_fewest",
    "check_formula",
    "check_good_step",
    "check_gradients",
    "check_hessian",
    "check_hvp",
    "check_interval",
    "check_kernel",
    "check_level",
    "check_loops",
    "check_matmul_vjp",
    "check_meeting",
    "check_mended",
    "check_mixed",
    "check_modes",
    "check_newton",
    "check_off_the_record",
    "check_one_program",
    "check_one_sided",
    "check_order",
    "check_overtakes",
    "check_own_case",
    "check_own_slope",
    "check_pair",
    "check_patients",
    "check_pays",
    "check_per_point",
    "check_pieces",
    "check_price",
    "check_rate_from_table",
    "check_reach",
    "check_regression",
    "check_repair",
    "check_safe",
    "check_scale",
    "check_shuffled",
    "check_second_difference",
    "check_sizes",
    "check_sketches",
    "check_slopes",
    "check_staircase",
    "check_sum",
    "check_sum_rule",
    "check_sums",
    "check_sweeps",
    "check_swept_gradient",
    "check_tape_length",
    "check_thermometer",
    "check_total",
    "check_traffic",
    "check_unbroadcast",
    "check_uncleared",
    "check_verdict",
    "check_vjp",
    "check_what_a_tape_does",
    "check_wrong_numbers",
    "checkpoint_board",
    "class_results",
    "cuda",
    "deal_loop",
    "deal_slopes",
    "deal_valley",
    "derivatives",
    "engines",
    "explain",
    "forward_stepper",
    "golf",
    "inventory",
    "jacobian_map",
    "launch",
    "locked_stepper",
    "loss_curves",
    "matmul_map",
    "memory_line",
    "methods",
    "once",
    "patients",
    "predict",
    "prices",
    "progress",
    "run_board",
    "run_chain",
    "run_simulated",
    "seconds",
    "shape_drill",
    "shape_lens",
    "shuffled_curves",
    "sketch_pad",
    "slope_of_the_day",
    "step_game",
    "step_plot",
    "swell",
    "tape_frames",
    "times",
    "traffic",
    "ward",
    "whodunnit",
]
