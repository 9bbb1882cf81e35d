"""What the checks rely on: reference values against differences in plain Python, results that are safe to show."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab.lessons import CODES, CheckResult, backward_puzzle, check_average_rate, check_gradients
from autodiff_lab.lessons.attempt import attempt, checked, number, numbers
from autodiff_lab.lessons.gradients import gradients_of
from autodiff_lab.lessons.products import check_modes
from autodiff_lab.lessons.puzzle import SIGNS, BackwardPuzzle, Gate
from autodiff_lab.lessons.rates import Cubic, meets_again, slope
from autodiff_lab.lessons.result import not_yet, passed
from autodiff_lab.lessons.sweeping import _slopes, check_per_point
from autodiff_lab.teaching import program_of, run, wrong_engines
from tests.tree import ROOT

SEEDS = range(25)
STEP = 1e-3


def nudged(puzzle: BackwardPuzzle, name: str, by: float) -> float:
    """Return f when one value, given or computed, is moved by a little; plain Python, no tape."""
    values = dict(puzzle.inputs)
    values[name] = values.get(name, 0.0) + by
    for gate in puzzle.gates:
        expression = SIGNS[gate.op].format(values[gate.one], f"({values[gate.two]})")
        values[gate.out] = eval(expression) + (by if gate.out == name else 0.0)
    return values["f"]


@pytest.mark.parametrize("seed", SEEDS)
def test_the_truth_of_a_puzzle_agrees_with_nudging_each_value(seed: int) -> None:
    puzzle = backward_puzzle(seed)
    for name in puzzle.blanks:
        difference = (nudged(puzzle, name, STEP) - nudged(puzzle, name, -STEP)) / (2 * STEP)
        assert puzzle._facts()[name][1] == pytest.approx(difference, abs=1e-6)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_puzzle_uses_something_twice_and_has_no_tie(seed: int) -> None:
    puzzle = backward_puzzle(seed)
    used = [name for gate in puzzle.gates for name in (gate.one, gate.two)]
    assert len(used) > len(set(used))
    assert set(used) == {*puzzle.inputs, "a", "b", "c"}


def test_the_same_seed_deals_the_same_puzzle_and_no_seed_a_fresh_one() -> None:
    assert repr(backward_puzzle(3)) == repr(backward_puzzle(3))
    assert len({repr(backward_puzzle()) for _ in range(4)}) > 1


def test_a_puzzle_shows_its_forward_pass_only_until_it_is_solved() -> None:
    puzzle = backward_puzzle(5)
    assert not puzzle.recording.sweeps
    assert isinstance(puzzle.reveal(), CheckResult)
    assert puzzle.check({name: gradient for name, (_, gradient) in puzzle._facts().items()}).passed
    revealed = puzzle.reveal()
    assert not isinstance(revealed, CheckResult)
    assert len(revealed.sweeps) == 1


# a is used twice, once by b; f is a product, so that own values, values and sums all differ.
TWICE = BackwardPuzzle(
    {"x": 3.0, "y": -2.0, "z": 4.0},
    (Gate("a", "multiply", "x", "y"), Gate("b", "maximum", "a", "z"), Gate("c", "subtract", "z", "a"),
     Gate("f", "multiply", "c", "b")),
)  # fmt: skip
# x reaches f through a, and a both directly and through b.
EARLY = BackwardPuzzle(
    {"x": 3.0, "y": 2.0, "z": 5.0},
    (Gate("a", "multiply", "x", "y"), Gate("b", "multiply", "a", "z"), Gate("c", "add", "b", "y"),
     Gate("f", "add", "c", "a")),
)  # fmt: skip


def carried_on(puzzle: BackwardPuzzle, name: str, answer: float) -> dict[str, float]:
    """Return the blanks of somebody who is wrong at one of them and goes on rightly from there."""
    blanks = dict.fromkeys(puzzle.blanks, 0.0) | {puzzle.blanks[0]: 1.0}
    facts = puzzle._facts()
    blanks[name] = answer if name == puzzle.blanks[0] else 0.0
    for gate in reversed(puzzle.gates):
        if gate.out == name:
            blanks[name] = answer
        one, two = facts[gate.one][0], facts[gate.two][0]
        local = {"add": (1.0, 1.0), "subtract": (1.0, -1.0), "multiply": (two, one),
                 "maximum": (float(one > two), float(two > one))}[gate.op]  # fmt: skip
        for source, factor in zip((gate.one, gate.two), local, strict=True):
            blanks[source] += blanks[gate.out] * factor
    return {**blanks, name: answer}


def test_who_goes_on_rightly_from_the_truth_is_right() -> None:
    for seed in range(6):
        puzzle = backward_puzzle(seed)
        truth = {name: gradient for name, (_, gradient) in puzzle._facts().items()}
        assert carried_on(puzzle, puzzle.blanks[0], 1.0) == pytest.approx(truth)


@pytest.mark.slow
def test_a_slip_of_the_pen_is_given_no_idea() -> None:
    """One blank off by 1 or 2, or with its sign flipped, and everything else right."""
    for seed in range(7):
        puzzle = backward_puzzle(seed)
        truth = {name: gradient for name, (_, gradient) in puzzle._facts().items()}
        name = puzzle.blanks[seed]
        for wrong in {truth[name] - 2.0, truth[name] + 1.0, -truth[name]} - {truth[name]}:
            assert puzzle.check({**truth, name: wrong}).code == "OTHER"


@pytest.mark.slow(keep=4)
@pytest.mark.parametrize(
    ("puzzle", "name", "answer", "codes", "where"),
    [
        (TWICE, "f", 0.0, {"SEED"}, ""),
        (TWICE, "f", 40.0, {"SEED"}, ""),
        (TWICE, "c", 10.0, {"VALUE"}, "c"),
        (TWICE, "a", 4.0, {"MINUS_LOST"}, ""),
        (TWICE, "z", 10.0, {"ONE_PATH"}, ""),  # the last contribution is the other one
        (TWICE, "z", 4.0, {"OVERWRITE"}, ""),
        (EARLY, "a", 5.0, {"OVERWRITE", "ONE_PATH"}, ""),  # small numbers settle nothing
        (EARLY, "x", 14.0, {"EARLY"}, ""),  # off by 2
        (EARLY, "x", 24.0, {"STALE"}, "x"),
        (EARLY, "x", 2.0, {"CLOSED"}, ""),
        (EARLY, "x", 3.0, {"VALUE"}, "x"),
        (EARLY, "x", 99.0, set[str](), ""),
    ],
)
def test_the_first_wrong_blank_is_explained(
    puzzle: BackwardPuzzle, name: str, answer: float, codes: set[str], where: str
) -> None:
    assert puzzle._facts()[name][1] != answer
    blanks = carried_on(puzzle, name, answer)
    found = puzzle.diagnose(blanks)
    assert ({*found.codes, *found.tie}, found.where) == (codes, where)
    result = puzzle.check(blanks)
    assert not result.passed
    assert result.code == (found.codes[0] if found.codes else "OTHER")
    assert not (found.codes and found.tie)
    assert f"blank of {name}." in result.message
    assert (f"It happened at {where} alone" in result.message) == bool(where)
    assert all(code in result.message for code in found.tie)


@pytest.mark.slow
def test_wrong_engines_are_named_by_their_blanks() -> None:
    """Each idea, carried through all blanks of a puzzle as a learner would."""
    named = ideas = 0
    for seed in range(2):
        puzzle = backward_puzzle(seed)
        program = program_of(puzzle._whole)
        for engine in wrong_engines():
            books = run(program, engine)
            found = {name: books.gradient(program.account(name).tensors) for name in puzzle.blanks}
            blanks = {name: 0.0 if each is None else float(np.asarray(each)) for name, each in found.items()}
            result = puzzle.check(blanks)
            if not result.passed:
                ideas += 1
                named += result.code == engine.code or engine.idea in result.message
    assert ideas > 40
    assert named >= 0.95 * ideas


@pytest.mark.parametrize("seed", range(5))
def test_gradients_agree_with_differences(seed: int) -> None:
    x, y = np.random.default_rng(seed).uniform(-1, 1, 2)

    def by_tape(u: object, v: object) -> object:
        return lab.exp(u * v) - lab.maximum(u, v) * v

    def plain(u: float, v: float) -> float:
        return math.exp(u * v) - max(u, v) * v

    found = gradients_of(by_tape, {"x": x, "y": y})
    h = 1e-6
    assert found["x"] == pytest.approx((plain(x + h, y) - plain(x - h, y)) / (2 * h), abs=1e-6)
    assert found["y"] == pytest.approx((plain(x, y + h) - plain(x, y - h)) / (2 * h), abs=1e-6)


@pytest.mark.parametrize("a", [-2.0, -0.5, 1.0, 3.0])
def test_the_tangent_meets_the_cubic_where_it_is_said_to(a: float) -> None:
    cubic = Cubic(2.0, -1.0, 3.0, 5.0)
    again = meets_again(cubic, a)
    assert cubic(again) == pytest.approx(cubic(a) + slope(cubic, a) * (again - a))
    assert again != pytest.approx(a)
    assert slope(cubic, a) == pytest.approx((cubic(a + 1e-5) - cubic(a - 1e-5)) / 2e-5)


@pytest.mark.slow(keep=10)
@pytest.mark.parametrize("seed", range(40))
def test_whatever_points_are_drawn_a_dropped_contribution_is_found(seed: int) -> None:
    def dropped(x: float, y: float, z: float) -> dict[str, float]:
        return {"x": max(x, z), "y": max(x, z), "z": (x + y) * (x < z)}

    result = check_gradients(dropped, lambda x, y, z: (x + y) * lab.maximum(x, z), seed)
    assert result.code == "OVERWRITE"


def test_points_are_fresh_and_a_seed_makes_them_the_same_again() -> None:
    seen: list[float] = []
    check_gradients(lambda x: seen.append(x) or {"x": 0.0}, lambda x: x * x, seed=1)
    check_gradients(lambda x: seen.append(x) or {"x": 0.0}, lambda x: x * x, seed=1)
    check_gradients(lambda x: seen.append(x) or {"x": 0.0}, lambda x: x * x)
    assert seen[:6] == seen[6:12]
    assert seen[:6] != seen[12:]


def test_no_message_holds_the_answer() -> None:
    facts = EARLY._facts()
    answers = {key: gradient for key, (_, gradient) in facts.items()}
    for name in ("x", "y"):
        shown = repr(EARLY.check({**answers, name: 1000.0}))
        assert "Not yet" in shown
        assert not re.search(rf"\b{int(facts[name][1])}\b", shown)


@checked
def check_number(value: object) -> CheckResult:
    return passed(str(number(value, "it")))


@pytest.mark.parametrize(
    ("value", "code"),
    [
        (..., "BLANK"),
        (None, "BLANK"),
        ("ten", "RAISES"),
        ([1, 2], "RAISES"),
        (lab.constant(2.0), ""),
        (np.float32(2), ""),
    ],
)
def test_anything_may_be_given_for_a_number(value: object, code: str) -> None:
    assert check_number(value).code == code


@checked
def check_call(function: object) -> CheckResult:
    return passed(str(attempt(function, 1.0)))


@pytest.mark.parametrize(
    ("function", "code"),
    [
        (lambda x: x + ..., "BLANK"),
        (lambda x: ..., "BLANK"),
        (lambda x: None, "BLANK"),
        (..., "BLANK"),
        (3.0, "RAISES"),
        (lambda x: x / 0, "RAISES"),
        (lambda: 1.0, "RAISES"),
        (lambda x: x, ""),
    ],
)
def test_a_function_with_blanks_or_faults_gives_a_result_and_never_a_traceback(function: object, code: str) -> None:
    assert check_call(function).code == code


def test_missing_names_count_as_blanks() -> None:
    @checked
    def check(values: object) -> CheckResult:
        return passed(str(numbers(values, ("x", "y"))))

    assert "One blank is left: y." in check({"x": 1.0}).message
    assert check({"x": 1.0, "y": 2.0}).passed
    assert check([1.0, 2.0]).code == "RAISES"


def test_a_result_escapes_what_the_learner_wrote() -> None:
    bundle = not_yet("RAISES", "it raised <script>alert(1)</script>", "<b>")._repr_mimebundle_()
    assert "<script>" not in bundle["text/html"]
    assert "&lt;script&gt;" in bundle["text/html"]
    assert bundle["text/plain"].startswith("Not yet (RAISES). it raised <script>")


def test_a_result_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        passed("yes").passed = False  # type: ignore[misc]


def test_every_code_says_something_and_hints() -> None:
    for code, entry in CODES.items():
        assert entry.idea, code
        assert entry.says.endswith("."), code
        assert entry.hint.rstrip()[-1] in ".?", code


def test_the_document_for_teachers_lists_every_code() -> None:
    text = Path(ROOT / "docs" / "lessons.md").read_text(encoding="utf-8")
    rows = {
        cells[0].strip(" `"): (cells[1].strip(), cells[2].strip())
        for line in text.splitlines()
        if line.startswith("| `") and len(cells := line.strip("|").split("|")) == 3
    }
    wanted = {code: (entry.idea, ", ".join(map(str, entry.lessons)) or "all") for code, entry in CODES.items()}
    assert rows == wanted


@pytest.mark.parametrize(
    ("answer", "code", "hint"),
    [
        (lambda f, a, b: None, "BLANK", "return"),
        (lambda f, a, b: ..., "BLANK", "Replace every ..."),
        (lambda f, a, b: 1 / 0, "RAISES", "Call your function in a new cell"),
        (lambda f, a, b: "nine", "RAISES", "without the quotes"),
        (9.0, "RAISES", "the kind of thing that was asked for"),
    ],
)
def test_the_hint_fits_what_is_wrong_with_an_answer_that_is_none(answer: object, code: str, hint: str) -> None:
    """Whoever prints in place of returning has no ... to replace, and whoever hands over a word has nothing to call."""
    result = check_average_rate(answer)
    assert result.code == code
    assert hint in result.next_hint


@pytest.mark.slow
def test_a_size_is_never_taken_for_a_rate() -> None:
    def size(f: Callable[[float], float], a: float, b: float) -> float:
        return abs(f(b) - f(a)) / (b - a)

    assert not any(check_average_rate(size, seed).passed for seed in range(600))


def test_a_slope_with_every_input_seeded_is_told_from_one_in_another_unit_and_from_the_right_one() -> None:
    def seeded(share: float) -> Callable[[float, float, int], float]:
        def answer(loan: float, yearly: float, months: int) -> float:
            by_loan, by_rate = _slopes(loan, yearly, months)
            return (by_rate + by_loan) * share

        return answer

    for share in (1.0, 0.01):
        assert {check_per_point(seeded(share), seed).code for seed in range(100)} == {"ALL_SEEDED"}


@pytest.mark.parametrize(
    "choice",
    [
        lambda inputs, outputs: inputs < 500,
        lambda inputs, outputs: inputs < 2 * outputs,
        lambda inputs, outputs: 2 * inputs < outputs,
        lambda inputs, outputs: inputs < outputs + 2,
        lambda inputs, outputs: outputs > 10,
    ],
)
def test_no_other_choice_of_a_mode_is_right_in_any_draw(choice: Callable[[int, int], bool]) -> None:
    def cheaper(inputs: int, outputs: int) -> str:
        return "forward" if choice(inputs, outputs) else "backward"

    assert {check_modes(cheaper, seed).code for seed in range(200)} == {"OTHER"}
