"""Compiled functions on a GPU: training steps, two devices, constants, and programs that stay op by op."""

import time
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab.kernels.cuda.array import DeviceArray
from autodiff_lab.kernels.cuda.memory import Memory
from autodiff_lab.kernels.cuda.traffic import OBSERVERS
from tests.simulated.test_fusion import agree, close, draw, host, there, twelve, with_slopes


@pytest.fixture
def copies() -> Any:
    """Give the copies between memories that nobody asked for."""
    heard: list[tuple[Any, ...]] = []
    hear = lambda *told: heard.append(told)  # noqa: E731 - it must be the same object to be taken out again
    OBSERVERS.append(hear)
    yield heard
    OBSERVERS.remove(hear)


def trained(device: str, steps: int, compile_it: bool) -> list[Any]:
    """Train a small network and give its losses and weights."""
    draw = np.random.default_rng(3)
    with lab.device(device):
        x = lab.constant(draw.standard_normal((33, 20)).astype(np.float32))
        labels = lab.constant(draw.integers(0, 5, 33))
        sizes = [(20, 17), (17,), (17, 5), (5,)]
        weights = [lab.Variable(draw.standard_normal(s).astype(np.float32) * 0.3) for s in sizes]

    def step(x: Any, labels: Any) -> Any:
        with lab.GradientTape() as tape:
            h = lab.tanh(lab.matmul(x, weights[0]) + weights[1])
            logits = lab.matmul(h, weights[2]) + weights[3]
            loss = lab.reduce_mean(lab.nn.sparse_softmax_cross_entropy_with_logits(labels, logits))
        for variable, slope in zip(weights, tape.gradient(loss, weights), strict=True):
            variable.assign_sub(0.1 * slope)
        return loss

    run: Any = lab.function(step) if compile_it else step
    losses = [host(run(x, labels)) for _ in range(steps)]
    if compile_it:
        assert run.fallbacks == 0, run.why()
        assert run.skipped == ()
    return [*losses, *map(host, weights)]


def test_a_training_step_on_a_gpu_is_that_of_the_cpu(copies: list[Any]) -> None:
    """Matrix products, bias and its gradient, loss and updates: four steps, and not one copy between memories."""
    wanted = trained("/CPU:0", 4, compile_it=False)
    found = trained("/GPU:0", 4, compile_it=True)
    for a, b in zip(wanted, found, strict=True):
        assert np.allclose(a, b, rtol=1e-4, atol=1e-5)
    assert copies == []


def test_an_optimizer_on_a_gpu() -> None:
    """Moments of Adam live beside their variables; the updates of a variable are one launch."""
    with lab.device("/GPU:0"):
        w = lab.Variable(np.ones((9, 40), np.float32))
        goal = lab.constant(np.zeros((9, 40), np.float32))
    optimizer = lab.keras.optimizers.Adam(0.1)

    @lab.function
    def step(goal: Any) -> Any:
        with lab.GradientTape() as tape:
            loss = lab.reduce_sum(lab.square(w - goal))
        optimizer.apply_gradients([(tape.gradient(loss, w), w)])
        return loss

    losses = [float(host(step(goal))) for _ in range(4)]
    assert losses == sorted(losses, reverse=True)
    assert w._array.__class__ is DeviceArray
    assert len(step.kernels) == 1, step.source
    assert not step.fallbacks  # the first call, which builds the moments, is none


def test_calls_with_tensors_of_a_cpu_and_of_a_gpu_have_a_program_each() -> None:
    """The device is part of what makes calls alike, in any order, and the kernel of a shape serves another."""
    f = lab.function(with_slopes(twelve))
    x, longer = draw(50), draw(70, seed=1)
    for given in (x, longer, x, longer):
        for argument in (given, there(given)):
            found = f(argument)
            for a, b in zip(with_slopes(twelve)(given), found, strict=True):
                close(host(a), host(b), f)
                assert b._array.__class__ is argument._array.__class__
    assert f.fallbacks == 0
    assert repr(f).startswith("<Function both: 4 signatures")


