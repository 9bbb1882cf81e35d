"""Tapes on a GPU: gradients as on the CPU, each on the device of its value, and no unreported copies."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab.engine.lean import Hollow
from tests.simulated.heard import copies

A = np.random.default_rng(0).normal(size=(4, 3)).astype(np.float32)
B = np.random.default_rng(1).normal(size=(3, 2)).astype(np.float32)


def gradients(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a function's gradients by all its arguments."""

    def run(*xs: Any) -> Any:
        with lab.GradientTape() as tape:
            tape.watch(xs)
            y = function(*xs)
        return tape.gradient(y, list(xs))

    return run


def jacobians(a: Any, b: Any) -> Any:
    with lab.GradientTape(persistent=True) as tape:
        tape.watch([a, b])
        y = lab.tanh(a @ b)
    return [tape.jacobian(y, a), tape.jacobian(y, b), tape.batch_jacobian(y, a)]


def stepped(a: Any, b: Any) -> Any:
    with lab.GradientTape() as tape:
        tape.watch(a)
        y = lab.reduce_sum(lab.sin(a) @ b)
    steps = tape.steps(y, a)
    assert len(list(steps)) == 3
    return steps.adjoint(a)


def accumulated(a: Any, b: Any) -> Any:
    with lab.autodiff.ForwardAccumulator(a, lab.ones_like(a)) as forward:
        y = lab.tanh(a @ b)
    return forward.jvp(y)


@lab.custom_gradient
def clipped(x: Any) -> Any:
    return lab.sin(x), lambda upstream: upstream * lab.clip_by_value(x, -1.0, 1.0)


WAYS: dict[str, Callable[[Any, Any], Any]] = {
    "one sweep": gradients(lambda a, b: lab.reduce_sum(lab.tanh(a @ b) ** 2 + lab.reduce_mean(a))),
    "broadcast": gradients(lambda a, b: lab.reduce_sum(a[:, :1] * b[0] + a[0, 0] * 2.0)),
    "parts": gradients(lambda a, b: lab.reduce_sum(lab.split(a, 3, axis=1)[1]) * lab.reduce_max(b)),
    "gather": gradients(lambda a, b: lab.reduce_sum(lab.gather(a, [0, 2, 2]) @ b)),
    "second order": gradients(lambda a, b: lab.reduce_sum(gradients(lambda x: lab.reduce_sum(x**3 @ b))(a)[0])),
    "jacobians": jacobians,
    "hessian": lambda a, b: lab.hessian(lambda x: lab.reduce_sum(x**3 * lab.exp(x)))(a[0]),
    "hvp": lambda a, b: lab.hvp(lambda x: lab.reduce_sum(x**3 * lab.exp(x)), a, a),
    "jvp": lambda a, b: lab.jvp(lambda x: lab.tanh(x @ b), (a,), (a,)),
    "forward": accumulated,
    "recomputed": gradients(lambda a, b: lab.reduce_sum(lab.recompute_grad(lambda x, y: lab.tanh(x @ y))(a, b))),
    "custom": gradients(lambda a, b: lab.reduce_sum(clipped(a) @ b)),
    "stepped": stepped,
}


@pytest.mark.parametrize("name", WAYS)
def test_gradients_are_those_of_the_cpu(name: str) -> None:
    """Listened to and not: with a listener the sweep runs on recorded ops, without on raw arrays."""
    expected = lab.nest.flatten(WAYS[name](lab.constant(A), lab.constant(B)))
    a, b = lab.constant(A).gpu(), lab.constant(B).gpu()
    quick = lab.nest.flatten(WAYS[name](a, b))
    with copies() as told:
        heard = lab.nest.flatten(WAYS[name](a, b))
    assert {event.direction for event in told} <= ({"to device"} if name == "gather" else set())
    for want, *got in zip(expected, quick, heard, strict=True):
        for g in got:
            assert g.device == "/GPU:0"
            np.testing.assert_allclose(g.numpy(), want.numpy(), rtol=2e-5, atol=1e-6)


