"""Compiled functions behave like the functions they wrap: results, state, structures, errors."""

import copy
import sys
import threading
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from tests.refusals import refused

x2 = lab.constant([1.0, -2.0])
rate = 0.5
history: list[int] = []


def twice(function: Any, *args: Any) -> Any:
    """Call twice, so that the second call runs the program, which must have been possible."""
    function(*args)
    before = function.fallbacks
    result = function(*args)
    assert function.fallbacks == before, function.why()
    return result


def test_a_second_call_runs_no_python() -> None:
    heard: list[str] = []
    f = lab.function(lambda x: lab.sin(x) * 2.0)
    expected = f(x2).numpy()
    own = f.python_function.__code__

    def listener(frame: Any, event: str, called: Any) -> None:
        if event == "call" and frame.f_code is own:
            heard.append(event)

    sys.setprofile(listener)
    try:
        result = f(x2)
    finally:
        sys.setprofile(None)
    assert not heard
    assert np.allclose(result.numpy(), expected)


def test_tapes_inside_nest_and_give_second_derivatives() -> None:
    @lab.function
    def curvature(x: Any) -> Any:
        with lab.GradientTape() as outer:
            outer.watch(x)
            with lab.GradientTape() as inner:
                inner.watch(x)
                y = lab.reduce_sum(lab.sin(x) * x * x)
            slope = inner.gradient(y, x)
            total = lab.reduce_sum(slope)
        return slope, outer.gradient(total, x)

    expected = curvature.python_function(x2)
    for a, b in zip(twice(curvature, x2), expected, strict=True):
        assert np.allclose(a.numpy(), b.numpy(), rtol=1e-6)


def test_jacobians_persistent_tapes_and_custom_gradients_are_traced() -> None:
    @lab.custom_gradient
    def clipped(x: Any) -> Any:
        return lab.identity(x), lambda upstream: lab.minimum(upstream, 1.0)

    @lab.function
    def f(x: Any) -> Any:
        with lab.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = clipped(x) * 100.0
            z = lab.sin(x) * x
        return tape.gradient(y, x), tape.jacobian(z, x), tape.gradient(z, x)

    for a, b in zip(twice(f, x2), f.python_function(x2), strict=True):
        assert np.allclose(a.numpy(), b.numpy(), rtol=1e-6)


def test_two_arguments_of_one_array_are_two_arguments() -> None:
    f = lab.function(lambda x, y: x - y)
    assert np.array_equal(f(x2, x2).numpy(), [0.0, 0.0])
    assert np.array_equal(f(x2, lab.constant([0.0, 1.0])).numpy(), [1.0, -3.0])


def test_variables_of_one_array_are_two_variables() -> None:
    v, w = lab.Variable([1.0, 2.0]), lab.Variable([0.0, 0.0])
    w.assign(v)
    f = lab.function(lambda: v - w)
    f()
    w.assign([5.0, 5.0])
    assert np.array_equal(f().numpy(), [-4.0, -3.0])
    assert f.fallbacks == 0


def test_variables_are_read_anew_and_written_back() -> None:
    count = lab.Variable(0.0)
    other = lab.Variable([1.0, 1.0])

    @lab.function
    def step(x: Any) -> Any:
        before = count.read()
        count.assign_add(1.0)
        other.assign(other * x)
        return before, count * 10.0

    results = [tuple(float(t) for t in step(x2)) for _ in range(3)]
    assert results == [(0.0, 10.0), (1.0, 20.0), (2.0, 30.0)]
    assert np.array_equal(other.numpy(), [1.0, -8.0])
    count.assign(7.0)
    assert [float(t) for t in step(x2)] == [7.0, 80.0]
    assert step.fallbacks == 0


def test_a_read_before_a_tape_is_not_the_tapes_read() -> None:
    v = lab.Variable(3.0)

    @lab.function
    def f() -> Any:
        outside = v.read()
        with lab.GradientTape() as tape:
            y = outside * v
        return tape.gradient(y, v)

    assert float(f()) == float(f()) == 3.0


def test_structures_go_in_and_come_out() -> None:
    @lab.function
    def f(data: Any, *, scale: float = 2.0) -> Any:
        return {"sum": data["a"] + data["b"][0], "rest": [data["b"][1] * scale, "text", None, 3]}

    data = {"a": x2, "b": (x2, lab.constant(4.0))}
    for _ in range(2):
        out = f(data, scale=3.0)
        assert np.array_equal(out["sum"].numpy(), [2.0, -4.0])
        assert float(out["rest"][0]) == 12.0
        assert out["rest"][1:] == ["text", None, 3]
    assert float(f(data)["rest"][0]) == 8.0
    assert f.fallbacks == 0


def test_python_values_specialise_and_shapes_and_dtypes_trace_anew() -> None:
    f = lab.function(lambda x, n: x * n)
    assert np.array_equal(f(x2, 2).numpy(), [2.0, -4.0])
    assert np.array_equal(f(x2, 3).numpy(), [3.0, -6.0])
    assert np.array_equal(f(lab.constant([1, 2, 3]), 3).numpy(), [3, 6, 9])
    assert str(f(x2, -0.0).numpy()) == "[-0.  0.]"
    assert str(f(x2, 0.0).numpy()) == "[ 0. -0.]"


