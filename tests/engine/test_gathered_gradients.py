"""The gradient of a source that is only gathered is `IndexedSlices`, and stands for the dense gradient everywhere."""

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab

ROWS, WIDTH = 5, 3
COUNT = 60
Use = Callable[[Any], Any]


def _gathered(rng: random.Random) -> tuple[Use, bool]:
    """Return a use of a table as (m, WIDTH) rows of it, and whether it gathers rows and does nothing else."""
    length, dtype = rng.randrange(0, 5), rng.choice(["int32", "int64"])
    ids = lab.cast(lab.constant(np.array([rng.randrange(ROWS) for _ in range(length)], np.int64)), dtype)
    nested = [[rng.randrange(ROWS) for _ in range(2)] for _ in range(rng.randrange(1, 3))]
    one = rng.randrange(ROWS)
    numbers = lab.constant(nested, dtype)
    uses: list[tuple[Use, bool]] = [
        (lambda t: lab.gather(t, ids), True),
        (lambda t: lab.gather(t, numbers), True),
        (lambda t: lab.gather(t, one), True),
        (lambda t: lab.nn.embedding_lookup(t, nested), True),
        (lambda t: lab.nn.embedding_lookup(t, nested, max_norm=1.5), True),
        (lambda t: lab.gather_nd(t, [[one], [0]]), True),
        (lambda t: lab.gather(t, [0, 2], axis=1), False),
        (lambda t: lab.gather_nd(t, [[one, 1], [0, 0]]), False),
        (lambda t: t[one], False),
        (lambda t: t[1:3] * 2.0, False),
        (lambda t: t * t, False),
        (lambda t: lab.repeat(t, [1, 0, 2, 1, 1], axis=0), False),
        (lambda t: lab.boolean_mask(t, [True, False, True, True, False]), False),
        (lambda t: lab.gather(lab.tanh(t), nested), False),
    ]
    return rng.choice(uses)


def program(seed: int) -> tuple[Use, bool]:
    """Return a loss of a table, and whether its gradient is that of gathers alone."""
    rng = random.Random(seed)
    uses = [_gathered(rng) for _ in range(rng.randrange(1, 4))]

    def loss(table: Any) -> Any:
        total: Any = lab.constant(0.5)
        for use, _ in uses:
            part = use(table)
            total = total + lab.reduce_sum(lab.sin(part) * part)
        return total

    return loss, all(gathers for _, gathers in uses)


def table() -> np.ndarray[Any, Any]:
    return np.random.default_rng(0).standard_normal((ROWS, WIDTH)).astype(np.float32)


def of_one(loss: Use, x: Any, **options: Any) -> Any:
    """Return the gradient by a tape."""
    with lab.GradientTape(**options) as tape:
        tape.watch(x)
        y = loss(x)
    return tape.gradient(y, x)


@pytest.mark.parametrize("seed", range(COUNT))
def test_every_way_to_the_gradient_gives_the_same(seed: int) -> None:
    loss, gathers = program(seed)
    x = lab.constant(table())
    dense = lab.gradient(loss)(x)  # a function of tensors gives tensors
    assert isinstance(dense, lab.Tensor)
    v = lab.Variable(x)
    with lab.record() as recording:
        recorded = of_one(loss, v)
    compiled = lab.function(lambda x: of_one(loss, x))
    ways = {
        "tensor": of_one(loss, x), "variable": of_one(loss, v), "persistent": of_one(loss, v, persistent=True),
        "recorded": recorded, "traced": compiled(x), "compiled": compiled(x),
    }  # fmt: skip
    assert compiled.fallbacks == 0, compiled.why()
    for name, found in ways.items():
        assert isinstance(found, lab.IndexedSlices if gathers else lab.Tensor), name
        assert found.shape == (ROWS, WIDTH), name
        np.testing.assert_allclose(lab.convert_to_tensor(found), dense, rtol=1e-5, atol=1e-5, err_msg=name)
    if gathers:
        assert np.array_equal(ways["tensor"].indices, recorded.indices)
        np.testing.assert_allclose(ways["tensor"].values, recorded.values, rtol=1e-6)
    last = next(line for line in reversed(recording.to_text(lines=False).splitlines()) if "gradient" in line)
    assert f"gradient f32[{ROWS},{WIDTH}]" in last  # what one looks at is the whole gradient


