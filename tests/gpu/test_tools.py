"""Tools for tapes work with GPU tensors: recordings, explanations, pictures, Jacobians, recomputation."""

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab.draw.page import page
from autodiff_lab.draw.scene import scene
from tests.gpu.compare import host
from tests.gpu.place import CPU, GPU, MODES, copies, require

require()

X = np.array([[0.3, -1.2, 2.0], [0.7, 0.1, -0.4]])


def function(x: Any) -> Any:
    """Take a few ops of every kind: elementwise, product, reduction, choice."""
    y = lab.tanh(x @ lab.transpose(x)) * lab.exp(-x[:, :2])
    return lab.reduce_sum(lab.where(y > 0, y * y, y)) + lab.reduce_logsumexp(x)


def recorded(device: str) -> Any:
    """Record a forward and a backward pass."""
    with lab.device(device):
        x = lab.constant(X)
        with lab.record() as recording, lab.GradientTape() as tape:
            tape.watch(x)
            y = function(x)
            tape.gradient(y, x)
    return recording


def without_places(value: Any) -> Any:
    """Leave out of a scene what tells where and when it was made."""
    text = json.dumps(value, default=str)
    return json.loads(text.replace(GPU, CPU))


def test_a_recording_holds_the_steps_and_numbers_of_the_cpu() -> None:
    ours, theirs = recorded(GPU), recorded(CPU)
    assert ours.to_text().replace(GPU, CPU).split() == theirs.to_text().replace(GPU, CPU).split()


def test_the_explorers_scene_is_that_of_the_cpu() -> None:
    """What the explorer draws: boxes, lines, frames, rows of values."""
    ours, theirs = without_places(scene(recorded(GPU))), without_places(scene(recorded(CPU)))
    assert ours.keys() == theirs.keys()
    assert len(json.dumps(ours)) == pytest.approx(len(json.dumps(theirs)), rel=0.02)
    assert "<svg" in page(recorded(GPU), "on a GPU")


def test_a_gradient_of_none_is_explained() -> None:
    found = []
    for device in (CPU, GPU):
        with lab.device(device):
            x = lab.constant([1.0, 2.0])
            with lab.GradientTape() as tape:
                tape.watch(x)
                y = lab.cast(lab.cast(x, lab.int32), lab.float32)
            assert tape.gradient(y, x) is None
            found.append(str(tape.explain(y, x)).replace(GPU, CPU))
    assert found[0] == found[1]


def test_the_first_nan_of_a_recording_is_found() -> None:
    found = []
    for device in (CPU, GPU):
        with lab.device(device):
            x = lab.constant([1.0, -1.0])
            with lab.record() as recording, lab.GradientTape() as tape:
                tape.watch(x)
                y = lab.reduce_sum(lab.sqrt(x) * 2)
                tape.gradient(y, x)
            found.append(str(recording.first_nonfinite()).replace(GPU, CPU))
    assert found[0] == found[1]
    assert "sqrt" in found[1]


def jacobian(x: Any) -> Any:
    """Differentiate every output by every input."""
    with lab.GradientTape() as tape:
        tape.watch(x)
        y = lab.sin(x) @ lab.transpose(x)
    return tape.jacobian(y, x)


def batch_jacobian(x: Any) -> Any:
    """Differentiate row by row."""
    with lab.GradientTape() as tape:
        tape.watch(x)
        y = lab.exp(x) * lab.reduce_sum(x, axis=1, keepdims=True)
    return tape.batch_jacobian(y, x)


def persistent(x: Any) -> Any:
    """Ask a tape twice."""
    with lab.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x
        z = y * y
    return [tape.gradient(z, x), tape.gradient(y, x), tape.gradient(z, y)]


def recomputed(x: Any) -> Any:
    """Forget what happened inside, and do it again."""
    inner = lab.recompute_grad(lambda v: lab.tanh(lab.sin(v) * v))
    with lab.GradientTape() as tape:
        tape.watch(x)
        y = lab.reduce_sum(inner(x))
    return tape.gradient(y, x)


def custom(x: Any) -> Any:
    """Bring a gradient of one's own."""

    @lab.custom_gradient
    def log1pexp(v: Any) -> Any:
        e = lab.exp(v)
        return lab.math.log(1 + e), lambda upstream: upstream * (1 - 1 / (1 + e))

    with lab.GradientTape() as tape:
        tape.watch(x)
        y = log1pexp(x)
    return [y, tape.gradient(y, x)]


