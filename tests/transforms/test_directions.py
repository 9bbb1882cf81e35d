"""Jacobians in forward mode: equal to those by cotangents and to differences, chosen where that saves much."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab.transforms import directions, jacobians

RNG = np.random.default_rng(4)
TABLE = RNG.normal(size=(6, 2))
POINTS = np.linspace(-1.0, 1.0, 24)
ROWS = RNG.normal(size=(5, 2))


def trajectory(p: Any) -> Any:
    x, found = lab.constant([1.0, 0.0], lab.float64), []
    for _ in range(12):
        x = x + 0.1 * lab.stack([x[1], -p[0] * lab.sin(x[0]) - p[1] * x[1] + p[2]])
        found.append(x)
    return lab.stack(found)


def heat(p: Any) -> Any:
    u = lab.sin(3.0 * lab.constant(POINTS))
    for _ in range(3):
        bend = lab.roll(u, 1, 0) + lab.roll(u, -1, 0) - 2.0 * u
        u = u + 0.2 * (p[0] * bend - p[1] * lab.exp(-u) + p[2])
    return u


def recursion(p: Any) -> Any:
    return (
        lab.cumsum(lab.nn.softplus(p[0] * lab.constant(POINTS)))
        @ lab.constant(np.tril(np.ones((24, 24))))
        * p[1]
        / p[2]
    )


def factors(p: Any) -> Any:
    ridge = lab.linalg.diag(p) + lab.constant(np.eye(3)) * 4.0
    return lab.linalg.solve(ridge, lab.reshape(lab.constant(POINTS), [3, 8]) * p[0]) + lab.linalg.cholesky(ridge)[:, :1]


def slices(p: Any) -> Any:
    return lab.concat([lab.sin(p[None] @ lab.constant(np.ones((3, 9))))[0], lab.exp(p[::-1]), lab.reverse(p, [0])], 0)


FUNCTIONS: list[Callable[[Any], Any]] = [trajectory, heat, recursion, factors, slices]
P = np.array([0.9, 0.4, 0.6])


def swept(function: Callable[[Any], Any], p: Any) -> Any:
    with lab.GradientTape() as tape:
        tape.watch(p)
        y = function(p)
    return tape.jacobian(y, p)


@pytest.fixture
def called(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Which Jacobians were computed in forward mode."""
    found: list[str] = []
    for name in ("forward_jacobian", "forward_batch_jacobian"):
        monkeypatch.setattr(jacobians, name, _counted(getattr(directions, name), found))
    return found


