"""Engines and replays: right ones agree with the tape, wrong ones give the known numbers, and all can be stepped."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab import teaching
from autodiff_lab.draw.running import running
from autodiff_lab.errors import InvalidArgumentError, NotInRecording
from autodiff_lab.recording import Recording
from tests.teaching.dealt import deal


def diamond() -> Recording:
    """X = 2, y = 3x, a = 2y, b = 5y, c = a + b: two paths, 6 and 15."""
    x = lab.Variable(2.0, name="x")
    with lab.record() as recording, lab.GradientTape() as tape:
        y = 3.0 * x
        a = 2.0 * y
        b = 5.0 * y
        c = a + b
        tape.gradient(c, x)
    return recording


def engines_of(code: str) -> list[teaching.Engine]:
    return [engine for engine in teaching.wrong_engines() if engine.code == code]


def numbers(engine: teaching.Engine, recording: Recording) -> dict[str, float]:
    return {name: float(g) for name, g in engine.gradients(recording).items() if g is not None}


@pytest.mark.parametrize(
    ("code", "known"),
    [
        ("OVERWRITE", [6, 15]),
        ("EARLY", [27, 36, 27, 36]),
        ("CLOSED", [6, 15, 6, 15]),
        ("STALE", [84, 105]),
        ("STALE_LEAVES", [42]),
        ("ONE_PATH", [15]),
        ("AVERAGED", [10.5]),
        ("SEED", [0, 882]),
        ("VALUE", [2]),
        ("LOCAL_ONLY", [3, 3]),
        ("INCOMING_ONLY", [2]),
        ("SIGN", [-21, -21]),
        ("CONSTANT_LOST", [2, 2]),
    ],
)
def test_wrong_engines_give_the_known_numbers_of_the_diamond(code: str, known: list[float]) -> None:
    assert [numbers(engine, diamond())["x"] for engine in engines_of(code)] == known


def test_there_are_thirty_three_ideas() -> None:
    assert {engine.code for engine in teaching.wrong_engines()} == teaching.IDEAS.keys()
    assert len(teaching.IDEAS) == 33


@pytest.mark.parametrize("seed", range(12))
def test_the_right_engine_agrees_with_the_tape_and_its_replay_with_the_recorded_pass(seed: int) -> None:
    recording = deal(random.Random(seed), whole=seed % 2 == 0)
    sweep = recording.sweeps[0]
    found = teaching.Engine().gradients(recording, [recording.name_of(key) for key in sweep.sources])
    taped = [np.asarray(recording.tensors[key].snapshot.array) for key in sweep.results if key is not None]
    np.testing.assert_allclose(list(found.values()), taped, rtol=1e-12)
    again = teaching.replay(recording).sweeps[0]
    assert [s.application for s in again.steps] == [s.application for s in sweep.steps]
    assert [[f.arrived for f in s.flows] for s in again.steps] == [[f.arrived for f in s.flows] for s in sweep.steps]


@pytest.mark.slow(keep=1)
@pytest.mark.parametrize("seed", range(6))
def test_every_replay_can_be_printed_saved_drawn_and_stepped(seed: int, tmp_path: Path) -> None:
    recording = deal(random.Random(seed), whole=False)
    for engine in teaching.wrong_engines()[seed::6]:
        wrong = teaching.replay(recording, engine)
        expected = engine.gradients(recording, [s.name for s in teaching.program_of(recording).sources])
        sweep = wrong.sweeps[0]
        for result, g in zip(sweep.results, expected.values(), strict=True):
            if result is not None:
                np.testing.assert_allclose(np.asarray(wrong.tensors[result].snapshot.array), g, rtol=1e-12)
        assert wrong.to_text(lines=False).count("backward pass from") == 1
        wrong.save(tmp_path / "wrong.json")
        assert lab.load_recording(tmp_path / "wrong.json") == wrong
        assert len(wrong.order) == len(recording.forward) + len(sweep.steps)
        assert wrong.to_svg(moment=len(wrong.order) - 1).startswith("<svg")


def test_the_ledger_of_a_wrong_pass_does_not_balance() -> None:
    recording = diamond()
    told = {code: teaching.replay(recording, engines_of(code)[0]).ledger("x").headline for code in teaching.IDEAS}
    assert told["OVERWRITE"] == "dc/dx = 6; paths add to 21; 15 missing"
    assert told["EARLY"] == "dc/dx = 27; paths add to 21; 6 too much"
    assert told["STALE"] == "dc/dx = 84; paths add to 21; 63 too much"
    assert told["VALUE"] == "dc/dx = 2; paths add to 0; 2 too much"
    assert told["EXP_INPUT"] == teaching.replay(recording).ledger("x").headline == "dc/dx = 21 = 15 + 6"
    print(teaching.replay(recording, engines_of("OVERWRITE")[0]).ledger("x"))


def test_what_accounts_held_before_is_shown() -> None:
    text = teaching.replay(diamond(), engines_of("STALE")[0]).to_text(lines=False)
    assert "%2 already held f32           # 7" in text
    assert "%1: gradient f32              # 84" in text.replace("g = ", "")


@pytest.mark.parametrize("seed", range(8))
def test_forward_mode_agrees_with_the_tape(seed: int) -> None:
    recording = deal(random.Random(seed), whole=seed % 2 == 0)
    sweep = recording.sweeps[0]
    for source, result in zip(sweep.sources, sweep.results, strict=True):
        assert result is not None
        carried = teaching.forward(recording, {recording.name_of(source): 1.0})
        tangent = carried.sweeps[0].results[0]
        assert tangent is not None
        found = np.asarray(carried.tensors[tangent].snapshot.array)
        np.testing.assert_allclose(found, np.asarray(recording.tensors[result].snapshot.array), rtol=1e-12)
        assert {moment.phase for moment in carried.order} == {"forward", "tangent"}
        visited = [step.application for step in carried.sweeps[0].steps]
        assert visited == sorted(visited)


def test_forward_mode_carries_arrays_and_ops_with_several_results(tmp_path: Path) -> None:
    x = lab.Variable([[1.0, 2.0], [3.0, 5.0]], name="x", dtype=lab.float64)
    w = lab.Variable([[2.0], [-1.0]], name="w", dtype=lab.float64)
    direction = np.array([[0.5, -1.0], [2.0, 0.25]])

    def program(x: object) -> lab.Tensor:
        one, two = lab.unstack(lab.matmul(x, w) + lab.constant([1.0], lab.float64), axis=0)
        return lab.exp(lab.nn.softmax(lab.concat([one, two], 0))) * 2.0

    with lab.record() as recording, lab.GradientTape() as tape:
        y = program(x)
        tape.gradient(y, x)
    carried = teaching.forward(recording, {"x": direction})
    carried.save(tmp_path / "tangents.json")
    assert lab.load_recording(tmp_path / "tangents.json") == carried
    (result,) = carried.sweeps[0].results
    assert result is not None
    step = 1e-6
    ahead, behind = (program(lab.constant(x.numpy() + s * direction)).numpy() for s in (step, -step))
    np.testing.assert_allclose(
        np.asarray(carried.tensors[result].snapshot.array), (ahead - behind) / (2 * step), rtol=1e-6
    )


def test_a_program_that_is_gone_can_be_replayed_from_its_file(tmp_path: Path) -> None:
    diamond().save(tmp_path / "diamond.json")
    loaded = lab.load_recording(tmp_path / "diamond.json")
    assert teaching.replay(loaded, engines_of("EARLY")[0]).ledger("x").total == 27


def test_ops_after_the_pass_and_seconds_derivatives_stay_in_a_replay() -> None:
    w = lab.Variable(3.0, name="w")
    with lab.record() as recording:
        with lab.GradientTape() as outer:
            with lab.GradientTape() as inner:
                loss = w * w * w
            slope = inner.gradient(loss, w)
            step = slope * 0.1
        bend = outer.gradient(step, w)
    assert bend is not None
    again = teaching.replay(recording)
    assert again.sweeps[0].results[0] is not None
    np.testing.assert_allclose(np.asarray(again.tensors[again.sweeps[0].results[0]].snapshot.array), 1.8, rtol=1e-6)
    assert again.to_text().count("\n") > 3


def test_the_page_does_not_compute_a_replayed_pass_again() -> None:
    """It would run the right rules, and show a right gradient in a wrong pass."""
    recording = diamond()
    assert "off" not in running(recording)
    for other in (teaching.replay(recording, engines_of("EARLY")[0]), teaching.forward(recording)):
        assert running(other)["off"].startswith("No recorded op made what the backward pass delivered")


def test_a_walk_of_ones_own() -> None:
    def shares(books: teaching.Books) -> None:
        """Recursion that hands on the share alone: right, and exponential."""

        def go(tensor: int, share: object) -> None:
            entry = books.maker(tensor)
            for at in () if entry is None else entry.need:
                books.deliver(entry, at, share)
                go(entry.inputs[at], books.bookings[-1].outgoing)

        for target in books.targets:
            go(target, books.adjoints[target])

    engine = teaching.Engine(walk=shares)
    assert numbers(engine, diamond())["x"] == 21.0
    x = lab.Variable(1.0, name="x")
    with lab.record() as recording, lab.GradientTape():
        y = x
        for _ in range(30):
            y = y + y
    with pytest.raises(InvalidArgumentError, match="more than 20,000 bookings on a program of 30 ops"):
        teaching.replay(recording, engine)
    assert teaching.Engine().gradients(recording, ["x"])["x"] == 2.0**30


def test_what_cannot_be_replayed_is_said() -> None:
    with lab.record() as empty:
        lab.constant(1.0)
    with pytest.raises(NotInRecording, match="no op that could be differentiated"):
        teaching.replay(empty)
    with pytest.raises(NotInRecording, match="Nothing in the recording is called 'q'"):
        teaching.forward(diamond(), {"q": 1.0})
    with pytest.raises(InvalidArgumentError, match="The tangent of x should have shape"):
        teaching.forward(diamond(), {"x": [1.0, 2.0]})