def test_a_gradient_lies_where_its_value_lies() -> None:
    """A number of the CPU that went along gets a number of the CPU; that copy is told, as nobody asked for it."""
    x, s = lab.constant([1.0, 2.0]).gpu(), lab.Variable(3.0)
    with copies() as told:
        for persistent in (False, True):
            with lab.GradientTape(persistent=persistent) as tape:
                tape.watch(x)
                y = lab.reduce_sum(s * x * s)
            dx, ds = tape.gradient(y, [x, s])
            assert (dx.device, ds.device) == ("/GPU:0", "/CPU:0")
            assert float(ds) == 18.0
    assert any(event.direction == "to host" for event in told)


def test_gradients_pass_through_copies() -> None:
    """There and back, at first and second order."""
    h = lab.constant([1.0, 2.0, 3.0])
    with lab.GradientTape() as outer:
        outer.watch(h)
        with lab.GradientTape() as inner:
            inner.watch(h)
            y = lab.reduce_sum((h * h).gpu() * h.gpu())
        dh = inner.gradient(y, h)
        z = lab.reduce_sum(dh.gpu().cpu())
    ddh = outer.gradient(z, h)
    assert (y.device, dh.device, z.device, ddh.device) == ("/GPU:0", "/CPU:0", "/CPU:0", "/CPU:0")
    np.testing.assert_allclose(dh.numpy(), 3 * np.array([1, 4, 9]))
    np.testing.assert_allclose(ddh.numpy(), 6 * np.array([1, 2, 3]))


def test_a_one_shot_tape_lets_go_of_what_no_rule_reads_and_its_gradients_stay_right() -> None:
    """As on the CPU: what is left of a value is its shape, its dtype and its device."""
    x = lab.ones((1000,)).gpu()
    with lab.GradientTape() as tape:
        tape.watch(x)
        y = lab.reduce_sum((x + x).cpu().gpu() * 3.0)
    entries = tape._entries
    assert entries is not None
    assert sum(t._array.__class__ is Hollow for _, out, ins, _, _ in entries for t in (out, *ins)) >= 4
    dx = tape.gradient(y, x)
    assert dx.device == "/GPU:0"
    np.testing.assert_array_equal(dx.numpy(), np.full(1000, 6.0))


def test_cotangents_lists_are_copied_and_tensors_must_be_there() -> None:
    """As operands of an op."""
    x = lab.constant([1.0, 2.0]).gpu()
    with lab.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x
    assert tape.gradient(y, x, output_gradients=[1.0, 10.0]).numpy().tolist() == [2.0, 40.0]
    with pytest.raises(lab.errors.DeviceMismatch, match=r"cotangent is on /CPU:0 and its target on /GPU:0"):
        tape.gradient(y, x, output_gradients=lab.constant([1.0, 1.0]))


def test_zeros_of_unconnected_sources_lie_where_the_sources_do() -> None:
    """Where they are asked for."""
    x, z = lab.constant([1.0, 2.0]).gpu(), lab.constant([1.0]).gpu()
    with lab.GradientTape() as tape:
        tape.watch([x, z])
        y = x * x
    assert tape.gradient(y, z, unconnected_gradients="zero").device == "/GPU:0"


def test_a_recording_looks_the_same_and_says_what_was_copied(tmp_path: Path) -> None:
    """Its text is that of the CPU with one line more, and comes back from its file."""
    texts = []
    for x in (lab.constant([1.0, 2.0]), lab.constant([1.0, 2.0]).gpu()):
        with lab.record(namespace={}) as recording:
            with lab.GradientTape() as tape:
                tape.watch(x)
                y = lab.reduce_sum(lab.sin(x) * [1.0, 3.0])
            tape.gradient(y, x)
        texts.append(recording.to_text().splitlines())
        recording.save(tmp_path / "recording.json")
        assert lab.load_recording(tmp_path / "recording.json").to_text() == recording.to_text()
        assert "<svg" in recording.to_svg()
    on_cpu, on_gpu = texts
    (line,) = [line for line in on_gpu if line.startswith("copied")]
    assert line.startswith("copied 8 bytes to the GPU: a Python or NumPy value met a tensor of the GPU")
    assert [line for line in on_gpu if not line.startswith("copied")] == on_cpu
