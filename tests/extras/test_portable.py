"""Functions that portable programs call run eagerly, and pass gradients where TensorFlow does."""

from collections.abc import Callable

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab.errors import LabError


def test_what_has_run_already_is_handed_back() -> None:
    x = lab.Variable(2.0)
    with lab.GradientTape() as tape:
        a, b = lab.identity_n([x * 3.0, x])
        y = lab.tuple([a * b, None])
    assert y[1] is None
    assert float(tape.gradient(y[0], x)) == 12.0
    assert [s.numpy().tolist() for s in lab.shape_n([lab.ones((2, 3)), 1.0], lab.int64)] == [[2, 3], []]
    assert lab.executing_eagerly()
    assert lab.group(x.assign(1.0), x.assign(2.0)) is None
    called: list[int] = []
    with lab.control_dependencies([x.assign(5.0), lambda: called.append(1)]):
        assert (float(x), called) == (5.0, [1])


def test_the_static_value_of_what_never_changes() -> None:
    v = lab.Variable(1.0)
    assert lab.get_static_value(lab.constant([1, 2])).tolist() == [1, 2]
    assert lab.get_static_value(v) is None
    assert lab.get_static_value([3.0]) == [3.0]


def test_python_functions_pass_gradients_and_numpy_functions_do_not() -> None:
    x = lab.constant(3.0)
    with lab.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y, whole = lab.py_function(lambda t: (t * t, 7), [x], [lab.float32, lab.int64])
        z = lab.numpy_function(np.square, [x], lab.float32)
    assert whole.dtype == lab.int64
    assert float(tape.gradient(y, x)) == 6.0
    assert tape.gradient(z, x) is None
    assert lab.py_function(lambda: None, [], []) == []

    @lab.py_function(Tout=lab.float32)
    def double(t: lab.Tensor) -> lab.Tensor:
        return t * 2.0

    assert float(double(2.0)) == 4.0


REFUSED: list[Callable[[], object]] = [
    lambda: lab.py_function(lambda t: t, [1.0]), lambda: lab.py_function(3, [1.0], lab.float32),  # type: ignore[arg-type]
    lambda: lab.py_function(lambda t: t, [1.0], [lab.float32] * 2), lambda: lab.fill([2], [1, 2]),
    lambda: lab.nn.space_to_depth(lab.zeros((1, 2, 2, 1)), 1), lambda: lab.split(lab.zeros(4), [2, 2], num=3),
    lambda: lab.nn.max_pool(lab.zeros((1, 2, 2, 2, 2, 1)), 2, 1, "SAME"), lambda: lab.zeros(2, layout="mesh"),
    lambda: lab.switch_case(1, {0: lambda: 1, 2: lambda: 3}), lambda: lab.gather_nd([1.0], [[0]], 0, None, "IGNORE"),
    lambda: lab.scatter_nd([[0]], [1.0], [1], "SOMETIMES"), lambda: lab.Variable(1.0, variable_def=1),  # type: ignore[arg-type]
    lab.random.Generator,
]  # fmt: skip


@pytest.mark.parametrize("attempt", REFUSED)
def test_arguments_that_mean_nothing_are_refused(attempt: Callable[[], object]) -> None:
    with pytest.raises(LabError):
        attempt()


def test_rows_of_variables_are_multiplied_and_read() -> None:
    v = lab.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    rows = lab.IndexedSlices(lab.constant([[2.0, 2.0], [5.0, 5.0]]), lab.constant([1, 1]))
    assert v.scatter_mul(rows).numpy()[1].tolist() == [30.0, 40.0]
    assert v.scatter_div(rows).numpy()[1].tolist() == [3.0, 4.0]
    with lab.GradientTape() as tape:
        y = lab.reduce_sum(v.sparse_read([0, 0])) + 10.0 * v.gather_nd([2, 1])
    assert tape.gradient(y, v).numpy().tolist() == [[2.0, 2.0], [0.0, 0.0], [0.0, 10.0]]
    assert v.assign(v.read(), read_value=False) is None
    assert v.initializer is None
    positional = lab.Variable(1.0, False, True, None, "x", None, lab.float64)
    assert (positional.name, positional.trainable, positional.dtype) == ("x:0", False, lab.float64)


def test_a_generator_goes_on_where_another_stands() -> None:
    first = lab.random.Generator.from_seed(1)
    first.normal((3,))
    copies = [lab.random.Generator(first), lab.random.Generator(state=first.state, alg="philox")]
    expected = first.normal((2,)).numpy().tolist()
    for copy in copies:
        assert copy.normal((2,)).numpy().tolist() == expected
