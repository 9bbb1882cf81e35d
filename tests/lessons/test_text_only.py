"""Without ipywidgets and anywidget, as in a terminal or a browser tab, the lessons import and work as text."""

import subprocess
import sys

import pytest

from tests.tree import ROOT

WITHOUT = """
import sys


class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {"ipywidgets", "anywidget"}:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


sys.meta_path.insert(0, Absent())
"""
PREDICTIONS = """
import autodiff_lab as lab
from autodiff_lab import lessons

x = lab.Variable(3.0, name="x")
with lab.record() as recording:
    with lab.GradientTape() as tape:
        y = x * x
    g = tape.gradient(y, x)
guess = lessons.predict("How fast?", ideas={9: "WHOLE_TRIP"})
closed = guess.unlock(recording, outcome=lambda: 6)
print(guess, closed, sep="\\n")
print(guess.commit(9), closed, sep="\\n")
print(lessons.predict("Which?", choices=["a", "b"]).commit("a").unlock(recording.ledger(x), outcome="b"))
print(guess.then(lambda: print("later")), lessons.explain("1", "I {} because {}.").keep("see", "it moves"))
print(lessons.backward_puzzle(1))
try:
    lessons.jacobian_map(lambda v: v * v, [1.0, 2.0])
except lab.errors.MissingPackage as error:
    print(error)
"""
PRINTED = (
    "How fast?\nNothing predicted yet.\nClosed until you commit a prediction above.",
    "You predicted 9.\nanswer: predicted 9, it is 6: 3 too much; this is what one gets if",
    "%1: f32 = multiply(%0, %0)",
    "answer: predicted a, it is b: not as predicted\ndy/dx = 6 = 3 + 3",
    "later I see because it moves.",
    "This map needs anywidget, which is not installed.",
)
LESSON = """
from tests.lessons.answers import SOLVED
from tests.lessons.play import play, results

for changes in (SOLVED[{lesson!r}], {{}}):
    shown = play({lesson!r}, changes)
    found = results(shown)
    passed = [key for key in found if found[key].passed]
    print("checks:", set(changes or SOLVED[{lesson!r}]) <= set(passed), all(repr(value) for value in shown.values()))
"""


def without_widgets(program: str) -> str:
    command = [sys.executable, "-c", WITHOUT + program]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_predictions_explanations_and_puzzles_are_text() -> None:
    printed = without_widgets(PREDICTIONS)
    for part in PRINTED:
        assert part in printed


@pytest.mark.slow
@pytest.mark.parametrize("lesson", ["06", "07"])
def test_a_lesson_runs_and_its_checks_answer(lesson: str) -> None:
    """Solved, every check passes; as handed out, none does, and nothing raises. Other lessons open plots that drag."""
    printed = without_widgets(LESSON.format(lesson=lesson)).splitlines()
    assert [line for line in printed if line.startswith("checks:")] == ["checks: True True", "checks: False True"]
