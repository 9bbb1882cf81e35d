"""The detective: names ideas that explain every number, asks where several do, and accuses no right answer."""

from __future__ import annotations

import os
import random
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab import teaching
from autodiff_lab.errors import InvalidArgumentError, NotInRecording
from autodiff_lab.recording import Recording
from tests.teaching.dealt import deal
from tests.teaching.test_engines import diamond, engines_of

COUNT = int(os.environ.get("FUZZ_COUNT", "60"))
PER_RULE = ("OWN_VALUE", "PRODUCT_OF_SLOPES", "CONSTANT_LOST")
Numbers = dict[str, float]


@pytest.mark.parametrize(
    ("answer", "code"),
    [(6, "OVERWRITE"), (15, "OVERWRITE"), (27, "EARLY"), (36, "EARLY"), (84, "STALE"), (105, "STALE"),
     (42, "STALE_LEAVES")],
)  # fmt: skip
def test_the_wrong_answers_to_the_diamond(answer: float, code: str) -> None:
    """One small integer names nothing; with the gradients on the way, or at a second point, the idea is settled."""
    recording = diamond()
    alone = teaching.diagnose_answer(recording, answer)
    assert alone.codes == ()
    assert code in alone.tie
    assert alone.probe is not None
    settled = set()
    for engine in engines_of(code):
        if engine.gradients(recording, ["x"])["x"] == answer:
            every = engine.gradients(recording, ["a", "b", "y", "x"])
            assert teaching.diagnose_answer(recording, every).codes == (code,)
            settled.add(ask(recording, engine, {"x": answer}, alone.probe).codes)
    assert settled == {(code,)}


def ask(recording: Recording, engine: teaching.Engine, first: Numbers, probe: teaching.Probe) -> teaching.Diagnosis:
    """Answer a probe as an engine does."""
    there = teaching.program_of(recording).at(probe.point)
    second = gradients(there, engine, probe.names)
    return teaching.diagnose_answer(recording, [first, second], points=[{}, probe.point])


def gradients(program: Any, engine: teaching.Engine, names: Any) -> Numbers:
    books = teaching.run(program, engine)
    found = {name: books.gradient(program.accounts[name].tensors) for name in names}
    return {name: 0.0 if g is None else float(g) for name, g in found.items()}


def differ(some: Numbers, others: Numbers) -> bool:
    return any(abs(some[n] - others[n]) > 1e-6 * max(1e-3, abs(some[n]), abs(others[n])) for n in some)


def is_like_a_slip(answer: Numbers, right: Numbers) -> bool:
    """Return whether one number alone is wrong, and that by 1, by 2 or by its sign."""
    off = [name for name in answer if differ({name: answer[name]}, {name: right[name]})]
    given, true = answer[off[0]], right[off[0]]
    return len(off) == 1 and any(np.isclose(abs(given - true), by) for by in (1.0, 2.0, 2 * abs(true)))


def faults(program: Any, rng: random.Random) -> list[teaching.Engine]:
    """Ideas applied everywhere, and wrong rules at a single op, in random order."""
    found = list(teaching.wrong_engines())
    for engine in teaching.wrong_engines():
        at = [e.outputs[0] for e in program.entries if e.op in engine.rules or engine.code in PER_RULE]
        found += [engine.at(value) for value in at]
    rng.shuffle(found)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("whole", [True, False], ids=["integers", "decimals"])