@pytest.fixture
def forward(called: list[str], monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Let every Jacobian with more rows than columns be computed in forward mode."""
    monkeypatch.setattr(directions, "ADVANTAGE", 1.01)
    for name in ("EACH_EAGERLY", "EACH_COMPILED"):
        monkeypatch.setattr(directions, name, -(10**15))
    monkeypatch.setattr(jacobians, "_structured", lambda *given: False)
    return called


def _counted(function: Callable[..., Any], found: list[str]) -> Callable[..., Any]:
    def call(*given: Any) -> Any:
        found.append(function.__name__)
        return function(*given)

    return call


def compiled_call(function: Callable[[Any], Any], x: Any) -> Any:
    f, given = lab.function(function), lab.constant(x)
    assert f.compile(given), f.why()
    return f(given)


def differences(function: Callable[[Any], Any], at: Any) -> Any:
    steps = np.eye(at.size).reshape(-1, *at.shape) * 1e-5
    columns = [(np.asarray(function(at + e)) - np.asarray(function(at - e))) / 2e-5 for e in steps]
    return np.stack(columns, -1).reshape(*columns[0].shape, *at.shape)


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_forward_mode_gives_the_derivatives_of_first_and_second_order(
    function: Callable[[Any], Any], compiled: bool, forward: list[str]
) -> None:
    def both(p: Any) -> Any:
        with lab.GradientTape() as tape:
            tape.watch(p)
            found = swept(function, p)
            value = lab.reduce_sum(lab.sin(found))
        return found, tape.gradient(value, p)

    found, second = compiled_call(both, P) if compiled else both(lab.constant(P))
    assert "forward_jacobian" in forward
    assert found.shape == (*function(lab.constant(P)).shape, 3)
    np.testing.assert_allclose(found, differences(lambda p: function(lab.constant(p)), P), rtol=1e-6, atol=1e-7)
    of_the_value = differences(lambda p: np.sin(np.asarray(swept(function, lab.constant(p)))).sum(), P)
    np.testing.assert_allclose(second, of_the_value, rtol=1e-5, atol=1e-6)


def test_several_sources_get_a_part_each(forward: list[str]) -> None:
    scale = lab.constant(0.7, lab.float64)
    sources = {"table": lab.Variable(TABLE), "scale": scale, "unused": lab.Variable(np.ones(2))}

    def find(unconnected: str) -> Any:
        with lab.GradientTape() as tape:
            tape.watch(scale)
            y = lab.tanh(lab.gather(sources["table"], [[0, 3, 3, 5]] * 9) * scale)
        return tape.jacobian(y, sources, unconnected_gradients=unconnected)

    found = find("none")
    assert found["unused"] is None
    assert find("zero")["unused"].shape == (9, 4, 2, 2)
    assert len(forward) == 2
    assert found["table"].shape == (9, 4, 2, 6, 2)
    u = np.tanh(TABLE[[0, 3, 3, 5]] * 0.7)
    np.testing.assert_allclose(found["scale"][0], (1 - u**2) * TABLE[[0, 3, 3, 5]], rtol=1e-6)
    wanted = np.zeros((4, 2, 6, 2))
    for row, at in enumerate([0, 3, 3, 5]):
        for k in range(2):
            wanted[row, k, at, k] = 0.7 * (1 - u[row, k] ** 2)
    np.testing.assert_allclose(found["table"][4], wanted, rtol=1e-6)


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("mapped", [False, True])
def test_the_rows_of_a_batch_get_their_own(mapped: bool, compiled: bool, forward: list[str]) -> None:
    matrix = lab.constant(RNG.normal(size=(2, 9)))

    def of(x: Any) -> Any:
        return lab.reshape(lab.sin(x @ matrix), [-1, 3, 3]) ** 2.0

    def rows(x: Any) -> Any:
        if mapped:
            return lab.vectorized_map(lambda row: swept(lambda r: of(r[None])[0], row), x)
        with lab.GradientTape() as tape:
            tape.watch(x)
            y = of(x)
        return tape.batch_jacobian(y, x)

    found = compiled_call(rows, ROWS) if compiled else rows(lab.constant(ROWS))
    assert set(forward) == {"forward_jacobian" if mapped else "forward_batch_jacobian"}
    assert found.shape == (5, 3, 3, 2)
    for row, one in zip(ROWS, found, strict=True):
        np.testing.assert_allclose(one, differences(lambda x: of(lab.constant(x[None]))[0], row), rtol=1e-6, atol=1e-7)


def test_a_batch_of_an_unconnected_source_is_zeros(forward: list[str]) -> None:
    x, other = lab.constant(ROWS), lab.constant(ROWS)
    with lab.GradientTape() as tape:
        tape.watch([x, other])
        y = lab.concat([x, x, x], 1) * 2.0
    np.testing.assert_array_equal(tape.batch_jacobian(y, other), np.zeros((5, 6, 2)))
    assert forward == ["forward_batch_jacobian"]


@pytest.mark.parametrize("size", [24, 1500])
def test_it_is_chosen_where_it_saves_much(size: int, called: list[str]) -> None:
    grid = lab.linspace(0.0, 3.0, size)

    def of(p: Any) -> Any:
        u = lab.sin(grid)
        for _ in range(4):
            u = u + p[0] * lab.roll(u, 1, 0) - p[1] * lab.cumsum(u) / size
        return u

    p = lab.constant([0.1, 0.2])
    eager = swept(of, p)
    assert called == ["forward_jacobian"] * (size > 100)
    f = lab.function(lambda p: swept(of, p))
    assert f.compile(p)
    np.testing.assert_allclose(f(p), eager, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(
        eager, differences(lambda q: of(lab.constant(q, lab.float32)), np.array([0.1, 0.2])), atol=2.0
    )


def test_what_is_elementwise_keeps_its_diagonals(called: list[str]) -> None:
    scale = lab.constant([2.0, 3.0])
    with lab.GradientTape() as tape:
        tape.watch(scale)
        y = lab.exp(-scale[0] * lab.linspace(0.0, 1.0, 1000)) * scale[1]
    assert tape.jacobian(y, scale).shape == (1000, 2)
    assert called == []


@lab.custom_gradient
def clipped(x: Any) -> Any:
    return lab.identity(x), lambda upstream: lab.clip_by_value(upstream, -0.5, 0.5)


def test_a_gradient_of_a_user_need_not_be_linear(forward: list[str]) -> None:
    x = lab.constant([1.0, 2.0])
    with lab.GradientTape() as tape:
        tape.watch(x)
        y = lab.concat([clipped(x) * 3.0, x, x], 0)
    np.testing.assert_allclose(tape.jacobian(y, x)[:2], 0.5 * np.eye(2))
    assert forward == []


@pytest.mark.parametrize("dtype", ["complex64", "float16"])
def test_other_numbers_are_swept_back(dtype: str, forward: list[str]) -> None:
    x = lab.constant([1.0, 2.0], getattr(lab, dtype))
    with lab.GradientTape() as tape:
        tape.watch(x)
        y = lab.math.real(lab.concat([x * x, x, x], 0)) if dtype == "complex64" else lab.concat([x * x, x, x], 0)
    assert tape.jacobian(y, x).shape == (6, 2)
    assert forward == []


def test_a_recording_shows_one_backward_pass(forward: list[str]) -> None:
    p = lab.constant(P)
    with lab.record() as recording:
        swept(heat, p)
    assert forward == []
    assert len(recording.sweeps) == 1


@pytest.mark.parametrize("persistent", [False, True])
def test_a_tape_is_spent_as_by_a_sweep(persistent: bool, forward: list[str]) -> None:
    p = lab.constant(P)
    with lab.GradientTape(persistent=persistent) as tape:
        tape.watch(p)
        y = heat(p)
    first = tape.jacobian(y, p)
    assert len(forward) == 1
    if persistent:
        np.testing.assert_array_equal(tape.jacobian(y, p), first)
    else:
        with pytest.raises(lab.errors.TapeSpent):
            tape.jacobian(y, p)


def test_a_tape_that_still_records_sweeps_back(forward: list[str]) -> None:
    p = lab.constant(P)
    with lab.GradientTape(persistent=True) as tape:
        tape.watch(p)
        y = heat(p)
        inside = tape.jacobian(y, p)
        assert forward == []
        slope = lab.reduce_sum(inside**2.0)
    wanted = differences(lambda q: (np.asarray(swept(heat, lab.constant(q))) ** 2).sum(), P)
    np.testing.assert_allclose(tape.gradient(slope, p), wanted, rtol=1e-6)


def test_what_is_no_tensor_is_refused_as_before(forward: list[str]) -> None:
    p = lab.constant(P)
    with lab.GradientTape() as tape:
        tape.watch(p)
        y = heat(p)
    with pytest.raises(TypeError, match="source"):
        tape.jacobian(y, 3.0)
