"""The concept inventory: right choices are right, wrong ones are what their ideas give, and the forms are parallel."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab import lessons, teaching
from autodiff_lab.errors import InvalidArgumentError
from autodiff_lab.lessons import CODES
from autodiff_lab.lessons.inventory import LETTERS, Item
from autodiff_lab.lessons.taping import entries_of

BOTH = [pytest.param(lessons.inventory(form), id=form) for form in "AB"]


def by_code(item: Item) -> dict[str, str]:
    return {code: text for text, code in item.choices}


def given(item: Item) -> list[float]:
    return [float(text.replace("−", "-")) for text in re.findall(r"−?\d+(?:\.\d+)?", item.question)]


def engine_numbers(recording: lab.Recording, code: str, name: str) -> set[float]:
    engines = [e for e in teaching.wrong_engines() if e.code == code] if code else [teaching.Engine()]
    return {round(float(engine.gradients(recording, [name])[name]), 9) for engine in engines}


@pytest.mark.parametrize("form", BOTH)
def test_every_wrong_choice_has_a_code_of_the_lesson_it_belongs_to(form: lessons.Inventory) -> None:
    assert len(form.items) == 10
    for item in form.items:
        codes = [code for _, code in item.choices if code]
        assert len(set(codes)) == 3
        assert len({text for text, _ in item.choices}) == 4
        assert set(codes) <= set(CODES)
    assert {letter: [item.right for item in form.items].count(letter) for letter in LETTERS}.keys() == set(LETTERS)
    assert max([item.right for item in form.items].count(letter) for letter in LETTERS) <= 3


def test_the_forms_ask_for_the_same_with_other_numbers() -> None:
    one, two = (lessons.inventory(form) for form in "AB")
    for a, b in zip(one.items, two.items, strict=True):
        assert (a.concept, a.lesson) == (b.concept, b.lesson)
        assert a.question != b.question
        assert {code for _, code in a.choices} == {code for _, code in b.choices}
        assert a.right != b.right or a.choices != b.choices


@pytest.mark.parametrize("form", BOTH)
def test_numbers_are_those_of_the_tape_and_of_wrong_engines(form: lessons.Inventory) -> None:
    c, end, b = _rate_numbers(form.items[0])
    x = lab.Variable(1.0)
    with lab.GradientTape() as tape:
        y = x * x + c * x
    choices = {code: float(text) for code, text in by_code(form.items[0]).items()}
    assert choices == {"": float(tape.gradient(y, x)), "WHOLE_TRIP": end / b, "CHANGE": end, "VALUE": 1 + c}

    p, q, r = (lab.Variable(v, name=n) for n, v in zip("xyz", given(form.items[4]), strict=True))
    with lab.record() as gate, lab.GradientTape():
        _ = (p - q) * r
    a, b, c = (float(v) for v in re.findall(r"(\d+)[xy]", form.items[5].question))
    x = lab.Variable(2.0, name="x")
    with lab.record() as twice, lab.GradientTape():
        y = a * x
        _ = b * y + c * y
    for item, recording, name in ((form.items[4], gate, "y"), (form.items[5], twice, "x")):
        for code, text in by_code(item).items():
            assert float(text.replace("−", "-")) in engine_numbers(recording, code, name), (item.concept, code)


def _rate_numbers(item: Item) -> tuple[float, float, float]:
    c, end, b = (
        float(v) for v in re.findall(r"\+ (\d+)x climbs from 0 at x = 0 to (\d+) at x = (\d+)", item.question)[0]
    )
    return c, end, b


@pytest.mark.parametrize("form", BOTH)
def test_the_best_step_is_the_best_in_its_precision(form: lessons.Inventory) -> None:
    item = form.items[1]
    dtype = np.float32 if "float32" in item.question else np.float64
    errors: dict[str, float] = {}
    for code, text in by_code(item).items():
        near = [float(text) * k for k in (0.7, 0.8, 0.9, 1.0, 1.1, 1.2, 1.3)]
        slopes = [(np.sin(dtype(1) + dtype(h)) - np.sin(dtype(1))) / dtype(h) for h in near]
        errors[code] = float(np.median([abs(float(slope) - np.cos(1.0)) for slope in slopes]))
    assert min(errors, key=errors.__getitem__) == ""


@pytest.mark.parametrize("form", BOTH)
def test_forward_sweeps_tapes_and_vectors_are_computed_right(form: lessons.Inventory) -> None:
    a, x, y, *_ = given(form.items[2])
    p, q = lab.Variable(x, name="x"), lab.Variable(y, name="y")
    with lab.record() as recording, lab.GradientTape():
        _ = a * p + p * q
    for code, seeds in (("", {"x": 1.0, "y": 0.0}), ("ALL_SEEDED", {"x": 1.0, "y": 1.0})):
        carried = teaching.forward(recording, seeds)
        assert carried.sweeps[0].results[0] is not None
        tangent: Any = carried.tensors[carried.sweeps[0].results[0]].snapshot.array
        assert float(tangent) == float(by_code(form.items[2])[code])

    other = form.form == "B"

    def program(x: Any) -> Any:
        k = lab.sqrt(lab.constant(16.0))
        if x > 4.0:
            y = x * x
        else:
            y = lab.sin(x) if other else lab.exp(x)
        return y - 2.0 * k if other else y + 1.0 * k

    held, ran = entries_of(program, 5.0 if other else 3.0)
    assert by_code(form.items[3])[""] == ", ".join(held)
    assert sorted(by_code(form.items[3])["EVERYTHING"].split(", ")) == sorted(ran)

    *_, one, two, v, w = given(form.items[7])
    at = lab.Variable([one, two])
    with lab.GradientTape(persistent=True) as tape:
        made = lab.stack([at[0] + at[1], at[0] * at[1]])
    told = {"": tape.gradient(made, at, output_gradients=lab.constant([v, w])), "SUMMED": tape.gradient(made, at)}
    for code, gradient in told.items():
        assert by_code(form.items[7])[code] == str([int(each) for each in gradient.numpy()])
    jacobian = tape.jacobian(made, at).numpy()
    assert by_code(form.items[7])["TRANSPOSE_LOST"] == str([int(each) for each in jacobian @ [v, w]])


@pytest.mark.parametrize("form", BOTH)
def test_shapes_kinks_and_steps_are_as_said(form: lessons.Inventory) -> None:
    m, _, _, n = (int(v) for v in given(form.items[6])[:4])
    x, y = lab.Variable(np.zeros((m, 1))), lab.Variable(np.zeros((1, n)))
    with lab.GradientTape() as tape:
        s = lab.reduce_sum(x + y)
    assert by_code(form.items[6])[""] == str(tape.gradient(s, x).numpy().astype(int).tolist())

    at = 7.0 if form.form == "B" else 0.0
    z = lab.Variable(at)
    with lab.GradientTape() as tape:
        value = lab.maximum(z, 7.0) if at else lab.nn.relu(z)
    assert f"the tape says {float(tape.gradient(value, z)):g}," in form.items[8].question

    a, b = (float(v) for v in re.findall(r"½\((\d+)x² \+ (\d+)y²\)", form.items[9].question)[0])

    def arrives(step: float) -> bool:
        point = np.array([1.0, 1.0])
        for _ in range(2000):
            point = point - step * np.array([a, b]) * point
            if np.abs(point).max() > 1e6:
                return False
        return bool(np.abs(point).max() < 1e-6)

    limit = float(by_code(form.items[9])[""])
    assert arrives(0.99 * limit)
    assert not arrives(1.01 * limit)


def test_answers_are_scored_and_what_is_no_answer_is_said() -> None:
    form = lessons.inventory(" a ")
    right = "".join(item.right for item in form.items)
    assert repr(form.score(right)) == "10 of 10 right"
    assert form.score(right.upper()).codes == {}
    assert form.score("-" * 10).right == 0
    assert form.score(dict.fromkeys(range(1, 11), ...)).chosen == {}
    for number, item in enumerate(form.items, start=1):
        for letter, (_, code) in zip(LETTERS, item.choices, strict=True):
            assert form.score({number: letter}).codes == ({number: code} if code else {})
    for wrong in ("abc", "x" * 10, {11: "a"}, {1: 3}, {"1": "a"}, {1: "ab"}):
        with pytest.raises(InvalidArgumentError):
            form.score(wrong)  # type: ignore[arg-type]
    for name in ("C", "", None, 1):
        with pytest.raises(InvalidArgumentError, match='write "A" or "B"'):
            lessons.inventory(name)  # type: ignore[arg-type]