def mapped(x: Any) -> Any:
    """Go over rows, at once and one by one."""
    with lab.GradientTape() as tape:
        tape.watch(x)
        y = lab.vectorized_map(lambda row: row * lab.reduce_sum(row), x)
        z = lab.map_fn(lambda row: row * row, x)
    return [y, z, tape.gradient([y, z], x)]


def hessian(x: Any) -> Any:
    """Differentiate twice, by blocks and by a product with a vector."""
    vector = lab.reshape(x, [-1])
    return [lab.hessian(lambda v: lab.reduce_sum(lab.sin(v) * v[0]))(vector),
            lab.hvp(lambda v: lab.reduce_sum(v * v * v), vector, vector)]  # fmt: skip


def conditions(x: Any) -> Any:
    """Choose and loop by values, which are read."""
    y = lab.cond(lab.reduce_sum(x) > 0, lambda: x * 2, lambda: x * 3)
    (z,) = lab.while_loop(lambda v: lab.reduce_max(v) < 100, lambda v: (v * 2,), (y,))
    return [y, z]


def assigned(x: Any) -> Any:
    """Change parts of a variable."""
    v = lab.Variable(x)
    v[0, 1].assign(5.0)
    v.scatter_nd_add([[1, 0]], lab.constant([2.0], x.dtype))
    v.assign_sub(x / 2)
    with lab.GradientTape() as tape:
        y = lab.reduce_sum(v * v)
    return [v.read(), tape.gradient(y, v)]


def by_position(x: Any) -> Any:
    """Pick, sort, mask and pad, with positions that are lists."""
    return [
        lab.gather(x, [1, 0]), lab.gather_nd(x, [[0, 1], [1, 2]]), lab.gather(x, [[2], [1]], axis=1, batch_dims=1),
        lab.boolean_mask(x, [True, False]), x[x > 0], lab.sort(x), lab.math.top_k(x, 2).values,
        lab.pad(x, [[1, 0], [0, 1]], mode="SYMMETRIC"), lab.repeat(x, [1, 2], axis=0), lab.reverse_sequence(x, [2, 3]),
        lab.tensor_scatter_nd_update(x, [[0, 0]], [9.0]), lab.dynamic_partition(x, [1, 0], 2)[1],
        lab.dynamic_stitch([[1], [0]], [x[:1], x[1:]]), lab.math.segment_sum(x, [0, 0]),
        lab.math.unsorted_segment_mean(x, [1, 0], 3), lab.linalg.set_diag(x, [0.0, 0.0]), lab.einsum("ij,kj->ik", x, x),
        lab.one_hot([0, 2], 3), lab.meshgrid([1, 2], [3, 4])[0], lab.linalg.pinv(x), lab.linspace(0.0, 1.0, 3),
    ]  # fmt: skip


RUNS: list[Callable[[Any], Any]] = [
    jacobian, batch_jacobian, persistent, recomputed, custom, mapped, hessian, conditions, assigned, by_position,
]  # fmt: skip


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("run", RUNS, ids=lambda run: run.__name__)
def test_it_gives_the_numbers_of_the_cpu_on_the_gpu(run: Callable[[Any], Any], mode: str) -> None:
    """Values, and that they lie on the GPU."""
    made = []
    for device in (CPU, GPU):
        with lab.device(device), lab.use_kernels(mode if device == GPU else "numpy"):
            found = run(lab.constant(X))
            made.append(found if isinstance(found, list) else [found])
    for k, (theirs, ours) in enumerate(zip(*made, strict=True)):
        assert ours.device == GPU, k
        np.testing.assert_allclose(host(ours), host(theirs), 1e-9, 1e-12, err_msg=str(k))


@pytest.mark.parametrize("run", [jacobian, batch_jacobian, persistent, recomputed, custom, hessian],
                         ids=lambda run: run.__name__)  # fmt: skip
def test_it_copies_nothing(run: Callable[[Any], Any]) -> None:
    with lab.device(GPU):
        x = lab.constant(X)
        with copies() as heard:
            run(x)
    assert not heard
