"""Check of lesson 17: whether what a framework reports through an `Emitter` is what it ran, and is right.

The recording is compared with the one that the package's own tape makes of the same formula at the same numbers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

import autodiff_lab as lab
from autodiff_lab.adapters import Emitter, OpTable
from autodiff_lab.lessons.attempt import attempt, checked, is_blank, same, stop
from autodiff_lab.lessons.codes import CODES
from autodiff_lab.lessons.exercise import Exercise
from autodiff_lab.lessons.gradients import TRIALS, Numbers, agree, diagnosis, fresh_points, gradients_of, names_of
from autodiff_lab.lessons.result import CheckResult, passed
from autodiff_lab.recording import Recording

LESSON = 17
OPS: dict[str, tuple[str, Callable[..., float], tuple[Callable[..., float], ...]]] = {
    "add": ("add", lambda a, b: a + b, (lambda a, b: 1.0, lambda a, b: 1.0)),
    "sub": ("subtract", lambda a, b: a - b, (lambda a, b: 1.0, lambda a, b: -1.0)),
    "mul": ("multiply", lambda a, b: a * b, (lambda a, b: b, lambda a, b: a)),
    "exp": ("exp", np.exp, (np.exp,)),
    "sin": ("sin", np.sin, (np.cos,)),
}
"""The ops of the lesson by the name that a framework gives them: ours that each is like, what it computes, and its
derivative for each input."""
TABLE = {op: like for op, (like, *_) in OPS.items()}


class _Listening(Emitter):
    """An emitter that takes neither blanks nor ids that it did not return; what it refuses, `attempt` reports."""

    def __init__(self) -> None:
        super().__init__("exercise", table=OpTable(TABLE))
        self.returned: set[int] = set()

    def add_source(self, value: Any, **options: Any) -> int:
        """Emit a number that no op made."""
        if options.get("kind") != "gradient":  # an adjoint may be a sum that is not computed yet
            value = np.float64(_filled(value))
        key = super().add_source(value, **options)
        self.returned.add(key)
        return key

    def emit_op(self, op: str, inputs: Any, values: Any, **options: Any) -> tuple[int, ...]:
        """Emit an op of the lesson, with one output."""
        inputs, values = [self._known(key) for key in inputs], [np.float64(_filled(value)) for value in values]
        if _filled(op) not in OPS:
            raise ValueError(f"there is no op {op!r} here; the ops are {', '.join(OPS)}")
        if (len(inputs), len(values)) != (len(OPS[op][2]), 1):
            raise ValueError(f"{op} takes {len(OPS[op][2])} and makes 1, but got {len(inputs)} and made {len(values)}")
        outputs = super().emit_op(op, inputs, values, **options)
        self.returned.update(outputs)
        return outputs

    def start_backward(self, targets: Any, seeds: Any, sources: Any, **options: Any) -> int:
        """Emit that a backward pass begins."""
        targets, sources = [self._known(key) for key in targets], [self._known(key) for key in sources]
        return super().start_backward(targets, [np.float64(_filled(seed)) for seed in seeds], sources, **options)

    def emit_contribution(self, sweep: int, application: int, position: int, value: Any, **options: Any) -> int:
        """Emit a number that an op passed to one of its inputs."""
        if self._known(application) not in self._made:
            raise ValueError(f"no op made the value with id {application}")
        value = np.float64(_filled(value))
        return super().emit_contribution(_filled(sweep), application, _filled(position), value, **options)

    def finish(self, *_: Any, **__: Any) -> None:
        """Do nothing: the check closes the recording itself."""

    def _known(self, key: Any) -> int:
        """Return an id that this emitter returned before."""
        if _filled(key) not in self.returned:
            raise ValueError(f"no call returned the id {key!r}")
        return key


def _filled(value: Any) -> Any:
    """Return a value that is not a blank."""
    if is_blank(value):
        raise TypeError("an ellipsis is not a value")
    return value


@checked
def check_emitted(tell: Callable[..., Any], function: Callable[..., Any], seed: int | None = None) -> CheckResult:
    """Check what a program reports of itself, forward and backward, at fresh numbers.

    Parameters
    ----------
    tell : callable
        ``tell(emitter, *numbers)`` emits the sources, the ops ``"add"``, ``"sub"``, ``"mul"``, ``"exp"`` and ``"sin"``
        and one backward pass; what it returns does not matter.
    function : callable
        The same program, of ops; its arguments have the names of the sources.
    seed : int, optional
        Makes the numbers the same again; by default they are fresh each time.

    Returns
    -------
    CheckResult
        With the code of a misconception if one explains the recording.

    Examples
    --------
    >>> from autodiff_lab import lessons
    >>> def tell(emitter, x):
    ...     one, again = emitter.add_source(x, name="x"), emitter.add_source(x, name="x")
    ...     emitter.emit_op("mul", [one, again], [x * x])
    >>> lessons.check_emitted(tell, lambda x: x * x).code
    'TWO_SOURCES'
    """
    names = names_of(function)
    points = fresh_points(names, np.random.default_rng(seed))
    answers: list[Numbers] = []
    odd = ""
    for at in points:
        recording = _recorded(tell, at)
        _compare_forward(recording, _ours(function, at), at)
        answers.append(_gradients(recording, at))
        odd = odd or _odd_number(recording)
    right = [gradients_of(function, at) for at in points]
    if agree(answers, right):
        if odd:
            raise stop(
                "OTHER", f"The gradients are right, but {odd}.", "Follow the ledger: incoming times local, summed."
            )
        return passed(f"Every value, contribution and gradient is right at {TRIALS} fresh points.")
    code = diagnosis(function, points, answers)
    if LESSON in CODES[code].lessons:
        raise stop(code)
    raise stop("OTHER", "The ops are right, and the gradient that the contributions add up to is not.")


def _recorded(tell: Callable[..., Any], at: Numbers) -> Recording:
    emitter = _Listening()
    recording = emitter.start()
    values = [np.float64(value) for value in at.values()]

    def run() -> bool:
        tell(emitter, *values)
        return True

    run.__name__ = getattr(tell, "__name__", "your function").replace("<lambda>", "your program")
    try:
        attempt(run if callable(tell) else tell)
    finally:
        Emitter.finish(emitter)
    return recording


def _ours(function: Callable[..., Any], at: Numbers) -> Recording:
    sources = [lab.constant(value, dtype=lab.float64) for value in at.values()]
    with lab.record() as recording:
        with lab.GradientTape() as tape:
            tape.watch(sources)
            target = function(*sources)
        tape.gradient(target, sources)
    return recording


def _number(recording: Recording, tensor: int) -> float:
    return float(np.asarray(recording.tensors[tensor].snapshot.array))


def _compare_forward(recording: Recording, ours: Recording, at: Numbers) -> None:
    """Look for values and ops that are missing, or that should not be there."""
    sources = [t for t in recording.tensors.values() if t.application is None and t.kind != "gradient"]
    given = Counter(_number(recording, t.id) for t in sources)
    if any(given[value] > 1 for value in at.values()):
        raise stop("TWO_SOURCES")
    ran = Counter(TABLE[app.op] for app in recording.forward)
    if not recording.forward:
        raise stop("OTHER", "No op was emitted.", "Call emit_op for every line of the formula.")
    for app in recording.forward:
        values = [_number(recording, key) for key in app.inputs]
        if not same(float(OPS[app.op][1](*values)), _number(recording, app.outputs[0])):
            raise stop("SKIPPED_OP")
    wanted = Counter(app.op for app in ours.forward)
    if sum(ran.values()) < sum(wanted.values()) or len(sources) > len(at):
        raise stop("SKIPPED_OP")
    if ran != wanted:
        raise stop("OTHER", "The ops that were emitted are not those of the formula.", "Compare them one by one.")


def _gradients(recording: Recording, at: Numbers) -> Numbers:
    """Return the gradients of the backward pass by name, after a look at what was delivered."""
    if not recording.sweeps:
        raise stop("OTHER", "No backward pass was emitted.", "It begins with start_backward.")
    sweep = recording.sweeps[0]
    final = sweep.adjoints()
    for step in sweep.steps:
        app = recording.applications[step.application]
        if any(got != final.get(output) for got, output in zip(step.incoming, app.outputs, strict=True)):
            raise stop("EARLY", f"{app.op} delivered before all contributions to its result had arrived.")
    delivered = {(step.application, flow.position) for step in sweep.steps for flow in step.flows}
    for app in recording.forward:
        missing = [position for position in range(len(app.inputs)) if (app.index, position) not in delivered]
        if missing and len(set(app.inputs)) < len(app.inputs) and len(missing) < len(app.inputs):
            raise stop("ONE_PER_VALUE")
        if missing:
            raise stop(
                "OTHER", f"{app.op} delivered nothing to an input.", "Each position of an op gets a contribution."
            )
    found = {
        name: [
            _number(recording, final[key])
            for key in sweep.sources
            if key in final and same(_number(recording, key), value)
        ]
        for name, value in at.items()
    }
    empty = [name for name, values in found.items() if not values]
    if empty:
        raise stop("OTHER", f"The backward pass does not lead to {empty[0]}.", "Name it in start_backward.")
    return {name: values[0] for name, values in found.items()}


def _odd_number(recording: Recording) -> str:
    """Say which number of the backward pass is not what its ops make of it; empty if all are."""
    sweep = recording.sweeps[0]
    final = {key: _number(recording, adjoint) for key, adjoint in sweep.adjoints().items()}
    if any(not same(_number(recording, seed), 1.0) for seed in sweep.seeds):
        return "the pass does not start with 1"
    sums = dict.fromkeys(sweep.targets, 1.0)
    for step in sweep.steps:
        app = recording.applications[step.application]
        values = [_number(recording, key) for key in app.inputs]
        for flow in step.flows:
            sent = _number(recording, flow.outgoing)
            if not same(sent, final.get(app.outputs[0], 0.0) * float(OPS[app.op][2][flow.position](*values))):
                return f"{app.op} contributes another number than incoming times local"
            sums[flow.input] = sums.get(flow.input, 0.0) + sent
    added = all(same(final[key], total) for key, total in sums.items())
    return "" if added else "an adjoint is not the sum of what was contributed"


def _with_exp(x: Any, w: Any) -> Any:
    return lab.exp(x * w) * x


def _reuses(x: Any, w: Any) -> Any:
    a = x * w
    return a * a + a


def _bill(b1: Any, b2: Any) -> Any:
    return b1 + b1 * b2


EXERCISES: dict[str, Exercise] = {
    "17.1": Exercise("an op of your own", lambda tell: check_emitted(tell, _with_exp)),
    "17.2": Exercise("a sweep in the right order", lambda tell: check_emitted(tell, _reuses)),
    "17.3": Exercise("a spreadsheet", lambda tell: check_emitted(tell, _bill)),
}
