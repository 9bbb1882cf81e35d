"""`lab.costs`: what it says is held is what the tape holds; times are those of ops that were really run again."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab.exploring.costs import costs, held_by

RNG = np.random.default_rng(4)


def network(persistent: bool) -> tuple[lab.Recording, int]:
    """Record a step with values of all sizes; return the recording and what its tape held at the end of its block."""
    x = lab.constant(RNG.random((64, 256)), "float32")
    w, v = lab.Variable(RNG.random((256, 128)), dtype="float32"), lab.Variable(RNG.random((128, 10)), dtype="float32")
    with lab.record() as recording:
        with lab.GradientTape(persistent=persistent) as tape:
            hidden = lab.nn.relu(x @ w) + lab.tanh(lab.constant(0.5))
            parts = lab.split(lab.nn.softmax(hidden @ v), 2, axis=1)
            loss = lab.reduce_mean(lab.square(parts[0] - 0.1)) + lab.reduce_max(parts[1])
            held = tape.saved_bytes
        tape.gradient(loss, [w, v])
    return recording, held


def nested() -> tuple[lab.Recording, int]:
    x = lab.Variable(RNG.random(500), name="x")
    with lab.record() as recording:
        with lab.GradientTape() as outer:
            with lab.GradientTape() as inner:
                y = lab.reduce_sum(lab.exp(x) * x)
                held = inner.saved_bytes
            g = inner.gradient(y, x)
            held += outer.saved_bytes
        outer.gradient(g, x)
    return recording, held


def paused() -> tuple[lab.Recording, int]:
    x = lab.Variable(RNG.random(500), name="x")
    with lab.record() as recording:
        with lab.GradientTape(watch_accessed_variables=False) as tape:
            before = lab.sin(x)
            tape.watch(x)
            with tape.stop_recording():
                lab.cos(x)
            y = lab.sin(x) * before + lab.cast(lab.cast(x, "int32"), "float64")
            held = tape.saved_bytes
        tape.gradient(y, x)
    return recording, held


@pytest.mark.parametrize("make", [lambda: network(False), lambda: network(True), paused])
def test_what_is_held_is_what_the_tape_says(make: Any) -> None:
    recording, held = make()
    assert held > 1000
    assert sum(held_by(recording).values()) == held == costs(recording, seconds=0.01).held


def test_a_tape_around_another_holds_the_ops_of_its_backward_pass_too() -> None:
    recording, held = nested()
    assert 0 < sum(held_by(recording).values()) <= held


def test_every_op_has_its_times_and_the_backward_pass_goes_to_the_op_whose_rule_ran_it(tmp_path: Path) -> None:
    recording, _ = network(False)
    found = costs(recording)
    assert [row.op for row in found.rows] == [a.op for a in recording.forward]
    assert all(row.seconds is not None and row.seconds > 0 for row in found.rows)
    reached = {recording.applications[a.cause].op for a in recording.applications if a.cause is not None}
    assert {row.op for row in found.rows if row.backward} == reached
    assert found.rows[0].bytes == 64 * 128 * 4
    assert found.seconds == pytest.approx(found.by_op().seconds)
    assert (found.bytes, found.held) == (found.by_op().bytes, found.by_op().held)
    recording.save(tmp_path / "run.json")
    loaded = costs(lab.load_recording(tmp_path / "run.json"), seconds=0.01)
    assert [(row.op, row.bytes, row.held) for row in loaded.rows] == [(r.op, r.bytes, r.held) for r in found.rows]


def test_the_table_has_a_line_for_each_op_and_a_sum() -> None:
    recording, _ = network(False)
    head, *lines, last = repr(costs(recording, seconds=0.01)).splitlines()
    assert head.split() == ["op", "result", "forward", "backward", "bytes", "held"]
    assert [line.split()[0] for line in lines] == [a.op for a in recording.forward]
    assert "32 KiB" in lines[0]
    assert "test_costs.py, line " in lines[0]
    assert last.startswith("all ")


def test_a_long_recording_shows_the_most_expensive_ops_only() -> None:
    x = lab.ones([2000])
    with lab.record() as recording:
        for _ in range(30):
            x = x + 1.0
        lab.linalg.inv(lab.eye(60))
    lines = repr(costs(recording)).splitlines()
    assert len(lines) == 23
    assert lines[-2] == f"{len(recording) - 20} cheaper ops"
    assert any(line.startswith(recording.forward[-1].op) for line in lines)


def test_ops_that_cannot_be_run_again_have_no_time() -> None:
    x = lab.Variable([1.0, 2.0], name="x")
    with lab.record() as recording:
        lab.exp(x)
        with pytest.raises(lab.errors.LabError):
            lab.add(x, lab.ones([3, 3]))
    (row,) = costs(recording).rows
    assert row.op == "exp"
    with lab.record() as empty:
        pass
    assert costs(empty).rows == ()
    assert repr(costs(empty)).splitlines()[-1].startswith("all")


@pytest.mark.parametrize("recording", [None, "run.json", lab.constant(1.0), lab.record])
def test_what_is_not_a_recording_is_refused(recording: Any) -> None:
    with pytest.raises(lab.errors.InvalidArgumentError, match="costs takes a recording, but this is a"):
        costs(recording)


@pytest.mark.parametrize("seconds", [0, -1, np.nan, np.inf, "1", True, None])
def test_a_time_that_makes_no_sense_is_refused(seconds: Any) -> None:
    with lab.record() as recording:
        lab.exp(lab.constant(0.0))
    with pytest.raises(lab.errors.InvalidArgumentError, match="seconds should be a positive number"):
        costs(recording, seconds=seconds)
