"""The lessons as a whole: solved they pass, wrong answers are identified, and as shipped they wait for an answer."""

from __future__ import annotations

import json
import re
from collections import Counter
from functools import cache
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab import lessons
from autodiff_lab.lessons import CODES
from autodiff_lab.lessons.repairs import PROGRAMS, broken, cause_of
from tests.amputation import marked
from tests.lessons.answers import RIGHT, SOLVED, WRONG
from tests.lessons.play import LESSONS, NOTEBOOKS, answer, cells, markdown, number_of, play, results, run, sources

PARTS = ["Predict", "Observe", "Explain", "The rule", "A worked example that fades", "Exercise", "Transfer", "In words"]
DETECTED = {"PRODUCT_OF_SLOPES", "EXP_AS_POWER", "SIGN"}
"""Ideas that checks also find where no lesson promises it."""
STATES = {"BLANK", "RAISES", "OTHER", "TOO_LONG"}


def simulates_a_gpu(lesson: str) -> bool:
    return lesson.startswith("15")


PLAYED = marked(LESSONS, simulates_a_gpu)


@cache
def as_shipped(lesson: str) -> dict[str, Any]:
    """Play a lesson in which nothing is answered."""
    return play(lesson)


@pytest.mark.slow(keep=6)
@pytest.mark.parametrize("lesson", PLAYED)
def test_a_solved_lesson_passes_every_check(lesson: str) -> None:
    found = results(play(lesson, SOLVED[number_of(lesson)]))
    assert {key: result for key, result in found.items() if not result.passed} == {}
    assert set(SOLVED[number_of(lesson)]) <= set(found)


@pytest.mark.slow(keep=1)
@pytest.mark.parametrize("lesson", PLAYED)
def test_wrong_answers_are_named_and_right_answers_pass(lesson: str) -> None:
    number = number_of(lesson)
    amiss: list[tuple[str, str, object]] = []
    for cell in sources(lesson):
        for _, _, typed, code in (row for row in WRONG if row[:2] == (number, cell)):
            found = answer(number, cell, typed)
            if found.passed or found.code != code or not (found.message and found.next_hint):
                amiss.append((cell, typed, found))
        for _, _, typed in (row for row in RIGHT if row[:2] == (number, cell)):
            found = answer(number, cell, typed)
            if not found.passed:
                amiss.append((cell, typed, found))
    assert amiss == []


@pytest.mark.parametrize("lesson", LESSONS)
def test_every_exercise_has_three_right_answers_and_eight_wrong_ones(lesson: str) -> None:
    number = number_of(lesson)
    right = Counter([*SOLVED[number], *(cell for where, cell, _ in RIGHT if where == number)])
    wrong = Counter(cell for where, cell, _, _ in WRONG if where == number)
    asks = re.compile(r"^lessons\.check(_\w+)?\(", re.MULTILINE)
    asked = {key for key, source in sources(lesson).items() if asks.search(source)}
    exercises = asked - {"example-full"}  # where nothing is left to fill in
    assert len(exercises) >= 4
    assert {key: (right[key], wrong[key]) for key in exercises if right[key] < 3 or wrong[key] < 8} == {}


@pytest.mark.slow(keep=9)
@pytest.mark.parametrize("lesson", PLAYED)
def test_as_shipped_every_exercise_waits_and_nothing_raises(lesson: str) -> None:
    found = results(as_shipped(lesson))
    waiting = {key: result.code for key, result in found.items() if not result.passed}
    assert set(waiting) >= set(SOLVED[number_of(lesson)])
    waits = {"BLANK", "STILL_NONE", "EVERYTHING", "SUMMED", "FIRST_OUTSIDE", "STILL_EAGER", "RETRACED", "ALL_KEPT"}
    waits |= {"STRIDED", "SOME_RETURN", "EARLY", "WHERE_PROTECTS", "OVERWRITE", "STALE"}
    assert set(waiting.values()) <= waits
    assert [key for key, result in found.items() if result.passed] in ([], ["example-full"])


@pytest.mark.parametrize("lesson", LESSONS)
def test_what_a_lesson_says_it_cures_is_what_its_checks_can_name(lesson: str) -> None:
    cures = set(re.findall(r"[A-Z]+(?:_[A-Z]+)*", _line(lesson, "Cures"))) & set(CODES)
    number = number_of(lesson).lstrip("0")
    assert cures == {code for code, entry in CODES.items() if number in map(str, entry.lessons)}
    named = {code for where, _, _, code in WRONG if where == number_of(lesson)} - STATES
    assert named <= cures | DETECTED
    assert cures - named <= {"EARLY"}  # needs a graph of its own, see test_puzzle


@pytest.mark.parametrize("lesson", LESSONS)
def test_what_a_lesson_cures_is_folded_away(lesson: str) -> None:
    """It names the usual wrong answers, which are answers to the lesson's questions."""
    title = cells(lesson)[0].source
    assert title.count("**Cures**") == 1
    assert re.search(r"<details><summary>For teachers</summary>\n\n- \*\*Cures\*\* [^<]*\n\n</details>\Z", title)


