"""Jacobians by bands equal those by full stacks: for every op, with inf and nan, after any operation on the bands."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab.engine.op import REGISTRY, UNREGISTERED
from autodiff_lab.transforms import bands, jacobians
from autodiff_lab.transforms.bands import Bands, unit_stack
from autodiff_lab.transforms.structured import STRUCTURED, filled
from tests.ops.samples import ops_of_the_catalogue, samples

STACKED = [n for n in ops_of_the_catalogue() if REGISTRY[n].stacked and REGISTRY[n].rules not in (None, UNREGISTERED)]


@pytest.fixture
def always(monkeypatch: pytest.MonkeyPatch) -> Callable[[bool], None]:
    """Choose whether bands are always used or never."""

    def choose(use: bool) -> None:
        monkeypatch.setattr(jacobians, "FEWEST_IN_BANDS", 1 if use else 1 << 60)

    return choose


def both(always: Callable[[bool], None], program: Callable[[Any], Any], x: Any) -> tuple[Any, Any]:
    """The Jacobian of a program by bands and by whole stacks."""
    found: list[Any] = []
    for use in (True, False):
        always(use)
        with lab.GradientTape() as tape:
            tape.watch(x)
            y = program(x)
        found.append(tape.jacobian(y, x))
    return found[0].numpy(), found[1].numpy()


@pytest.mark.slow(keep=60)
@pytest.mark.parametrize("name", STACKED)
def test_bands_that_meet_an_op_give_what_a_whole_stack_gives(name: str, always: Callable[[bool], None]) -> None:
    for sample in samples(name):
        for k in sample.differentiable:
            tensors = sample.tensors()

            def program(x: Any, tensors: Any = tensors, k: int = k, sample: Any = sample) -> Any:
                made = sample(*[x if i == k else t for i, t in enumerate(tensors)])
                out = made[0] if isinstance(made, tuple) else made
                return out * 3.0 + out if out.dtype.is_floating else out

            if tensors[k].dtype.is_floating:
                by_bands, whole = both(always, program, tensors[k])
                np.testing.assert_allclose(by_bands, whole, 1e-13, 1e-13)


X = np.linspace(0.5, 2.0, 30)
WEIGHTS = np.random.default_rng(0).normal(size=(30, 30))
PROGRAMS: dict[str, Callable[[Any], Any]] = {
    "elementwise": lambda x: lab.sin(x) * x - lab.exp(x) / x + abs(x) ** 3,
    "numbers on both sides": lambda x: 2.0 * x + (1.0 - x) / 3.0 - 5.0 / x,
    "a tensor of rank 2": lambda x: lab.tanh(lab.reshape(x, (5, 6))) * 2.0,
    "neighbours": lambda x: x[1:] * x[:-1] + x[2:-1][0] * x[1:],
    "second neighbours": lambda x: (x[4:] - 2.0 * x[2:-2] + x[:-4]) * x[2:-2],
    "more bands than pay": lambda x: sum((x[i : i + 15] * float(i + 1) for i in range(14)), x[:15]),
    "steps and single elements": lambda x: x[::2] * x[1::2] + x[-1] + x[::-1][:15],
    "new axes": lambda x: lab.sin(x[:, None])[:, 0] + lab.sin(x[None])[0],
    "a choice": lambda x: lab.where(x > 1.0, x * x, lab.sin(x)) + lab.maximum(x, 1.2) + lab.nn.relu(x - 1.0),
    "a sum over all": lambda x: x * lab.reduce_sum(x * x) + lab.reduce_mean(x),
    "a broadcast": lambda x: lab.reshape(lab.reshape(x, (1, 30)) * lab.constant(np.ones((2, 1))), (60,)),
    "a number that all share": lambda x: x * x[3],
    "matrix times vector": lambda x: lab.tanh(lab.linalg.matvec(WEIGHTS, lab.sin(x))),
    "matrix times column": lambda x: lab.tanh(lab.matmul(lab.constant(WEIGHTS), lab.reshape(x, (30, 1)))),
    "row times matrix": lambda x: lab.exp(lab.matmul(lab.reshape(x, (1, 30)), lab.constant(WEIGHTS)) / 30.0),
    "vector times matrix": lambda x: lab.exp(lab.matmul(x, lab.constant(WEIGHTS)) / 30.0),
    "two layers": lambda x: lab.tanh(lab.linalg.matvec(WEIGHTS, lab.tanh(lab.linalg.matvec(WEIGHTS[:, ::-1], x)))),
    "numbers that all elements use": lambda x: x[0] * lab.exp(-(((lab.cast(X, x.dtype) - x[1]) / x[2]) ** 2)) + x[-1],
    "a column that all rows use": lambda x: lab.sin(lab.reshape(x, (30, 1)) * 2.0)[:, 0] * lab.reduce_sum(x[3:5]),
    "softmax": lambda x: lab.nn.softmax(x * x),
    "cumulative": lambda x: lab.cumsum(lab.sin(x)) * x,
    "joined": lambda x: lab.concat([x * x, lab.sin(x)], 0) * 2.0,
    "parts": lambda x: lab.split(x * 2.0, 2)[1] * x[:15],
    "gathered": lambda x: lab.gather(x * x, [3, 3, 1, 29] * 8),
    "another dtype": lambda x: lab.cast(lab.cast(x, lab.float32) * 2.0, lab.float64) * x,
    "a path that stops": lambda x: lab.stop_gradient(x) * x,
    "itself": lambda x: x,
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("dtype", ["float64", "float32", "float16"])
def test_programs(name: str, dtype: str, always: Callable[[bool], None]) -> None:
    if dtype != "float64" and any(word in name for word in ("matri", "layers", "dtype", "broadcast")):
        return  # these have parts in float64
    by_bands, whole = both(always, PROGRAMS[name], lab.constant(X.astype(dtype)))
    assert by_bands.dtype == whole.dtype
    size = np.abs(whole).max()
    np.testing.assert_allclose(by_bands, whole, 4 * np.finfo(dtype).eps, 4 * np.finfo(dtype).eps * size)


@pytest.mark.parametrize("bad", [0.0, np.inf, -np.inf, np.nan])
@pytest.mark.parametrize("program", [
    lab.sqrt, lambda x: 1.0 / x, lambda x: x * x[::-1], lambda x: lab.math.log(x) * x, lambda x: x[1:] / x[:-1],
    lambda x: lab.linalg.matvec(WEIGHTS, x) * x,
])  # fmt: skip
def test_inf_and_nan_come_out_where_a_whole_stack_has_them(
    program: Callable[[Any], Any], bad: float, always: Callable[[bool], None]
) -> None:
    values = X.copy()
    values[7] = bad
    np.testing.assert_array_equal(*both(always, program, lab.constant(values)))


def test_a_matrix_with_inf_makes_nan_as_in_a_whole_stack(always: Callable[[bool], None]) -> None:
    weights = WEIGHTS.copy()
    weights[3, 4] = np.inf
    by_bands, whole = both(always, lambda x: lab.linalg.matvec(weights, x), lab.constant(X))
    np.testing.assert_array_equal(by_bands, whole)
    assert np.isnan(by_bands).sum() == 29


def test_an_identity_stays_one_band_through_elementwise_ops_and_slices() -> None:
    g: Any = unit_stack(X)
    g = (g * X / 2.0) * np.float64(3.0)
    g = STRUCTURED.slice(-g, items=(("s", 1, None, None),))
    assert isinstance(g, Bands)
    assert [piece.offset for piece in g.pieces] == [-1]
    whole = np.zeros((30, 29))
    whole[np.arange(1, 30), np.arange(29)] = -1.5 * X[1:]
    np.testing.assert_allclose(g.whole(), whole, 1e-15)
    np.testing.assert_array_equal(
        STRUCTURED.unslice(g, items=(("s", 1, None, None),), shape=(30,)).whole()[:, 1:], g.whole()
    )


def test_sums_of_bands_stay_bands_until_they_are_many() -> None:
    def moved(start: int) -> Any:
        return STRUCTURED.slice(unit_stack(X), items=(("s", start, start + 10, 1),))

    few = moved(0) + moved(3) + moved(0)
    assert isinstance(few, Bands)
    assert sorted({piece.offset for piece in few.pieces}) == [-3, 0]
    np.testing.assert_array_equal(few.whole(), 2 * moved(0).whole() + moved(3).whole())
    many: Any = moved(0)
    for start in range(1, bands.MOST_DIAGONALS + 1):
        many = many + moved(start)
    assert isinstance(many, np.ndarray)
    assert many.sum() == 10 * (bands.MOST_DIAGONALS + 1)


@pytest.mark.parametrize("operate", [
    lambda g, w: g - w, lambda g, w: w - g, lambda g, w: g + w, lambda g, w: w + g, lambda g, w: w * g,
    lambda g, w: g**2, lambda g, w: abs(g), lambda g, w: g @ np.ones((30, 2)), lambda g, w: np.ones((2, 30)) @ g,
    lambda g, w: g[3], lambda g, w: g - g, lambda g, w: g * g, lambda g, w: w / (g + 1.0),
    lambda g, w: g * np.ones((4, 1, 1)), lambda g, w: g > w,
])  # fmt: skip
def test_every_operator_of_bands_is_that_of_the_whole_stack(operate: Callable[[Any, Any], Any]) -> None:
    g, w = unit_stack(X) * X, np.ones((30, 30))
    made = filled(operate(g, w))
    np.testing.assert_allclose(made, operate(g.whole(), w), 1e-15)


def test_listeners_and_outer_tapes_hear_of_a_whole_stack(always: Callable[[bool], None]) -> None:
    always(True)
    x = lab.constant(X)
    with lab.GradientTape() as outer:
        outer.watch(x)
        with lab.GradientTape() as tape:
            tape.watch(x)
            y = x * x * x
        jacobian = tape.jacobian(y, x)
    second = outer.gradient(jacobian, x)
    np.testing.assert_allclose(second.numpy(), 6 * X, 1e-14)
