"""Cheap lines of a loop that only one later loop reads move there, and no array is stored for them."""

from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab

pytest.importorskip("numba", reason="loops need Numba")

DRAW = np.random.default_rng(11)


def compiled(function: Any, *arrays: Any) -> Any:
    """Compile, compare with the eager call, and hand back the compiled function."""
    tensors = [lab.constant(a) for a in arrays]
    made: Any = lab.function(function)
    made(*tensors)
    for found, wanted in zip(made(*tensors), function(*tensors), strict=True):
        size = np.abs(wanted.numpy()).max(initial=0, where=np.isfinite(wanted.numpy()))
        np.testing.assert_allclose(found.numpy(), wanted.numpy(), rtol=2e-5, atol=2e-6 * size)
    assert not made.fallbacks
    assert not made.skipped
    return made


def normal(*shape: int) -> Any:
    return DRAW.standard_normal(shape).astype(np.float32)


def slope(function: Any, *leaves: Any) -> Any:
    with lab.GradientTape() as tape:
        tape.watch(leaves)
        y = lab.reduce_mean(function(*leaves))
    return (y, *tape.gradient(y, leaves))


def test_the_slope_of_tanh_is_made_where_the_backward_pass_needs_it() -> None:
    def layers(x: Any, v: Any, w: Any) -> Any:
        return lab.tanh(lab.tanh(x @ v) @ w) @ w

    # loops so large that each is a call of its own
    made = compiled(lambda *leaves: slope(layers, *leaves), normal(4400, 20), normal(20, 30), normal(30, 30))
    first, last = (kernel for kernel in made.kernels if "tanh(" in kernel.source)
    assert "rule of tanh" not in first.source
    assert len(first.outs) == 1
    late = next(kernel for kernel in made.kernels if kernel not in (first, last))
    assert late.source.count("rule of tanh") == 3  # h², 1 - h² and the product


def test_costly_functions_stay_and_run_once() -> None:
    def run(x: Any, w: Any) -> Any:
        grown, other = lab.exp(x), lab.sqrt(x * x + 1.0)
        return (other @ w) * grown, grown @ w

    made = compiled(run, normal(20, 20), normal(20, 20))
    assert made.source.count("exp(") == 1


def test_what_is_read_in_two_places_or_given_back_stays() -> None:
    def run(x: Any, w: Any) -> Any:
        h = lab.tanh(x)
        twice, given = 1.0 - h * h, 2.0 * h - x
        return (h @ w) * twice * given, (w @ h) @ twice, given

    made = compiled(run, normal(20, 20), normal(20, 20))
    first = next(kernel for kernel in made.kernels if "tanh(" in kernel.source)
    assert len(first.outs) == 3


def test_a_line_that_would_keep_more_alive_stays() -> None:
    """Three arrays that nothing else needs any more would have to wait in place of one."""

    def run(a: Any, b: Any, c: Any, w: Any) -> Any:
        x, y, z = a @ w, b @ w, c @ w
        late = x * y - z
        return (lab.tanh(x * y) @ w @ w) * late, late[0]

    def alone(a: Any, b: Any, c: Any, w: Any) -> Any:
        x, y, z = a @ w, b @ w, c @ w
        return (lab.tanh(x * y) @ w @ w) * (x * y - z), x[0]

    arrays = [normal(20, 20) for _ in range(4)]
    for function in (run, alone):
        made = compiled(function, *arrays)
        first = next(kernel for kernel in made.kernels if "tanh(" in kernel.source)
        assert len(first.outs) == 2


def test_lines_with_values_of_rows_and_columns_move_where_those_lie_the_same_way() -> None:
    def run(x: Any, scale: Any, offset: Any, w: Any) -> Any:
        h = lab.tanh(x * scale + offset)
        return (h @ w) * ((1.0 - h * h) * scale - offset), h

    arrays = [normal(18, 24), normal(24), normal(18, 1), normal(24, 24)]
    with lab.use_kernels("numpy"):
        compiled(run, *arrays)
    compiled(run, arrays[0], arrays[1], normal(24), arrays[3])


@pytest.mark.parametrize("odd", [np.nan, np.inf, -np.inf, 1e30])
def test_odd_numbers_come_through_as_in_eager_calls(odd: float) -> None:
    x, w = normal(17, 17), normal(17, 17)
    x[3, 4] = odd

    def run(x: Any, w: Any) -> Any:
        h = lab.nn.relu(x @ w)
        return slope(lambda x, w: lab.sigmoid(h * x) @ w * lab.nn.relu(x), x, w)

    compiled(run, x, w)


def test_a_deep_net_keeps_no_more_than_its_activations() -> None:
    """Sixteen layers of 64 KiB: beside the weights' gradients, one activation each and a few arrays in work."""
    import tracemalloc

    weights = [lab.constant(normal(64, 64) / 8) for _ in range(16)]
    x = lab.constant(normal(256, 64))

    @lab.function
    def step(x: Any, weights: Any) -> Any:
        with lab.GradientTape() as tape:
            tape.watch(weights)
            h = x
            for w in weights:
                h = lab.tanh(h @ w)
            y = lab.reduce_mean(h * h)
        return tape.gradient(y, weights)

    step(x, weights)
    tracemalloc.start()
    try:
        step(x, weights)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < (16 + 8) * 2**16