@pytest.mark.parametrize(("word", "introduced"), [("ledger", "06"), ("account", "08")])
def test_a_picture_of_the_course_is_introduced_before_it_is_used(word: str, introduced: str) -> None:
    used = [number_of(lesson) for lesson in LESSONS if re.search(rf"\b{word}s?\b", markdown(lesson).lower())]
    assert used[0] == introduced


def _line(lesson: str, word: str) -> str:
    found = re.search(rf"^- \*\*{word}\*\* (.*?)(?=^- |^$)", markdown(lesson), re.MULTILINE | re.DOTALL)
    assert found, f"no line {word!r} in the header"
    return found[1]


@pytest.mark.parametrize("lesson", LESSONS)
def test_a_lesson_has_all_its_parts_in_order(lesson: str) -> None:
    headings = re.findall(r"^## (.*)$", markdown(lesson), re.MULTILINE)
    places = [next(i for i, heading in enumerate(headings) if heading.startswith(part)) for part in PARTS]
    assert places == sorted(places)
    assert _line(lesson, "Needs")
    assert _line(lesson, "Words introduced")
    assert 30 <= int(re.findall(r"\d+", _line(lesson, "Time"))[0]) <= 50


@pytest.mark.parametrize("lesson", LESSONS)
def test_the_hook_has_fewer_than_80_words(lesson: str) -> None:
    hook = next(cell for cell in cells(lesson) if cell.id == "hook").source.partition("\n")[2]
    assert len(hook.split()) < 80


@pytest.mark.parametrize("lesson", LESSONS)
def test_cells_are_short_and_the_rule_fits_on_15_lines(lesson: str) -> None:
    sizes = {key: len(source.splitlines()) for key, source in sources(lesson).items()}
    assert max(sizes.values()) <= 25
    rule = [line for line in sources(lesson)["rule-in-code"].splitlines() if line.strip()]
    assert len(rule) <= 15


@pytest.mark.parametrize("lesson", LESSONS)
def test_the_notebook_can_be_read_as_a_diff(lesson: str) -> None:
    (path,) = NOTEBOOKS.glob(f"{lesson}*.ipynb")
    notebook = json.loads(path.read_text(encoding="utf-8"))
    assert "widgets" not in notebook["metadata"]
    for cell in notebook["cells"]:
        for output in cell.get("outputs", []):
            assert "application/vnd.jupyter.widget-view+json" not in output.get("data", {})
    assert path.stat().st_size < 100_000
    assert len({cell["id"] for cell in notebook["cells"]}) == len(notebook["cells"])


def test_the_recording_behind_the_widget_of_lesson_7_is_right() -> None:
    names = play("07")[""]

    def f(x: float, y: float, z: float) -> float:
        return (x + y) * max(x, z)

    at, h = {"x": 3.0, "y": -1.0, "z": 2.0}, 1e-6
    for name, tensor in names["grads"].items():
        slope = (f(**{**at, name: at[name] + h}) - f(**{**at, name: at[name] - h})) / (2 * h)
        assert float(tensor) == pytest.approx(slope, abs=1e-6)
    (sweep,) = names["recording"].sweeps
    recorded = [names["recording"].applications[step.application].op for step in sweep.steps]
    assert recorded == ["multiply", "maximum", "add"]
    assert [float(names["recording"].tensors[key].snapshot.array) for key in sweep.results] == [5.0, 3.0, 0.0]


def test_the_recordings_behind_the_widgets_of_lesson_6_are_right() -> None:
    names = play("06")[""]
    for recording, operations, slope in (
        (names["short"], ["multiply", "add", "greater"], 1.5),
        (names["long"], ["multiply", "add", "greater", "multiply"], 1.35),
    ):
        assert [application.op for application in recording.forward] == operations
        result = recording.sweeps[0].results[0]
        assert float(recording.tensors[result].snapshot.array) == pytest.approx(slope)
    assert names["held"] == [4000, 8000, 12000, 16000, 20000, 20000]


def test_the_broken_programs_are_those_of_the_notebook() -> None:
    for number, program in enumerate(PROGRAMS, start=1):
        assert sources("06")[f"repair-{number}"].startswith(program)


def test_each_broken_program_has_a_cause_of_its_own_whatever_the_number() -> None:
    causes = [{cause_of(broken(number), v)[0] for v in range(2, 10)} for number in range(1, 6)]
    assert causes == [{"not_watched"}, {"left_engine"}, {"integer"}, {"state_read"}, {"outside_tape"}]


@pytest.mark.slow(keep=1)
@pytest.mark.parametrize("lesson", PLAYED)
def test_two_runs_of_a_lesson_show_the_same_words(lesson: str) -> None:
    shown = as_shipped(lesson)
    first = {key: repr(value) for key, value in results(shown).items()}
    assert {key: repr(value) for key, value in results(play(lesson)).items()} == first
    for key, words in first.items():  # the checks draw fresh numbers every time
        assert all(repr(run(sources(lesson)[key], dict(shown[""]), "<again>")) == words for _ in range(3)), key