def test_numpy_arguments_become_tensors() -> None:
    f = lab.function(lambda x: x + 1.0)
    for scale in (1.0, 2.0):
        result = f(np.array([1.0, 2.0], np.float32) * np.float32(scale))
        assert isinstance(result, lab.Tensor)
        assert np.array_equal(result.numpy(), np.array([1.0, 2.0]) * scale + 1)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "int32", "int64", "uint8", "bool", "complex64", "complex128"])
def test_other_dtypes_give_the_bits_of_eager_ops(dtype: str) -> None:
    def f(x: Any, y: Any) -> Any:
        if x.dtype == lab.bool:
            return lab.logical_and(x, y), lab.where(x, 1.0, 2.0)
        return x * y + x, x == y, lab.reduce_sum(x)

    a, b = (lab.cast(lab.constant(v), dtype) for v in ([0.0, 1.0, 3.0], [2.0, 1.0, 0.0]))
    compiled = lab.function(f)
    for got, want in zip(twice(compiled, a, b), f(a, b), strict=True):
        assert got.dtype == want.dtype
        assert np.array_equal(got.numpy(), want.numpy())


@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0), ()])
def test_empty_tensors_and_single_numbers(shape: tuple[int, ...]) -> None:
    def f(x: Any) -> Any:
        with lab.GradientTape() as tape:
            tape.watch(x)
            y = lab.reduce_sum(lab.sin(x) * x + x)
        return y, tape.gradient(y, x)

    x = lab.ones(shape)
    for got, want in zip(twice(lab.function(f), x), f(x), strict=True):
        assert got.shape == want.shape
        assert np.allclose(got.numpy(), want.numpy())


def test_layouts_that_are_not_contiguous() -> None:
    def f(x: Any, y: Any) -> Any:
        return lab.tanh(x * y) + x, lab.reduce_sum(lab.sin(x) + y, axis=0)

    compiled = lab.function(f)
    base = lab.constant(np.random.default_rng(0).standard_normal((4, 5)).astype(np.float32))
    for x in (base, lab.transpose(lab.transpose(base)), lab.broadcast_to(base[:1], (4, 5))):
        for got, want in zip(twice(compiled, x, x[:, ::-1]), f(x, x[:, ::-1]), strict=True):
            assert np.allclose(got.numpy(), want.numpy(), rtol=1e-5, atol=1e-6)


def test_methods_and_modules_built_in_the_first_call() -> None:
    class Model(lab.Module):
        def __init__(self) -> None:
            self.dense = lab.layers.Dense(3)

        @lab.function
        def __call__(self, x: Any) -> Any:
            return self.dense(x)

    one, two = Model(), Model()
    x = lab.ones((2, 4))
    for model in (one, two):
        first = model(x).numpy()
        assert np.allclose(model(x).numpy(), first)
        assert np.allclose(model(x).numpy(), (x @ model.dense.kernel + model.dense.bias).numpy())
    assert Model.__call__.program is not None


def test_inside_a_tape_a_recording_and_another_function_calls_run_op_by_op() -> None:
    f = lab.function(lambda x: x * x)
    f(x2)
    with lab.GradientTape() as tape:
        tape.watch(x2)
        y = f(x2)
    assert np.array_equal(tape.gradient(y, x2).numpy(), [2.0, -4.0])
    with lab.record() as recording:
        f(x2)
    assert "multiply" in recording.to_text()
    outer = lab.function(lambda x: f(x) + 1.0)
    assert np.array_equal(twice(outer, x2).numpy(), [2.0, 5.0])
    assert "multiply" in str(outer.program)


def test_errors_are_those_of_the_eager_function() -> None:
    f = lab.function(lambda x, i: lab.gather(x, i) * 1.0)
    f(x2, lab.constant([0, 1]))
    with pytest.raises(lab.errors.InvalidArgumentError, match="index 5"):
        f(x2, lab.constant([0, 5]))
    with pytest.raises(lab.errors.ShapeMismatch):
        lab.function(lambda x, y: x + y)(x2, lab.ones((3,)))
    assert np.array_equal(f(x2, lab.constant([1, 1])).numpy(), [-2.0, -2.0])


def test_an_error_leaves_variables_as_they_were() -> None:
    v = lab.Variable(1.0)

    @lab.function
    def f(x: Any, i: Any) -> Any:
        v.assign_add(1.0)
        return lab.gather(x, i)

    f(x2, lab.constant([0]))
    f(x2, lab.constant([0]))
    with pytest.raises(lab.errors.InvalidArgumentError):
        f(x2, lab.constant([9]))
    assert float(v) == 4.0  # the eager run, which raised the error, added once as it would have done alone


