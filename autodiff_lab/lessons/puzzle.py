"""Freshly dealt computation graphs to go backwards through by hand: four gates, three inputs, seven blanks.

All numbers are small integers, so that paper is enough.  An answer is read blank by blank in the order of the backward
pass; what is said of the first wrong one is the idea that `lab.teaching` finds behind all of them.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import Any

import numpy as np

import autodiff_lab as lab
from autodiff_lab.errors import InvalidArgumentError
from autodiff_lab.lessons.attempt import checked, numbers, same
from autodiff_lab.lessons.codes import CODES
from autodiff_lab.lessons.codes.states import OTHER_BY_KIND
from autodiff_lab.lessons.exercise import Exercise
from autodiff_lab.lessons.gradients import check_gradients
from autodiff_lab.lessons.result import CheckResult, not_yet, passed
from autodiff_lab.lessons.source import readable
from autodiff_lab.recording import Recording, record
from autodiff_lab.recording.numbers import short
from autodiff_lab.teaching import IDEAS, Diagnosis, diagnose_answer

SIGNS = {"add": "{} + {}", "subtract": "{} - {}", "multiply": "{} * {}", "maximum": "max({}, {})"}
LARGEST = 40
"""No value or gradient of a puzzle is larger than this."""
SLIP = 2.0
"""A single blank that is off by no more may be a slip of the pen."""


@dataclass(frozen=True, slots=True)
class Gate:
    """One line of a puzzle: ``out = op(one, two)``."""

    out: str
    op: str
    one: str
    two: str

    def __str__(self) -> str:
        return f"{self.out} = {SIGNS[self.op].format(self.one, self.two)}"


class BackwardPuzzle:
    """A small program with its values, and blanks for all gradients of f.  Made by `backward_puzzle`.

    Attributes
    ----------
    inputs : dict of str to float
        The values of x, y and z.
    gates : tuple of Gate
        The four lines, in order.
    recording : Recording
        The forward pass.
    blanks : tuple of str
        What is asked for, in the order of the backward pass.
    """

    def __init__(self, inputs: dict[str, float], gates: tuple[Gate, ...], seed: int | None = None) -> None:
        self.inputs, self.gates, self.seed = inputs, gates, seed
        title = "Puzzle" if seed is None else f"Puzzle {seed}"
        self.recording = _run(inputs, gates, title, backward=False)
        self._whole = _run(inputs, gates, title, backward=True)
        self._passed = False
        self.blanks = tuple(gate.out for gate in reversed(gates)) + tuple(inputs)

    @property
    def program(self) -> str:
        """The lines and their values, as text."""
        values = {name: value for name, (value, _) in self._facts().items()}
        width = max(len(str(gate)) for gate in self.gates)
        lines = [", ".join(f"{name} = {short(value)}" for name, value in self.inputs.items())]
        lines += [f"{gate!s:<{width}}   # {short(values[gate.out])}" for gate in self.gates]
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"{self.program}\nBlanks: {', '.join(self.blanks)}"

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> Any:
        """Return the explorer of the forward pass, with the program as its text."""
        bundle = self.recording._repr_mimebundle_(include, exclude)
        data, metadata = bundle if isinstance(bundle, tuple) else (bundle, {})
        return {**data, "text/plain": repr(self)}, metadata

    def _ipython_display_(self) -> None:
        """Show the explorer and its picture as two outputs, where widgets are installed."""
        try:
            from autodiff_lab.widgets.outputs import publish
        except ImportError:
            raise NotImplementedError from None
        publish(self)

    def _facts(self) -> dict[str, tuple[float, float]]:
        """Return the value of everything and the gradient of f with respect to it, by name."""
        whole = self._whole
        sweep = whole.sweeps[0]
        adjoints = sweep.adjoints()
        return {
            name: (_value(whole, tensor), _value(whole, adjoints[tensor]) if tensor in adjoints else 0.0)
            for tensor, record_ in whole.tensors.items()
            if (name := record_.name) in {*self.inputs, *(gate.out for gate in self.gates)}
        }

    def check(self, answers: Any) -> CheckResult:
        """Check the blanks.

        Parameters
        ----------
        answers : mapping of str to number
            The gradient of f with respect to each name in `blanks`.

        Returns
        -------
        CheckResult
            About the first blank, in the order of the backward pass, that is not right.
        """
        return _check(self, answers)

    def reveal(self) -> Recording | CheckResult:
        """Return the recording with its backward pass, once the blanks have been filled."""
        if self._passed:
            return self._whole
        return not_yet(
            "BLANK", "The backward pass opens here when the blanks are right.", "Fill them in the cell above."
        )

    def diagnose(self, answers: dict[str, float]) -> Diagnosis:
        """Return the idea that gives all blanks, or else the blanks up to the first wrong one.

        Where a single blank is off by little or by its sign, nothing is settled.
        """
        found = diagnose_answer(self._whole, answers)
        facts = self._facts()
        wrong = [name for name in self.blanks if not same(answers[name], facts[name][1])]
        if wrong and not found.codes:
            known = self.blanks[: self.blanks.index(wrong[0]) + 1]
            first = diagnose_answer(self._whole, {name: answers[name] for name in known})
            found = first if first.codes or not found.tie else found
        truth = facts[wrong[0]][1] if wrong else 0.0
        if len(wrong) == 1 and (abs(answers[wrong[0]] - truth) <= SLIP or same(answers[wrong[0]], -truth)):
            found = Diagnosis(tie=found.codes or found.tie)
        return found


@checked
def _check(puzzle: BackwardPuzzle, answers: Any) -> CheckResult:
    given = numbers(answers, puzzle.blanks)
    facts = puzzle._facts()
    for right, name in enumerate(puzzle.blanks):
        if not same(given[name], facts[name][1]):
            before = f"{right} right before it. " if right else ""
            return _not_yet(puzzle.diagnose(given), f"First to fix: the blank of {name}. {before}")
    puzzle._passed = True
    return passed(
        f"All {len(puzzle.blanks)} blanks are right.", "puzzle.reveal() opens the backward pass to step through."
    )


def _not_yet(found: Diagnosis, start: str) -> CheckResult:
    """Return the answer to wrong blanks: an idea where one is settled, and only what could be where none is."""
    again = "Work this one out once more: incoming × local, and add."
    if found.codes and found.codes[0] in CODES:
        code = found.codes[0]
        where = f" It happened at {found.where} alone; the rest follows from it." if found.where else ""
        return not_yet(code, f"{start}{CODES[code].says}{where}")
    if found.codes:
        return not_yet("OTHER", f"{start}This is what one gets if {IDEAS[found.codes[0]]}.", again)
    if found.tie:
        ideas = ", or that ".join(f"{IDEAS[code]} ({code})" for code in found.tie)
        return not_yet("OTHER", f"{start}It may be a slip of the pen. It could also be that {ideas}.", again)
    return not_yet("OTHER", start + OTHER_BY_KIND["number"][0], OTHER_BY_KIND["number"][1])


def _run(inputs: dict[str, float], gates: tuple[Gate, ...], title: str, backward: bool) -> Recording:
    """Record a puzzle.

    Its lines run as source text of their own, so that the picture shows ``a = x + y`` and not the line that dealt
    it.
    """
    code = readable("".join(f"{gate}\n" for gate in gates), title.lower())
    values: dict[str, Any] = {key: lab.Variable(value, name=key) for key, value in inputs.items()}
    sources = list(values.values())
    with record(title, namespace=values) as recording, lab.GradientTape() as tape:
        exec(code, {"max": lab.maximum}, values)
        if backward:
            tape.gradient(values[gates[-1].out], sources)
    return recording


def _value(recording: Recording, tensor: int) -> float:
    return float(np.asarray(recording.tensors[tensor].snapshot.array))


def backward_puzzle(seed: int | None = None) -> BackwardPuzzle:
    """Deal a puzzle.

    Parameters
    ----------
    seed : int, optional
        The same puzzle again; by default a fresh one.

    Examples
    --------
    >>> from autodiff_lab import lessons
    >>> puzzle = lessons.backward_puzzle(seed=1)
    >>> puzzle.blanks
    ('f', 'c', 'b', 'a', 'x', 'y', 'z')
    >>> puzzle.check({name: ... for name in puzzle.blanks})
    Not yet. 7 blanks are left: f, c, b, a, x, y, z.
    Hint: Replace every ... and run the cell again; a guess is welcome.
    """
    seed = secrets.randbelow(9000) + 1000 if seed is None else seed
    rng = np.random.default_rng(seed)
    while True:
        inputs = {name: float(rng.choice([-3, -2, -1, 1, 2, 3, 4])) for name in "xyz"}
        gates = _deal(rng)
        if len(set(inputs.values())) == 3 and _is_good(inputs, gates):
            return BackwardPuzzle(inputs, gates, seed)


def _deal(rng: np.random.Generator) -> tuple[Gate, ...]:
    """Four gates in which every line uses the one before it or is used by a later one."""
    ops = [
        str(op)
        for op in rng.permutation(["add", "multiply", "maximum", str(rng.choice(["add", "subtract", "multiply"]))])
    ]
    x, y, z = (str(name) for name in rng.permutation(list("xyz")))
    again = str(rng.choice([x, "a"]))
    pairs = [(x, y), (z, again), ("a", "b"), ("c", str(rng.choice(["b", y])))]
    return tuple(
        Gate(out, op, *map(str, rng.permutation(pair))) for out, op, pair in zip("abcf", ops, pairs, strict=True)
    )


def _is_good(inputs: dict[str, float], gates: tuple[Gate, ...]) -> bool:
    """Return whether a puzzle is worth solving: no tie in a max, small numbers, few of them equal, few blanks idle."""
    values = dict(inputs)
    for gate in gates:
        one, two = values[gate.one], values[gate.two]
        if gate.op == "maximum" and one == two:
            return False
        results = {"add": one + two, "subtract": one - two, "multiply": one * two, "maximum": max(one, two)}
        values[gate.out] = results[gate.op]
    numbers_ = values.values()
    if max(map(abs, numbers_)) > LARGEST or values["f"] in (0.0, 1.0) or len(set(numbers_)) < 6:
        return False
    gradients = [gradient for _, gradient in BackwardPuzzle(inputs, gates)._facts().values()]
    idle = sum(gradient == 0 for gradient in gradients)
    return idle <= 1 and all(abs(gradient) <= LARGEST for gradient in gradients) and len(set(gradients)) >= 4


def _seconds(grind: Any, brew: Any, steam: Any, drinks: Any) -> Any:
    """Return the time of an order in lesson 7."""
    return (grind + lab.maximum(brew, steam)) * drinks


def _check_puzzle(answers: Any, puzzle: Any = None) -> CheckResult:
    if not isinstance(puzzle, BackwardPuzzle):
        raise InvalidArgumentError('Pass the puzzle as well: lessons.check("7.1", answers, puzzle).')
    return puzzle.check(answers)


EXERCISES: dict[str, Exercise] = {
    "7.1": Exercise("a graph of your own", _check_puzzle),
    "7.2": Exercise("seconds at the counter", lambda slopes: check_gradients(slopes, _seconds)),
}