@pytest.mark.parametrize("every", [True, False], ids=["all values", "inputs only"])
def test_faults_are_named_and_slips_are_not(whole: bool, every: bool, figure: Callable[[str, str], None]) -> None:
    rng = random.Random(11 + whole)
    seen: Counter[str] = Counter()
    for _ in range(COUNT // 2):
        recording = deal(rng, whole)
        program = teaching.program_of(recording)
        names = list(program.accounts) if every else [source.name for source in program.sources]
        right = gradients(program, teaching.Engine(), names)
        assert teaching.diagnose_answer(recording, right).right
        planted = faults(program, rng)
        answers = ((e, gradients(program, e, names)) for e in planted)
        engine, answer = next((e, a) for e, a in answers if differ(a, right))
        others = (gradients(program, e, names) for e in planted if e.code != engine.code)
        tied = any(not differ(a, answer) for a in others)
        said = teaching.diagnose_answer(recording, answer)
        assert not said.right
        seen["faults"] += 1
        seen["alone"] += said.codes == (engine.code,)
        if not tied and not is_like_a_slip(answer, right):
            seen["apart"] += 1
            seen["apart alone"] += said.codes == (engine.code,)
        seen["known"] += engine.code in (*said.codes, *said.tie, *said.same_as)
        if said.tie == (engine.code,):  # one idea, or a slip: a question has nothing to tell apart
            seen["hedged"] += 1
        elif engine.code in said.tie:
            seen["ties"] += 1
            seen["settled"] += said.probe is not None and ask(recording, engine, answer, said.probe).codes == (
                engine.code,
            )
        slip = dict(right)
        name = rng.choice(names)
        slip[name] = rng.choice([slip[name] + rng.choice([-2, -1, 1, 2]), -slip[name]])
        if differ(slip, right):
            seen["slips"] += 1
            seen["accused"] += bool(teaching.diagnose_answer(recording, slip).codes)
    figure(
        f"diagnosis of {'integers' if whole else 'decimals'}, {'all values' if every else 'inputs only'}",
        f"{seen['alone']} of {seen['faults']} faults named alone, {seen['known']} named or among three, "
        f"{seen['apart alone']} of {seen['apart']} that no other fault and no slip gives named alone, "
        f"{seen['settled']} of {seen['ties']} ties settled, "
        f"{seen['hedged']} taken for a slip or this idea, {seen['accused']} of {seen['slips']} slips accused",
    )
    assert seen["alone"] >= (0.8 if every else 0.65) * seen["faults"]
    assert seen["apart alone"] >= 0.95 * seen["apart"]
    assert seen["known"] >= 0.95 * seen["faults"]
    assert seen["accused"] <= 0.05 * seen["slips"]
    assert seen["ties"] - seen["settled"] <= max(1, 0.05 * seen["ties"])


def test_an_idea_that_is_applied_everywhere_goes_before_one_at_a_single_value() -> None:
    """Dx = 15 + 3: either the smaller contribution of y is lost, or three ideas at single values are to blame."""
    x, y = lab.Variable(2.0, name="x"), lab.Variable(5.0, name="y")
    with lab.record() as recording, lab.GradientTape():
        f = x * y + 3.0 * x
        _ = f * 1.0
    said = teaching.diagnose_answer(recording, {"x": 3.0, "y": 2.0})
    assert (said.codes or said.tie)[0] == "OVERWRITE"
    assert said.where == ""


def test_a_number_that_is_off_by_one_is_a_slip_unless_an_idea_explains_it_everywhere() -> None:
    x, y, z = (lab.Variable(v, name=n, dtype=lab.float64) for n, v in (("x", 3.0), ("y", 4.0), ("z", 2.0)))
    with lab.record() as recording, lab.GradientTape():
        _ = lab.maximum(x, y) * z + z * 7.0 + x * 9.0
    right = teaching.Engine().gradients(recording, ["x", "y", "z"])
    for name, by in (("x", 1.0), ("y", -2.0), ("z", 1.0)):
        assert teaching.diagnose_answer(recording, right | {name: right[name] + by}).codes == ()
    shared = teaching.diagnose_answer(recording, right | {"x": right["x"] + 2.0})
    assert shared.codes == ("MAX_SHARES",)
    assert teaching.diagnose_answer(recording, {"x": right["x"] + 2.0}).codes == ()


def tensors() -> Recording:
    x = lab.Variable([[0.1, 0.2], [0.3, -0.1]], name="x")
    b = lab.Variable([0.5, 0.25], name="b")
    w = lab.Variable([[1.0, -2.0], [0.5, 3.0]], name="w")
    with lab.record() as recording, lab.GradientTape() as tape:
        h = x @ w + b
        y = lab.tanh(h)
        tape.gradient(y, [x, b, w], output_gradients=lab.constant([[1.0, 2.0], [3.0, -1.0]]))
    return recording


@pytest.mark.parametrize("code", ["BROADCAST_KEPT", "TRANSPOSE_LOST", "SUMMED", "LOCAL_ONLY", "INPUT_FOR_OUTPUT"])
def test_ideas_about_arrays_are_named(code: str) -> None:
    recording = tensors()
    right = teaching.Engine().gradients(recording, ["x", "b", "w"])
    assert teaching.diagnose_answer(recording, right).right
    assert teaching.diagnose_answer(recording, {name: np.round(g, 4) for name, g in right.items()}).right
    answer = engines_of(code)[0].gradients(recording, ["x", "b", "w"])
    assert teaching.diagnose_answer(recording, answer).codes == (code,)


def test_ties_of_a_maximum_have_no_wrong_convention() -> None:
    x, y = lab.Variable(2.0, name="x"), lab.Variable(2.0, name="y")
    with lab.record() as recording, lab.GradientTape() as tape:
        m = lab.maximum(x, y)
        tape.gradient(m, [x, y])
    for answer in ({"x": 0.0, "y": 1.0}, {"x": 0.5, "y": 0.5}):
        assert teaching.diagnose_answer(recording, answer).codes == ()


def test_right_answers_are_recognized_in_every_form() -> None:
    x, idle = lab.Variable(1.0, name="x"), lab.Variable(5.0, name="idle")
    with lab.record() as recording, lab.GradientTape() as tape:
        y = lab.sin(x) * x * x
        tape.gradient(y, [x, idle])
    exact = np.cos(1.0) + 2 * np.sin(1.0)
    for given in (exact, round(exact, 3), lab.constant(exact), np.float32(exact), [exact], str):
        answer: Any = {"x": given if given is not str else exact, "idle": None}
        assert teaching.diagnose_answer(recording, answer).right
    assert teaching.diagnose_answer(recording, {"x": exact, "idle": 0}).right
    assert not teaching.diagnose_answer(recording, {"x": exact, "idle": 1}).right


@pytest.mark.slow
def test_a_long_chain_is_diagnosed() -> None:
    x = lab.Variable(1.0, name="x", dtype=lab.float64)
    with lab.record() as recording, lab.GradientTape() as tape:
        y = x
        for _ in range(40):
            y = y + y
        tape.gradient(y, x)
    assert teaching.diagnose_answer(recording, 2.0**40).right
    assert teaching.diagnose_answer(recording, 1.0).tie[0] == "OVERWRITE"


def test_what_is_no_answer_is_said() -> None:
    recording = tensors()
    with pytest.raises(InvalidArgumentError, match=r"has 3 inputs \(x, b, w\); give numbers by name"):
        teaching.diagnose_answer(recording, 3.0)
    for given in ("3", [[1.0], [2.0, 3.0]], object()):
        with pytest.raises(InvalidArgumentError, match="b should be a number or an array"):
            teaching.diagnose_answer(recording, {"b": given})
    with pytest.raises(InvalidArgumentError, match="holds no numbers yet"):
        teaching.diagnose_answer(recording, {"b": ...})
    with pytest.raises(InvalidArgumentError, match="one answer for each of the 2 points"):
        teaching.diagnose_answer(diamond(), [3.0], points=[{}, {"x": 1.0}])
    with pytest.raises(InvalidArgumentError, match="y is not an input of the recorded program"):
        teaching.diagnose_answer(diamond(), [3.0], points=[{"y": 1.0}])
    with pytest.raises(NotInRecording):
        teaching.diagnose_answer(diamond(), {"q": 1.0})
