"""`lab.local_jacobian`: incoming adjoint times the Jacobian of an op is the contribution that was recorded."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab.exploring.local_jacobian import local_jacobian


def program() -> tuple[lab.Recording, Any]:
    rng = np.random.default_rng(7)
    x, w = lab.Variable(rng.random((3, 4)), name="x"), lab.Variable(rng.random((4, 2)), name="w")
    with lab.record() as recording:
        with lab.GradientTape() as tape:
            h = lab.tanh(x @ w) * lab.reduce_sum(x, axis=1, keepdims=True)
            p, q = lab.split(lab.nn.softmax(h), 2, axis=1)
            gathered = lab.gather(lab.concat([p, q, p * p], 0), [0, 5, 5, 8])
            loss = lab.reduce_mean(lab.maximum(lab.transpose(gathered), 0.3) / lab.norm(w))
        tape.gradient(loss, [x, w])
    return recording, p


def number(recording: lab.Recording, key: int) -> Any:
    snapshot = recording.tensors[key].snapshot
    assert snapshot.array is not None
    return np.asarray(snapshot.array, float).reshape(snapshot.shape)


def test_incoming_times_local_is_outgoing_for_every_op_of_a_program(tmp_path: Path) -> None:
    recording, _ = program()
    recording.save(tmp_path / "run.json")
    checked: set[str] = set()
    for each in (recording, lab.load_recording(tmp_path / "run.json")):
        for step in each.sweeps[0].steps:
            application = each.applications[step.application]
            for flow in step.flows:
                expected, found = number(each, flow.outgoing), 0.0
                for output, incoming in zip(application.outputs, step.incoming, strict=True):
                    if incoming is not None:
                        adjoint = number(each, incoming)
                        jacobian = local_jacobian(each, output, flow.position)
                        assert jacobian.array.shape == adjoint.shape + expected.shape
                        found = found + np.tensordot(adjoint, jacobian.array, adjoint.ndim)
                np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-12)
                checked.add(application.op)
    assert {"matmul", "softmax", "gather", "concat", "maximum", "divide", "multiply"} <= checked


def test_names_tensors_and_positions_say_which_op_and_input() -> None:
    recording, p = program()
    by_tensor = local_jacobian(recording, p)
    assert (by_tensor.output, by_tensor.array.shape) == ("p", (3, 1, 3, 2))
    made = next(a for a in recording.forward if a.op == "multiply" and a.inputs[0] == a.inputs[1])
    both = [local_jacobian(recording, made.outputs[0], at).array for at in (0, 1)]
    np.testing.assert_array_equal(both[0], both[1])
    np.testing.assert_allclose(np.diag(both[0].reshape(3, 3)), number(recording, made.inputs[0]).ravel())


def test_it_is_text_and_in_a_notebook_a_map() -> None:
    recording, _ = program()
    found = local_jacobian(recording, "h")
    assert repr(found).startswith("Jacobian of h (3×2) with respect to ")
    assert repr(found).count("\n[") + repr(found).count("\n [") == 6
    bundle = found._repr_mimebundle_()
    data = bundle[0] if isinstance(bundle, tuple) else bundle
    assert "application/vnd.jupyter.widget-view+json" in data
    assert data["image/svg+xml"].startswith("<svg")
    x = lab.ones([70])
    with lab.record(whole=100) as large:
        y = lab.exp(x)
    assert set(local_jacobian(large, y)._repr_mimebundle_()) == {"text/plain"}
    assert len(repr(local_jacobian(large, y))) < 400


X = lab.Variable([[1.0, 2.0]], name="x")
with lab.record() as SMALL:
    LARGEST = lab.argmax(X, axis=1)
    Y = lab.exp(X)
    BIG = lab.exp(lab.ones([2000]))
with lab.record() as UNKNOWN:
    BESIDE = lab.sin(lab.sin(lab.ones([100])))


@pytest.mark.parametrize(
    ("recording", "result", "position", "error", "words"),
    [
        (None, "y", 0, "InvalidArgumentError", "takes a recording, but this is a NoneType"),
        (SMALL, "z", 0, "NotInRecording", "Nothing in the recording is called 'z'"),
        (SMALL, "<b>", 0, "NotInRecording", "Nothing in the recording is called '<b>'"),
        (SMALL, X, 0, "NotInRecording", "x is not the result of a recorded op"),
        (SMALL, Y, 1, "InvalidArgumentError", "no input at position 1. Its inputs are 0: x"),
        (SMALL, Y, -1, "InvalidArgumentError", "no input at position -1"),
        (SMALL, Y, "x", "InvalidArgumentError", "no input at position 'x'"),
        (SMALL, Y, 0.5, "InvalidArgumentError", "no input at position 0.5"),
        (SMALL, LARGEST, 0, "InvalidArgumentError", "argmax has no derivative with respect to x"),
        (SMALL, BIG, 0, "InvalidArgumentError", "has 4,000,000 numbers"),
        (UNKNOWN, BESIDE, 0, "InvalidArgumentError", "kept only a summary"),
    ],
)
def test_what_has_no_jacobian_is_refused_in_words(
    recording: Any, result: Any, position: Any, error: str, words: str
) -> None:
    with pytest.raises(getattr(lab.errors, error)) as caught:
        local_jacobian(recording, result, position)
    assert words in str(caught.value)
