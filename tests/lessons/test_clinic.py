"""The cases of lesson 16: what the engine says of each, what a check costs, and files that are not cases."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab import lessons
from autodiff_lab.errors import InvalidArgumentError
from autodiff_lab.explain import remarks
from autodiff_lab.lessons.casefiles import LINES
from autodiff_lab.lessons.clinic import CASES, CHARTS, FOLDER, NAMES, Case, diagnose
from tests.lessons.answers import SOLVED
from tests.lessons.play import markdown, play, results, sources

NUMBERS = range(1, CASES + 1)
OWN: dict[str, Any] = {
    "complaint": "It is <b>flat</b>.",
    "program": ["def program(x):", "    x = lab.Variable(x)", "    with lab.GradientTape() as tape:",
                "        y = lab.floor(x)", "    return y, tape.gradient(y, x)"],
    "inputs": {"x": {"shape": [], "low": 0.0, "high": 1.0}},
}  # fmt: skip


@pytest.mark.parametrize("number", NUMBERS)
def test_the_engine_says_the_same_of_a_case_whatever_the_inputs(number: int) -> None:
    patient = lessons.case(number)
    truth = diagnose(patient)
    assert truth.cause in NAMES
    assert len(patient.data["program"]) <= LINES
    if "shown" not in patient.data:
        for seed in range(5):
            shown = {name: value.tolist() for name, value in patient.inputs(np.random.default_rng(seed)).items()}
            again = diagnose(Case(patient.name, {**patient.data, "shown": shown}))
            assert (again.line, again.cause) == (truth.line, truth.cause)


def test_every_exercise_has_a_case_and_the_lesson_names_every_cause() -> None:
    assert sorted(int(path.stem) for path in FOLDER.glob("*.json")) == list(NUMBERS)
    for number in NUMBERS:
        assert f"16.{number}" in lessons.EXERCISES
        assert f"`{diagnose(lessons.case(number)).cause}`" in markdown("16")


@pytest.mark.parametrize("number", range(4, CASES + 1))
def test_the_program_in_the_notebook_is_that_of_the_case(number: int) -> None:
    program = lessons.case(number).program.replace("def program", "def mended", 1)
    assert sources("16")[f"exercise-{number}"].startswith(program)


@pytest.mark.parametrize("number", NUMBERS)
def test_a_case_is_a_page_without_a_kernel(number: int, tmp_path: Path) -> None:
    patient = lessons.case(number)
    text = patient.to_html(tmp_path / "case.html").read_text(encoding="utf-8")
    assert len(text) < 60_000
    truth = diagnose(patient)
    assert f'"lines":[{truth.line}' in text
    assert f'"cause":"{truth.cause}"' in text


@pytest.mark.parametrize("number", NUMBERS)
def test_no_remark_is_shown_with_a_case(number: int) -> None:
    patient = lessons.case(number)
    shown = patient._repr_mimebundle_()
    for remark in remarks(patient.run()[0]):
        assert remark not in shown["text/plain"]
        assert remark not in shown["text/html"]
    assert diagnose(patient).words not in shown["text/plain"]
    assert patient.complaint in shown["text/plain"]
    assert "<svg" in shown["text/html"]


def test_the_diagnosis_opens_after_a_try_and_hints_cost_points() -> None:
    patient = lessons.case(9)
    assert patient.diagnosis().startswith("Closed")
    assert not lessons.check("16.9", ...).passed
    assert patient.diagnosis().startswith("Closed")  # a blank is not a try
    assert lessons.check("16.9", 6, "broadcast").code == "SYMPTOM_FOR_CAUSE"
    assert patient.chart.points == 3
    assert "line 5, broadcast" in patient.diagnosis()
    assert "(5, 1)" in patient.diagnosis()
    assert patient.hint() == patient.data["hints"][0]
    assert patient.hint().startswith("There is no further hint.")
    assert patient.chart.points == 1
    assert lessons.case(9).chart.points == 3  # opened again, a case starts over
    assert not lessons.case(9).chart.tried


def test_a_solved_lesson_earns_all_points() -> None:
    CHARTS.clear()
    shown = play("16", SOLVED["16"])
    assert all(result.passed for result in results(shown).values())
    solved = [chart for name, chart in CHARTS.items() if name.startswith("case ")]
    assert [chart.points for chart in solved if chart.solved] == [3] * CASES


def test_a_file_is_a_case(tmp_path: Path) -> None:
    file = tmp_path / "flat.json"
    file.write_text(json.dumps(OWN), encoding="utf-8")
    patient = lessons.case(file)
    assert (patient.name, diagnose(patient).line, diagnose(patient).cause) == ("flat", 4, "not_differentiable")
    assert "<b>flat</b>.”" not in patient._repr_mimebundle_()["text/html"]
    assert lessons.check_case(patient, 4, "not_differentiable", patient.function()).code == "STILL_NONE"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"complaint": ""}, "'complaint' is missing"), ({"program": "text"}, "should be a list"),
        ({"program": ["x"] * 9}, "at most 8 lines"), ({"program": [1]}, "lines of text"),
        ({"inputs": {"x": 3}}, "needs a shape"), ({"colour": 1}, "no 'colour'"), ({"hints": "one"}, "should be a list"),
        ({"inputs": {"x": {"shape": [2], "low": "a", "high": 1}}}, "numbers"),
        ({"inputs": {"x": {"shape": [10**9], "low": 0, "high": 1}}}, "at most"),
        ({"inputs": {"x": {"shape": [-1], "low": 0, "high": 1}}}, "shape"),
        ({"inputs": {"x": {"shape": [2], "low": float("nan"), "high": 1}}}, "numbers"),
        ({"source": "z"}, "no input 'z'"), ({"program": ["def other(x):", "    return x"]}, "define program"),
        ({"program": ["def program(x:"]}, "cannot be run"),
        ({"program": ["def program(x):", "    1 / 0"]}, "run: ZeroDiv"),
        ({"program": ["def program(x):", "    return x"]}, "a value and a gradient"),
        ({"program": ["def program(y, z):", "    return y, z"]}, "cannot be run"),
        ({"shown": {"x": "many"}}, "'shown'"), ({"meant": "x +"}, "'meant'"), ({"at": "y"}, "'at'"),
        ({"harmful": [{"y": 1.0}]}, "'harmful'"), ({"also_lines": ["two"]}, "'also_lines'"),
        ({"hints": [3]}, "'hints'"),
    ],
)  # fmt: skip
def test_what_is_no_case_is_refused(change: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidArgumentError, match=words.replace("(", r"\(")):
        lessons.case({**OWN, **change})


@pytest.mark.parametrize("which", [0, 11, True, None, 2.5, "no such file.json", [], float("nan"), b"3"])
def test_what_names_no_case_is_refused(which: Any) -> None:
    with pytest.raises(InvalidArgumentError, match="case"):
        lessons.case(which)
    with pytest.raises(InvalidArgumentError, match="case"):
        lessons.check_case(which, 1)


@pytest.mark.slow
def test_a_leaky_unit_is_another_function_wherever_the_fresh_inputs_lie() -> None:
    """Where the unit is alive, both agree: the inputs with which the case is shown must be tried as well."""
    patient = lessons.case(6)
    leaky = "\n".join(patient.data["program"]).replace("lab.nn.relu(", "lab.nn.leaky_relu(")
    names: dict[str, Any] = {"lab": lab}
    exec(leaky, names)
    line, cause = diagnose(patient).line, diagnose(patient).cause
    for _ in range(60):
        assert lessons.check_case(6, line, cause, names["program"]).code == "OTHER_FUNCTION"