def test_a_block_of_a_device_is_part_of_the_signature() -> None:
    """What a function makes of nothing lies where the block says, in the first call and in the next."""
    f = lab.function(lambda: lab.ones([5]) * 2.0 + lab.ones([5]))
    for _ in range(2):
        assert f().device == "/CPU:0"
        with lab.device("/GPU:0"):
            assert f().device == "/GPU:0"
            assert host(f()).tolist() == [3.0] * 5
    assert f.fallbacks == 0


def test_one_text_is_compiled_once() -> None:
    """Two functions of one structure, with other names and sizes, share their kernel."""

    def first(x: Any) -> Any:
        return lab.sin(x) * x + 1.0

    def second(other: Any) -> Any:
        return lab.sin(other) * other + 1.0

    a, b = agree(first, draw(50)), agree(second, draw(4, 5))
    assert a.kernels[0].function.run is b.kernels[0].function.run


def test_numbers_of_the_cpu_and_of_the_gpu() -> None:
    """A number of the CPU comes by value, one of the GPU from its memory; both may be alone in a product."""
    x, rate = draw(40), lab.constant(0.5)
    f = lab.function(lambda x, rate: lab.tanh(x * rate) + rate * rate)
    for given in (rate, there(rate)):
        f(there(x), given)
        close(host(f(x, rate)), host(f(there(x), given)), f)
    assert f.fallbacks == 0
    agree(lambda x: lab.sqrt(lab.reduce_sum(x * x)) * 2.0 + 1.0, x)


def test_constants_are_on_the_gpu_before_the_first_call(copies: list[Any]) -> None:
    """Tensors of a closure, of several values and of one; a call copies nothing."""
    with lab.device("/GPU:0"):
        weights, ones = lab.constant(np.arange(6, dtype=np.float32)), lab.ones([6])
    f = lab.function(lambda x: lab.matmul(x * weights + ones * 2.0, lab.transpose(x + ones)))
    x = draw(3, 6)
    moved = there(x)
    f(moved)
    copies.clear()
    found = f(moved)
    assert copies == []
    wide = x.numpy() * np.arange(6, dtype=np.float32) + 2.0
    close((wide @ (x.numpy() + 1.0).T).astype(np.float32), host(found), f)


def test_comparisons_and_choices() -> None:
    """Truth values come in, are computed and go out."""

    def f(x: Any, y: Any) -> Any:
        up = lab.logical_and(x > y, lab.logical_not(x > 1.0))
        return up, lab.where(up, x * 2.0, lab.round(y * 3.0)), lab.sign(x) * lab.floor(y)

    x = lab.constant(np.array([0.5, -0.0, np.nan, np.inf, 2.5, -3.5, 0.2], np.float32))
    y = lab.constant(np.array([0.0, 0.5, 1.5, -np.inf, 2.5, -7.5, np.nan], np.float32))
    agree(f, x, y)
    agree(lambda up, x: lab.where(up, x, x * x), lab.constant([True, False, True]), draw(3))


def test_empty_arrays() -> None:
    """Where there are no elements the ops run one by one, and launch nothing."""
    f = agree(lambda x: lab.sin(x) * x + 1.0, lab.zeros([0, 4]))
    assert f.kernels == ()


def test_single_numbers_stay_op_by_op_and_say_so() -> None:
    """A GPU does not help with a program of single numbers."""
    f = lab.function(lambda x: lab.sin(x) * x + 1.0)
    x = there(lab.constant(0.5))
    f(x)
    close(host(f(lab.constant(0.5))), host(f(x)), f)
    f(x)
    assert f.fallbacks == 0
    g = lab.function(lambda x: lab.sin(x) * x + 1.0)
    g(x)
    assert g.skipped == ("3 ops of single numbers, which a GPU does not speed up, run one by one",)


