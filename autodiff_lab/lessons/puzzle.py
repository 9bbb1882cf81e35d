"""Freshly dealt computation graphs to go backwards through by hand: four gates, three inputs, seven blanks.

All numbers are small integers, so that paper is enough.  An answer is read blank by blank in the order of the backward
pass; the first wrong one is explained from the contributions that arrive there.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

import autodiff_lab as lab
from autodiff_lab.errors import InvalidArgumentError
from autodiff_lab.lessons.attempt import checked, numbers, same
from autodiff_lab.lessons.codes.states import OTHER_BY_KIND
from autodiff_lab.lessons.exercise import Exercise
from autodiff_lab.lessons.gradients import check_gradients
from autodiff_lab.lessons.result import CheckResult, not_yet, passed
from autodiff_lab.lessons.source import readable
from autodiff_lab.recording import Recording, record
from autodiff_lab.recording.model import Flow, Sweep
from autodiff_lab.recording.numbers import short

SIGNS = {"add": "{} + {}", "subtract": "{} - {}", "multiply": "{} * {}", "maximum": "max({}, {})"}
LARGEST = 40
"""No value or gradient of a puzzle is larger than this."""

Arrival = tuple[Flow, float, float]
"""A contribution to a value: the flow, what came in at the gate, and the local derivative."""


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

    def explain(self, name: str, answer: float) -> str:
        """Return the code of the wrong idea that gives this answer, if all answers before it are right."""
        facts = self._facts()
        value, truth = facts[name]
        fitting = [
            code
            for code, guess in self._guesses(value, truth, list(self._arriving(name)))
            if same(guess, answer) and not same(guess, truth)
        ]
        before = self.blanks[: self.blanks.index(name)]
        return next((code for code in fitting if not self._refuted(code, before)), (*fitting, "OTHER")[0])

    def _refuted(self, code: str, right: Iterable[str]) -> bool:
        """Return whether an idea would have shown at one of these blanks, all of which are right."""
        facts = self._facts()
        for name in right:
            value, truth = facts[name]
            guesses = [guess for each, guess in self._guesses(value, truth, list(self._arriving(name))) if each == code]
            if guesses and not any(same(guess, truth) for guess in guesses):
                return True
        return False

    def is_slip(self, name: str, answers: dict[str, float]) -> bool:
        """Return whether a wrong blank is the only one, and the idea that fits it would have shown elsewhere too."""
        facts = self._facts()
        others = [each for each in self.blanks if each != name]
        if any(not same(answers[each], facts[each][1]) for each in others):
            return False
        steps = [step for step in self._whole.sweeps[0].steps if name in self._made_by(step.application)]
        onward = any(_local(flow) != 0.0 for step in steps for flow in step.flows)
        return onward or self._refuted(self.explain(name, answers[name]), others)

    def _made_by(self, application: int) -> set[str | None]:
        return {self._whole.tensors[key].name for key in self._whole.applications[application].outputs}

    def _arriving(self, name: str) -> Iterator[Arrival]:
        """Yield the contributions to a value."""
        sweep: Sweep = self._whole.sweeps[0]
        for step in sweep.steps:
            for flow in step.flows:
                if self._whole.tensors[flow.input].name == name and step.incoming[0] is not None:
                    yield flow, _value(self._whole, step.incoming[0]), _local(flow)

    def _guesses(
        self, value: float, truth: float, flows: list[tuple[Flow, float, float]]
    ) -> Iterator[tuple[str, float]]:
        """Yield what each wrong idea would write here, the most telling first."""
        shares = [incoming * local for _, incoming, local in flows]
        if not shares:  # the end of the program, where the seed is
            yield from (("SEED", 0.0), ("SEED", value))
            return
        if len(shares) > 1:
            yield from (("OVERWRITE", share) for share in shares)
        for code, local in (("OWN_VALUE", self._swapped), ("MAX_LOSER", self._lost), ("MAX_SHARES", self._shared),
                            ("MINUS_LOST", self._unsigned)):  # fmt: skip
            yield code, sum(incoming * local(flow) for flow, incoming, _ in flows)
        yield "LOCAL_ONLY", sum(local for _, _, local in flows)
        yield "SIGN", -truth
        for flow, _, local in flows:
            early = self._first_share(flow)
            if early is not None:
                yield "EARLY", truth + early * local
        yield from (("VALUE", value), ("STALE", 2 * truth))

    def _gate(self, flow: Flow) -> tuple[str, Any]:
        for step in self._whole.sweeps[0].steps:
            if flow in step.flows:
                application = self._whole.applications[step.application]
                return application.op, application
        raise InvalidArgumentError("this flow belongs to another recording")

    def _swapped(self, flow: Flow) -> float:
        op, _ = self._gate(flow)
        return _value(self._whole, flow.input) if op == "multiply" else _local(flow)

    def _lost(self, flow: Flow) -> float:
        return 1.0 - _local(flow) if self._gate(flow)[0] == "maximum" else _local(flow)

    def _shared(self, flow: Flow) -> float:
        return 1.0 if self._gate(flow)[0] == "maximum" else _local(flow)

    def _unsigned(self, flow: Flow) -> float:
        return 1.0 if self._gate(flow)[0] == "subtract" else _local(flow)

    def _first_share(self, flow: Flow) -> float | None:
        """Return the first of several contributions to the output of a gate, or None if it gets only one."""
        output = self._gate(flow)[1].outputs[0]
        arriving = [f for step in self._whole.sweeps[0].steps for f in step.flows if f.input == output]
        return _value(self._whole, arriving[0].outgoing) if len(arriving) > 1 else None


@checked
def _check(puzzle: BackwardPuzzle, answers: Any) -> CheckResult:
    given = numbers(answers, puzzle.blanks)
    facts = puzzle._facts()
    for right, name in enumerate(puzzle.blanks):
        if not same(given[name], facts[name][1]):
            before = f"{right} right before it. " if right else ""
            start = f"First to fix: the blank of {name}. {before}"
            if puzzle.is_slip(name, given):
                sentence = "All the others are right, so this may be a slip of the pen."
                return not_yet("OTHER", start + sentence, "Work this one out once more: incoming × local, and add.")
            code = puzzle.explain(name, given[name])
            sentence = OTHER_BY_KIND["number"][0] if code == "OTHER" else not_yet(code).message
            return not_yet(code, start + sentence, OTHER_BY_KIND["number"][1] if code == "OTHER" else "")
    puzzle._passed = True
    return passed(
        f"All {len(puzzle.blanks)} blanks are right.", "puzzle.reveal() opens the backward pass to step through."
    )


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


def _local(flow: Flow) -> float:
    return float(np.asarray(flow.local.array)) if flow.local is not None else 1.0


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
