"""Checkpointed functions compile, and the program discards and recomputes values as requested."""

import tracemalloc
from collections.abc import Callable

import numpy as np

import autodiff_lab as lab
from autodiff_lab.compile import function

RANDOM = np.random.default_rng(5)
WEIGHTS = [lab.constant(RANDOM.standard_normal((8, 8)).astype(np.float32)) for _ in range(4)]
X = lab.constant(RANDOM.standard_normal((3, 8)).astype(np.float32))
SCALE = lab.Variable(0.5, name="scale")


def block(h: lab.Tensor, v: lab.Tensor, w: lab.Tensor) -> lab.Tensor:
    """Two layers and a variable that the block reads by itself."""
    return lab.tanh(lab.tanh(h @ v) @ w) * SCALE


def step(x: lab.Tensor, weights: list[lab.Tensor], forget: bool) -> tuple[lab.Tensor, list[lab.Tensor]]:
    """The gradients of two blocks."""
    run = lab.recompute_grad(block) if forget else block
    with lab.GradientTape() as tape:
        tape.watch(weights)
        h = run(run(x, *weights[:2]), *weights[2:])
        y = lab.reduce_mean(h * h)
    return y, tape.gradient(y, [*weights, SCALE])


def test_it_is_compiled_and_gives_the_gradients_of_the_plain_function() -> None:
    compiled = function(step)
    plain, slopes = step(X, WEIGHTS, forget=False)
    for _ in range(2):
        value, found = compiled(X, WEIGHTS, True)
        np.testing.assert_allclose(value, plain, rtol=1e-6)
        for ours, theirs in zip(found, slopes, strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-6)
    assert compiled.fallbacks == 0, compiled.why()


def test_the_second_time_is_neither_merged_with_the_first_nor_brought_forward() -> None:
    compiled = function(step)
    compiled(X, WEIGHTS, True)
    program = compiled.program
    names = [line.op.name for line in program.lines]
    assert names.count("tanh") == 8  # four the first time and four the second
    made = {i: n for n, line in enumerate(program.lines) for i in line.outs}
    for line in program.lines:
        if line.op.name == "after":
            cotangent = line.ins[1]
            users = [n for n, user in enumerate(program.lines) if line.outs[0] in user.ins]
            assert min(users) > made[cotangent]
    forgetful = names.count("matmul")
    compiled(X, WEIGHTS, False)
    assert forgetful == [line.op.name for line in compiled.program.lines].count("matmul") + 4


def test_tracing_needs_little_more_memory_than_running(figure: Callable[[str, str], None]) -> None:
    weights = [lab.constant(np.eye(128, dtype=np.float32)) for _ in range(24)]
    x = lab.constant(RANDOM.standard_normal((512, 128)).astype(np.float32))

    def deep(x: lab.Tensor, weights: list[lab.Tensor]) -> list[lab.Tensor]:
        with lab.GradientTape() as tape:
            tape.watch(weights)
            h = x
            for w in weights:
                h = lab.tanh(h @ w)
            y = lab.reduce_mean(h * h)
        return tape.gradient(y, weights)

    def peak(run: Callable[..., object]) -> int:
        tracemalloc.start()
        run(x, weights)
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found

    deep(x, weights)
    compiled = function(deep)
    function(deep)(x, weights)  # what Numba needs for itself is there afterwards
    ratio = peak(compiled) / peak(deep)
    figure("peak memory of tracing a deep net, of running it op by op", f"{ratio:.2f}")
    assert compiled.fallbacks == 0
    assert ratio < 3  # it was 6 when a trace kept every value