@pytest.mark.parametrize("seed", range(0, COUNT, 3))
def test_second_derivatives_pass_through_the_rows(seed: int) -> None:
    loss, _ = program(seed)
    x = lab.constant(table())
    scaled: Any = None
    with lab.GradientTape(persistent=True) as outer:
        outer.watch(x)
        first = of_one(loss, x)
        whole = lab.convert_to_tensor(first)
        total = lab.reduce_sum(whole**2)
        if isinstance(first, lab.IndexedSlices):
            scaled = lab.reduce_sum((first * 2.0).values ** 2)
    second = lab.gradient(lambda x: lab.reduce_sum(lab.gradient(loss)(x) ** 2))(x)
    np.testing.assert_allclose(lab.convert_to_tensor(outer.gradient(total, x)), second, rtol=1e-4, atol=1e-4)
    if isinstance(first, lab.IndexedSlices):
        assert outer.gradient(scaled, x) is not None or not first.indices.shape[0]
    jacobian = outer.jacobian(whole, x)
    hessian = lab.hessian(loss)(x)
    assert isinstance(jacobian, lab.Tensor) or jacobian is None
    np.testing.assert_allclose(jacobian if jacobian is not None else 0.0 * hessian, hessian, rtol=1e-4, atol=1e-4)


def test_positions_come_in_the_order_of_the_gathers() -> None:
    v = lab.Variable(table())
    with lab.GradientTape() as tape:
        y = lab.reduce_sum(lab.gather(v, [2, 0, 2])) + lab.reduce_sum(lab.gather(v, lab.constant([[1]], lab.int64)))
    gradient = tape.gradient(y, v)
    assert gradient.indices.numpy().tolist() == [2, 0, 2, 1]
    assert gradient.indices.dtype == lab.int64
    assert gradient.dense_shape.numpy().tolist() == [ROWS, WIDTH]


def test_an_intermediate_result_gets_rows_and_passes_on_a_tensor() -> None:
    v = lab.Variable(table())
    with lab.GradientTape() as tape:
        hidden = lab.tanh(v)
        y = lab.reduce_sum(lab.gather(hidden, [1, 1]))
    of_hidden, of_v = tape.gradient(y, [hidden, v])
    assert isinstance(of_hidden, lab.IndexedSlices)
    assert isinstance(of_v, lab.Tensor)
    np.testing.assert_allclose(of_v, of_hidden.numpy() * (1 - np.tanh(table()) ** 2), rtol=1e-5)


def test_a_thousand_gathers_keep_one_list_of_parts() -> None:
    v = lab.Variable(table())
    with lab.GradientTape() as tape:
        y = lab.add_n([lab.reduce_sum(lab.gather(v, [i % ROWS])) for i in range(1000)])
    gradient = tape.gradient(y, v)
    assert gradient.values.shape == (1000, WIDTH)
    assert gradient.numpy().tolist() == [[200.0] * WIDTH] * ROWS


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64", "complex64"])
def test_other_dtypes(dtype: str) -> None:
    v = lab.Variable(lab.cast(table(), dtype))
    with lab.GradientTape() as tape:
        part = lab.gather(v, [0, 0, 4])
        y = lab.reduce_sum(lab.math.real(part * part) if dtype == "complex64" else part * part)
    gradient = tape.gradient(y, v)
    assert isinstance(gradient, lab.IndexedSlices)
    assert gradient.dtype == v.dtype
    expected = np.zeros((ROWS, WIDTH))
    expected[[0, 4]] = (2 * table())[[0, 4]] * [[2], [1]]
    np.testing.assert_allclose(lab.cast(gradient.numpy(), lab.complex128), expected, rtol=0.02, atol=0.02)


def test_lessons_and_steps_see_tensors() -> None:
    v = lab.Variable(table())
    overwriting = lab.Engine(accumulate=lambda old, new: new)
    for engine in (overwriting, lab.Engine(rules={"sin": lambda ops, g, out, x: g})):
        with lab.GradientTape() as tape:
            y = lab.reduce_sum(lab.gather(v, [1, 2])) + lab.reduce_sum(lab.gather(v, [1]))
        assert isinstance(tape.gradient(y, v, engine=engine), lab.Tensor)
    with lab.GradientTape() as tape:
        y = lab.reduce_sum(lab.gather(v, [1, 2]))
    steps = tape.steps(y, v)
    for _ in steps:
        pass
    assert isinstance(steps.adjoint(v), lab.Tensor)