def test_a_result_whose_shape_changes_runs_eagerly() -> None:
    f = lab.function(lambda x: lab.reduce_sum(lab.gather_nd(x, lab.where(x > 0.0))))
    assert float(f(x2)) == 1.0
    assert float(f(lab.constant([3.0, 4.0]))) == 7.0
    assert f.fallbacks == 1


def test_far_angles_are_left_to_numpy() -> None:
    f = lab.function(lambda x: lab.sin(x) + lab.cos(x))
    near, far = lab.constant([1.0, 2.0, np.inf]), lab.constant([1e7, 3e30, np.nan])
    for x in (near, far, near):
        want = (lab.sin(x) + lab.cos(x)).numpy()
        assert np.allclose(f(x).numpy(), want, rtol=1e-6, atol=1e-6, equal_nan=True)


def test_decorating_what_is_no_function_is_refused() -> None:
    with pytest.raises(lab.errors.NotCallable):
        lab.function(3.0)
    with refused(lab.errors.InvalidArgumentError, "backend"):
        lab.function(lambda x: x, backend="quantum")


def test_what_has_no_single_result_is_refused() -> None:
    def generator(x: Any) -> Any:
        yield x

    async def coroutine(x: Any) -> Any:
        return x

    async def both(x: Any) -> Any:
        yield x

    for function in (generator, coroutine, both):
        with pytest.raises(lab.errors.NotCallable, match="no single result"):
            lab.function(function)


def test_a_deep_copy_is_the_same_function() -> None:
    f = lab.function(lambda x: x)
    assert copy.deepcopy([f])[0] is f


def test_a_variable_that_changes_its_size_is_told_of() -> None:
    rows = lab.Variable(np.ones((2, 3), np.float32), shape=[None, 3])

    @lab.function
    def total() -> lab.Tensor:
        return lab.reduce_sum(rows * 2.0)

    assert float(total()) == 12.0
    assert total.why() == "total is compiled."
    rows.assign(np.ones((4, 3), np.float32))
    assert float(total()) == 24.0
    assert total.fallbacks == 1
    assert "1 of its calls ran eagerly" in total.why()
    assert "another shape" in total.why()


def test_a_function_that_only_a_tape_calls_says_what_to_decorate() -> None:
    x = lab.Variable([1.0, 2.0])
    loss = lab.function(lambda x: lab.reduce_sum(x * x))
    assert "has not been called yet" in loss.why()
    for count in ("1 call of", "2 calls of"):
        with lab.GradientTape() as tape:
            y = loss(x)
        assert count in loss.why()
        assert "decorate the function that opens the tape" in loss.why()
    assert np.array_equal(tape.gradient(y, x), [2.0, 4.0])

    def step() -> Any:
        with lab.GradientTape() as tape:
            y = loss(x)
        return tape.gradient(y, x)

    compiled = lab.function(step)
    compiled.compile()
    assert compiled.why() == "step is compiled."
    loss.compile(x)
    assert loss.why().startswith("<lambda> is compiled. 2 calls of")


def test_threads_that_meet_at_the_first_call_share_one_trace() -> None:
    """Those that find a trace under way run eagerly, once, and are not counted as calls that could not be compiled."""
    weights = lab.Variable([1.0, 2.0])

    def plain(x: Any) -> Any:
        return lab.reduce_sum(lab.sin(weights * x))

    expected = plain(x2).numpy()
    for _ in range(5):
        compiled, barrier, results = lab.function(plain, backend="numpy"), threading.Barrier(8), []

        def run(compiled: Any = compiled, barrier: Any = barrier, results: Any = results) -> None:
            barrier.wait()
            results.append(compiled(x2).numpy())

        threads = [threading.Thread(target=run) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert results == [expected] * 8
        assert compiled.fallbacks == 0
        assert compiled.why() == "plain is compiled."


def test_a_call_under_a_profiler_is_eager_and_later_ones_are_not() -> None:
    f = lab.function(lambda x: x * 2.0)
    sys.setprofile(lambda frame, event, called: None)
    try:
        f(x2)
    finally:
        sys.setprofile(None)
    assert "profiler" in f.why()
    assert np.array_equal(twice(f, x2).numpy(), [2.0, -4.0])


def test_lists_and_dicts_that_are_passed_hold_the_callers_tensors_again() -> None:
    f = lab.function(lambda given: given["a"][0] + given["b"])
    first, second = lab.constant(1.0), lab.constant(2.0)
    inner = [first, np.float32(3.0)]
    given = {"a": inner, "b": second}
    for _ in range(3):
        assert float(f(given)) == 3.0
        assert given["a"] is inner
        assert inner[0] is first
        assert isinstance(inner[1], np.float32)
        assert given["b"] is second
    assert f.fallbacks == 0


def test_layers_added_after_the_first_calls_are_compiled_again() -> None:
    model, x = lab.Sequential([lab.layers.Dense(2)]), lab.ones((1, 2))
    f = lab.function(lambda x: model(x))  # noqa: PLW0108
    f(x)
    f(x)
    model.add(lab.layers.Dense(3))
    f(x)  # builds it
    before = f.fallbacks
    assert f(x).shape == (1, 3)
    assert f.fallbacks == before