def test_a_persistent_tape_and_second_derivatives() -> None:
    """A tape asked twice, and a tape of a tape."""

    def f(x: Any) -> Any:
        with lab.GradientTape() as outer:
            outer.watch(x)
            with lab.GradientTape(persistent=True) as tape:
                tape.watch(x)
                y = lab.sin(x) ** 3.0
                z = y * x
            first = tape.gradient(y, x)
            other = tape.gradient(z, x)
        return first, other, outer.gradient(first, x)

    agree(f, draw(33), kernels=1)


def test_a_jacobian_on_a_gpu() -> None:
    """Stacks of cotangents are whole there."""

    def f(x: Any) -> Any:
        with lab.GradientTape() as tape:
            tape.watch(x)
            y = lab.tanh(x) * x
        return tape.jacobian(y, x)

    agree(f, draw(30))


def test_the_source_and_the_page_show_the_kernel(tmp_path: Any) -> None:
    """Names of the user, what each op does, and the call; the page is written as for the CPU."""

    @lab.function
    def curve(x: Any, rate: Any) -> Any:
        wave = lab.sin(x)
        return wave * rate

    curve(there(draw(5)), there(lab.constant(2.0)))
    source = curve.source
    assert "    wave_i = sin(x_i, far)                            # takes the sine of x\n" in source
    assert "def kernel_1(x, rate, out_v, n):" in source
    assert "v, = kernel_1(x, rate)" in source
    curve.to_html(tmp_path / "curve.html")
    page = (tmp_path / "curve.html").read_text(encoding="utf-8")
    assert "kernel_1" in page
    assert "wave_i" in page


def test_what_the_compiler_refuses_runs_op_by_op(monkeypatch: pytest.MonkeyPatch) -> None:
    """The reason is kept, the result is right."""
    from autodiff_lab.compile.loops.cuda import kernels

    def refuse(*given: Any) -> Any:
        raise NotImplementedError("too many arrays")

    monkeypatch.setattr(kernels, "compiled", refuse)
    f = lab.function(twelve)
    x = draw(20)
    f(there(x))
    close(host(twelve(x)), host(f(there(x))), f)
    assert f.fallbacks == 0
    assert f.skipped == ("12 ops over (20,): NotImplementedError: too many arrays",)


def test_a_compiler_that_uses_clocks_is_no_effect_of_the_function(monkeypatch: pytest.MonkeyPatch) -> None:
    """CuPy compiles when an op first wants a kernel, with files and clocks, in the middle of a trace."""
    package: dict[str, Any] = {"__name__": "cupy.cuda.compiler", "time": time}
    exec("def build(make, memory, raw):\n    time.time()\n    return make(memory, raw)", package)
    make = Memory.wrap
    monkeypatch.setattr(Memory, "wrap", lambda memory, raw: package["build"](make, memory, raw))

    @lab.function
    def f(x: Any) -> Any:
        return getattr(lab, "sin")(x) * x  # noqa: B009 - a look by name raises doubts, and the trace listens

    x = draw(30)
    f(there(x))
    close(host(lab.sin(x) * x), host(f(there(x))), f)
    assert f.fallbacks == 0, f.why()


def test_a_variable_that_moves_has_its_function_traced_again() -> None:
    """To the GPU and back: no call runs eagerly, and each result lies where the variable does."""
    state = lab.Variable(np.arange(40, dtype=np.float32))
    f = lab.function(lambda: lab.tanh(state) * 2.0 + state)
    wanted = f().numpy()
    for device in ("/GPU:0", "/CPU:0", "/GPU:0"):
        state.move_to(device)
        for _ in range(2):
            found = f()
            assert found.device == device
            close(wanted, host(found), f)
    assert f.fallbacks == 0
    assert [kernel.title for kernel in f.kernels] == ["kernel_1"]