def test_the_map_and_the_recordings_of_lesson_10_are_right() -> None:
    names = play("10")[""]
    table, left, right, cotangent = (names[key] for key in ("facts", "A", "B", "G"))
    by_hand = np.einsum("ir,kc->ikrc", np.eye(3), right.T)  # C[i, k] uses row i of A alone, weighted by column k of B
    assert np.array_equal(table.array, by_hand)
    assert (table.matrix.size, table.zeros, table.product.result.size) == (72, 48, 12)
    sweep = names["recording"].sweeps[-1]
    (gradient,) = (names["recording"].tensors[key].snapshot.array for key in sweep.results)
    assert np.array_equal(gradient, cotangent @ right.T)
    assert np.array_equal(np.stack(names["columns"], axis=1), by_hand.reshape(6, 12))
    assert names["slope"].numpy().tolist() == [3.0, 2.0, 1.0]
    assert max(np.prod(tensor.snapshot.shape) for tensor in names["recording"].tensors.values()) == left.size


def test_the_recordings_of_lesson_13_are_right() -> None:
    names = play("13")[""]
    without, nested = names["without"], names["nested"]
    assert without.sweeps[1].results == (None,)
    assert without.explain("dy", "x").cause == "inner_gradient_outside"
    first, second = nested.sweeps
    assert [float(nested.tensors[sweep.results[0]].snapshot.array) for sweep in (first, second)] == [12.0, 12.0]
    went_through = {nested.applications[step.application].cause for step in second.steps}
    assert went_through - {None}, "the second pass goes through ops that the first one ran"
    sizes = {int(np.prod(tensor.snapshot.shape)) for tensor in names["product_only"].tensors.values()}
    assert max(sizes) == 1000


@pytest.mark.parametrize(("x", "y"), [(1.0, 1.0), (-0.5, 2.0), (0.3, 0.1)])
def test_the_valley_of_lesson_13_is_curved_as_its_formula_says(x: float, y: float) -> None:
    valley = play("13", stop_after="rule-in-code")[""]["valley"]
    wanted = [[2 - 400 * (y - x * x) + 800 * x * x, -400 * x], [-400 * x, 200.0]]
    point = lab.constant([x, y], dtype=lab.float64)
    assert np.allclose(lab.hessian(valley)(point).numpy(), wanted)
    assert np.allclose(lab.hvp(valley, point, lab.constant([1.0, 0.0], dtype=lab.float64)).numpy(), np.array(wanted)[0])


def test_the_counts_of_lesson_14a_are_right() -> None:
    names = play("14a")[""]
    # x is read by five ops and every other value by the one op that follows, two of them for the sums.
    assert (names["moved"].op_by_op, names["moved"].in_one_loop) == (23 * 16_000_000, 2 * 16_000_000)
    assert not names["compiled"].fallbacks
    x = np.array([1.0, 2.0])
    assert np.allclose(names["slope"](lab.constant(x)).numpy(), np.sin(x) + x * np.cos(x))
    assert (names["cached"].op_by_op, names["cached"].in_pieces) == (23 * 16_000_000, 2 * 16_000_000)


@pytest.mark.parametrize(
    ("times", "said"), [([8.7, 8.3], "about as long or longer on this"), ([8.7, 4.0], "less time, too")]
)
def test_the_cache_of_lesson_14a_has_one_answer_on_every_machine(
    times: list[float], said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Traffic is counted; the times are shown, with a sentence that says what they are here."""
    names = play("14a", stop_after="cache-answer")[""]
    monkeypatch.setattr(lessons, "seconds", lambda call: times.pop(0))
    assert names["in_pieces"]() == "as few as in one loop"
    assert len(times) == 2
    names["measure"]()
    assert f"In pieces it takes {said}" in capsys.readouterr().out


@pytest.mark.parametrize(("pieces", "cache", "moved"), [
    (0, 1_000_000, 0), (1, 1_000_000, 368), (4, 1_000_000, 368), (400, 1_000_000, 32), (1, 10**9, 32),
    (40, 1_000_000, 64),  # two values fit: exp is written back and read again while tanh is computed
])  # fmt: skip
def test_what_fits_into_the_cache_is_not_read_again(pieces: int, cache: int, moved: int) -> None:
    compiled = play("14a", stop_after="two-speeds")[""]["compiled"]
    counted = lessons.traffic(compiled, pieces, cache)
    assert counted.in_pieces == moved * 1_000_000
    assert ("in pieces" in counted.account) == bool(pieces)


def test_the_counts_of_lesson_14b_are_right() -> None:
    names = play("14b")[""]
    assert (names["counted"].peak, names["counted"].again) == (7, 16)
    assert names["par_places"]() == "closer together towards the end"
    assert (names["board"].par, names["game"].par, names["shared"].par) == (6, 15, 14)
