"""The words for every cause: one sentence on what happened, one on what to try.

Fields in braces: `s` and `t` are the names of source and target, `x` the tensor on the source's side of the cut, `op`
the op, `how` the way a value left, `dtype` the dtype of `x`, and `more` what only the search knows.
"""

from __future__ import annotations

STORES = ("dataset", "queue")
"""Ways of leaving that keep a value in a store, from which it is read later."""
LEFT_BY = {
    "dataset": "a dataset",
    "queue": "a queue",
    "numpy": "numpy()",
    "__array__": "a NumPy function",
    "float": "float()",
    "int": "int()",
    "bool": "bool()",
    "index": "use as an index",
    "branch": "the choice of a branch",
    "condition": "a condition",
    "item": "item()",
    "tolist": "tolist()",
    "complex": "complex()",
    "__dlpack__": "another library, by DLPack",
    "__cuda_array_interface__": "another library, by its memory on the GPU",
}

WORDS: dict[str, tuple[str, str]] = {
    "not_watched": (
        "The tape did not watch {s}: {more}",
        "Call tape.watch({code}) at the start of the tape's block, or make it a lab.Variable.",
    ),
    "watched_too_late": (
        "{s} was watched only after {op} had used it; watching has no effect on earlier ops.",
        "Move tape.watch({code}) to the first line of the tape's block.",
    ),
    "not_trainable": (
        "{s} is a variable with trainable=False, and tapes only watch trainable ones automatically.",
        "Call tape.watch({code}) inside the tape's block, or make the variable with trainable=True.",
    ),
    "watching_off": (
        "The tape was created with watch_accessed_variables=False, and tape.watch was not called for {s}.",
        "Call tape.watch({code}) inside the tape's block, or remove watch_accessed_variables=False.",
    ),
    "left_engine": (
        "{x} left the engine by {how} and {more} as a constant, which has no history.",
        "Use the function of lab instead of the NumPy or Python one, so that the tape records every step.",
    ),
    "overwritten": (
        "{x} left the engine by {how} and its name was given to a plain array, which {more} as a constant.",
        "Keep {x} a tensor: use the function of lab in this line.",
    ),
    "replaced": (
        "{s} is no longer the variable: this line gave its name to a new tensor, which the tape does not watch.",
        "Change the variable in place: {code}.assign(...), {code}.assign_add(...) or {code}.assign_sub(...).",
    ),
    "integer": ("{x} is {dtype} here, and gradients exist only for floats.", "{more}"),
    "state_read": (
        "{x} was assigned to the variable {more}, and reading a variable gives its value, not its history.",
        "Use the tensor itself in the formula and assign it afterwards.",
    ),
    "drawn": (
        "{x} was stored in {how}, and values read from it have no history.",
        "Compute {t} from {x} itself, or store only data in {how}.",
    ),
    "stop_gradient": (
        "stop_gradient returns {x} unchanged and blocks its gradient.",
        "Remove stop_gradient if {s} should get a gradient from {t}.",
    ),
    "not_differentiable": ("{op} has no derivative{why}, so no gradient passes back to {x}.", "{more}"),
    "outside_tape": ("{op} ran {more}, so the tape did not record it.", "Move this line into the tape's `with` block."),
    "target_before_tape": (
        "{t} was computed before the tape's block began, so the tape did not record it.",
        "Compute {t} inside the tape's `with` block.",
    ),
    "recording_stopped": (
        "{op} ran inside stop_recording, so the tape did not record it.",
        "Move this line out of stop_recording; to stop one gradient on purpose, lab.stop_gradient is clearer.",
    ),
    "tape_reset": (
        "The tape was reset after {op} had run, which discarded everything recorded before.",
        "Compute {t} after tape.reset(), or remove the reset.",
    ),
    "inner_gradient_outside": (
        "The inner gradient was taken outside the outer tape's block, so the outer tape did not record it.",
        "Indent the inner tape.gradient(...) call so that it stands inside the outer tape's `with` block.",
    ),
    "rule_gave_none": (
        "The derivative rule of {op} returned None for {x}.",
        "Return a gradient for every input from the rule of {op}.",
    ),
    "read_outside_tape": (
        "The ops used a tensor that was read from {s} outside the tape's block, and the tape watches reads inside it.",
        "Use {s} itself inside the block, or call tape.watch on the tensor that was read.",
    ),
    "no_path": (
        "{t} was not computed from {s}.",
        (
            "Check that the formula of {t} uses {s}, and not another value of the same name. For zeros instead of None "
            "pass unconnected_gradients=lab.UnconnectedGradients.ZERO."
        ),
    ),
    "only_read": (
        "A function on this line only reads the value of {x}, as a setting or an index, so no gradient passes through.",
        "For a gradient with respect to {s}, write this step as a formula with {x} in it.",
    ),
    "random_draw": (
        "{x} is a parameter of a random draw here, and a count or a class that is drawn has no derivative.",
        (
            "Differentiate the log-probability of what was drawn times the outcome (the score-function estimator), or "
            "draw something smooth: for classes, lab.nn.softmax of the logits plus Gumbel noise."
        ),
    ),
    "control_flow": (
        "{s} only decided, by {how}, which lines ran or which element was taken; {t} was not computed from it.",
        "A choice has no derivative, so this is None in any engine. For a smooth choice, try lab.sigmoid as a weight.",
    ),
}

READS = {"condition": "control_flow", "parameter": "random_draw"}
"""The cause where a function read a value outside the ops, by how it did; otherwise 'only_read'."""

WHOLE_FIX = {
    "cast": "Remove the cast to {dtype}: keep {x} a float all the way from {s} to {t}.",
    "variable": "Make {s} a float: lab.Variable({number}.0), or with dtype=lab.float32.",
    "constant": "Make {s} a float: lab.constant({number}.0), or with dtype=lab.float32.",
    "other": "Avoid integers on the path from {s} to {t}; lab.cast back to a float does not restore the gradient.",
}

SMOOTH = {
    "floor": "Round at the end, after the gradient, or pass the gradient on with lab.custom_gradient.",
    "round": "Round at the end, after the gradient, or pass the gradient on with lab.custom_gradient.",
    "argmax": "Use lab.nn.softmax as a smooth choice, or lab.reduce_max for the largest value.",
    "argmin": "Use lab.nn.softmax of the negative as a smooth choice, or lab.reduce_min for the smallest value.",
    "sign": "Use lab.math.tanh with a large factor as a smooth sign.",
} | dict.fromkeys(
    ("greater", "less", "greater_equal", "less_equal", "equal", "not_equal"),
    "A comparison has no derivative: use lab.sigmoid of the difference as a smooth one.",
)
OTHERWISE = "Avoid this op on the path from {s} to {t}, or pass the gradient on with lab.custom_gradient."