def test_unconnected_sources_and_structures() -> None:
    v, w = lab.Variable(table()), lab.Variable(1.0)
    with lab.GradientTape(persistent=True) as tape:
        y = lab.reduce_sum(lab.nn.embedding_lookup(v, [0]))
    found = tape.gradient(y, {"v": v, "w": [w]})
    assert isinstance(found["v"], lab.IndexedSlices)
    assert found["w"] == [None]
    assert tape.gradient(y, w, unconnected_gradients="zero").shape == ()


def test_a_compiled_function_returns_rows_in_structures() -> None:
    @lab.function
    def f(x: Any, ids: Any) -> Any:
        with lab.GradientTape() as tape:
            tape.watch(x)
            y = lab.reduce_sum(lab.gather(x, ids) ** 2)
        return {"loss": y, "slope": [tape.gradient(y, x), 3]}

    x = lab.constant(table())
    for ids in ([0, 1], [3, 3], [4, 0]):
        found = f(x, lab.constant(ids))
        slices, three = found["slope"]
        assert three == 3
        assert slices.indices.numpy().tolist() == ids
        np.testing.assert_allclose(slices.values, 2 * table()[ids], rtol=1e-6)
    assert f.fallbacks == 0, f.why()


def test_it_works_where_a_tensor_did() -> None:
    v = lab.Variable(table())
    gradient = of_one(lambda x: lab.reduce_sum(lab.gather(x, [1, 1, 3]) ** 2), v)
    whole = gradient.numpy()
    for name, made, expected in (
        ("+ tensor", gradient + v, whole + table()), ("tensor +", v + gradient, table() + whole),
        ("tensor *", v * gradient, table() * whole), ("**", gradient**2, whole**2), ("[]", gradient[1], whole[1]),
        ("abs", abs(gradient), abs(whole)), ("@", gradient @ lab.transpose(v), whole @ table().T),
        ("1 -", 1.0 - gradient, 1 - whole), ("array", np.asarray(gradient), whole), (">", gradient > 0.0, whole > 0),
        ("sum", lab.reduce_sum(gradient), whole.sum()), ("add_n", lab.add_n([gradient, gradient]), 2 * whole),
        ("rows", lab.stack(list(gradient)), whole), ("length", len(gradient), ROWS),
        ("cond", lab.cond(lab.constant(True), lambda: gradient, lambda: gradient) + 0.0, whole),
    ):  # fmt: skip
        np.testing.assert_allclose(made, expected, rtol=1e-5, atol=1e-5, err_msg=name)
    for name, made, expected in (
        ("* number", gradient * 2.0, 2 * whole), ("number *", 2.0 * gradient, 2 * whole),
        ("/ number", gradient / 2.0, whole / 2), ("cast", lab.cast(gradient, "float64"), whole),
        ("-", -gradient, -whole),
        ("+ slices", gradient + gradient, 2 * whole), ("- slices", gradient - gradient * 3.0, -2 * whole),
        ("identity", lab.identity(gradient), whole), ("stop", lab.stop_gradient(gradient), whole),
    ):  # fmt: skip
        assert isinstance(made, lab.IndexedSlices), name
        np.testing.assert_allclose(made.numpy(), expected, rtol=1e-5, atol=1e-5, err_msg=name)
    assert gradient.ndim == 2
    assert gradient.get_shape() == (ROWS, WIDTH)
    assert gradient.device == v.device


def test_rows_that_do_not_fit_their_shape_are_refused() -> None:
    with pytest.raises(lab.errors.ShapeMismatch, match="do not fit"):
        lab.convert_to_tensor(lab.IndexedSlices([[1.0, 2.0]], [0], [3, 3]))
    with pytest.raises(lab.errors.InvalidArgumentError, match="not in"):
        lab.convert_to_tensor(lab.IndexedSlices([[1.0, 2.0]], [5], [3, 2]))
