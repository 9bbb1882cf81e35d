"""Loops over arrays that a trace unrolled become loops again, forward and backward, and compute the same.

A twentieth of FUZZ_COUNT in the environment says how many random recurrences are tried, if it is more than ten.
"""

import ast
import os
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab.compile.program.reroll import find_loops, without
from autodiff_lab.compile.recurrences import joins
from autodiff_lab.compile.recurrences.views import View, whole
from tests.compile.random_programs import outcome
from tests.compile.recurrent_programs import PROGRAMS, TURNS, arguments, recurrence
from tests.compile.test_reroll import flat

TOLERANCE = {"float32": 2e-5, "float64": 1e-12}
COUNT = max(10, int(os.environ.get("FUZZ_COUNT", "0")) // 20)
RNG = np.random.default_rng(0)
pytest.importorskip("numba", reason="recurrences need Numba")


def turns_of(compiled: Any) -> list[int]:
    return [turns for kernel in compiled.kernels for turns in kernel.turns]


def same(found: list[Any], expected: list[Any], tolerance: float) -> None:
    for a, b in zip(found, expected, strict=True):
        assert (a is None) == (b is None)
        if a is not None:
            assert (a.shape, a.dtype) == (b.shape, b.dtype)
            scale = max(1.0, float(np.max(np.abs(b), initial=0.0, where=np.isfinite(b))))
            assert np.allclose(a, b, rtol=tolerance, atol=tolerance * scale, equal_nan=True)


def agree(function: Callable[..., Any], given: list[Any], tolerance: float) -> Any:
    """Compile, call twice and with other numbers, and compare with the eager function."""
    compiled = lab.function(function)
    others = [lab.constant(x.numpy() * x.numpy().dtype.type(0.75)) for x in given]
    for now in (given, given, others):
        same(flat(compiled(*now)), flat(function(*now)), tolerance)
    assert compiled.fallbacks == 0
    assert not compiled.skipped, compiled.skipped
    return compiled


@pytest.mark.slow(keep=2)
@pytest.mark.parametrize("program", PROGRAMS)
def test_recurrences_run_as_loops(program: Callable[..., Any]) -> None:
    """Recurrent nets, integrators, descent inside a program: found again, with the results of the eager function."""
    dtype = ["float32", "float64"][PROGRAMS.index(program) % 2]
    compiled = agree(program, arguments(1, dtype), TOLERANCE[dtype])
    assert turns_of(compiled), compiled.why()
    assert "iterations, run" in compiled.why()
    ast.parse(compiled.source)


@pytest.mark.slow(keep=1)
@pytest.mark.parametrize("seed", range(COUNT))
def test_random_recurrences_agree_with_the_eager_function(seed: int) -> None:
    """Random bodies, strides, directions, turns that differ, results of every turn, and second derivatives."""
    dtype = ["float32", "float64"][seed % 2]
    made = recurrence(seed, dtype)
    compiled, start = lab.function(made.run), made.variable.numpy()
    others = [lab.constant((x.numpy() * 0.75 + 0.1).astype(dtype)) for x in made.arguments]
    for given in (made.arguments, made.arguments, others):
        expected, found = outcome(made, made.run, start, given), outcome(made, compiled, start, given)
        same(found, expected, {"float32": 2e-4, "float64": 1e-10}[dtype])
    assert compiled.fallbacks == 0
    assert not compiled.skipped, compiled.skipped
    # Of later seeds, a short program or one whose result does not depend on its states is a sequence or two.
    assert turns_of(compiled) or (seed >= 14 and len(compiled.kernels) <= 2), compiled.why()


@pytest.mark.slow(keep=12)
@pytest.mark.parametrize("seed", range(max(COUNT, 60)))
def test_random_recurrences_agree_where_no_join_is_made(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Small arrays are cut into cells like large ones, and most steps take arrays apart and join the parts."""
    for name, value in (("LEAST", 2), ("LARGEST", 0.0), ("MOST_CELLS", 40)):
        monkeypatch.setattr(joins, name, value)
    dtype = ["float32", "float64"][seed % 2]
    made = recurrence(seed, dtype, moves=True)
    compiled, start = lab.function(made.run), made.variable.numpy()
    for _ in range(2):
        expected = outcome(made, made.run, start, made.arguments)
        found = outcome(made, compiled, start, made.arguments)
        same(found, expected, {"float32": 2e-4, "float64": 1e-10}[dtype])
    assert compiled.fallbacks == 0


def diffusing(x: Any) -> Any:
    """Arithmetic alone, with slices, parts put together, and comparisons."""
    with lab.GradientTape() as tape:
        tape.watch(x)
        heat = x
        for k in range(12):
            inner = heat[1:-1] + (heat[2:] - 2.0 * heat[1:-1] + heat[:-2]) * 0.2
            heat = lab.concat([heat[:1], lab.where(inner > 0.1, inner, inner * 0.5), heat[-1:]], axis=0)
            heat = lab.maximum(heat, -1.0) / (heat * heat + 1.5) + x * float(k)
        target = heat[3] * 2.0
    return heat, tape.gradient(target, x)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_arithmetic_without_sums_keeps_every_bit(dtype: str) -> None:
    compiled = lab.function(diffusing)
    for seed in range(4):
        x = lab.constant(np.random.default_rng(seed).standard_normal((9, 5)).astype(dtype))
        compiled(x)
        for a, b in zip(flat(compiled(x)), flat(diffusing(x)), strict=True):
            assert a.tobytes() == b.tobytes()
    assert len(turns_of(compiled)) == 2


def test_the_code_of_a_loop_does_not_grow_with_its_turns() -> None:
    """One body, whatever the length, and the same machine code for every length."""

    def run(x: Any, w: Any) -> Any:
        with lab.GradientTape() as tape:
            tape.watch(w)
            h = x[:, 0] * 0.0
            for part in lab.unstack(x, axis=1):
                h = lab.tanh(h @ w + part)
            loss = lab.reduce_sum(h * h)
        return tape.gradient(loss, w)

    sizes, texts = [], []
    for turns in (20, 60):
        compiled = lab.function(run)
        compiled(lab.ones((2, turns, 3)), lab.ones((3, 3)) * 0.1)
        assert set(turns_of(compiled)) <= {turns, turns - 1, turns - 2}
        sizes.append(len(compiled.source.splitlines()))
        texts.append(len(compiled.kernels))
    assert sizes[0] == sizes[1]
    assert texts[0] == texts[1]


@pytest.mark.parametrize("second", [False, True])
def test_parts_of_one_array_are_kept_once(second: bool) -> None:
    """A stencil's backward loop reads the parts of an image from the image; a part that stands alone is kept."""

    def run(k: Any, x: Any) -> Any:
        with lab.GradientTape() as outer:
            outer.watch(k)
            with lab.GradientTape() as tape:
                tape.watch([k, x])
                y = x
                for _ in range(8):
                    wide = lab.pad(y, [[0, 0], [1, 1]])
                    parts = [wide[:, i : i + 5] for i in range(3)]
                    y = lab.tanh(lab.add_n([k[n] * part for n, part in enumerate(parts)]))
                loss = lab.reduce_sum(y * y)
            slopes = tape.gradient(loss, [k, x])
            size = lab.reduce_sum(slopes[0] ** 2)
        return [loss, *slopes, *([outer.gradient(size, k)] if second else [])]

    given = [lab.constant(RNG.normal(size=shape) * 0.4) for shape in ((3,), (6, 5))]
    compiled = agree(run, given, TOLERANCE["float64"] * 100)
    kept = [kernel.source.count(" = empty(") for kernel in compiled.kernels if kernel.turns]
    assert turns_of(compiled)
    assert second or kept[0] == 2, compiled.source  # the image and its tanh


def test_a_loop_without_a_compiled_form_stays_unrolled_and_says_so() -> None:
    def run(x: Any) -> Any:
        for _ in range(10):
            x = lab.linalg.sqrtm(lab.eye(3) + x * x) * 0.5
        return x

    compiled = agree(run, [lab.constant(np.eye(3, dtype="float32"))], 1e-5)
    assert not turns_of(compiled)
    assert "A loop of 10 iterations stays unrolled: it has no form for `sqrtm`." in compiled.why()


@pytest.mark.parametrize("name", ["eigh", "svd"])
def test_a_loop_around_an_op_of_several_results_says_so_too(name: str) -> None:
    def run(x: Any) -> Any:
        with lab.GradientTape() as tape:
            tape.watch(x)
            y = x
            for _ in range(6):
                y = 0.9 * y + 0.1 * getattr(lab.linalg, name)(y)[0][:, None]
            loss = lab.reduce_sum(y * y)
        return loss, tape.gradient(loss, x)

    given = lab.linalg.diag(lab.constant([1.0, 2.0, 4.0])) + 0.1
    compiled = agree(run, [given], 1e-4)
    assert not turns_of(compiled)
    assert f"A loop of 6 iterations stays unrolled: it has no form for `{name}`." in compiled.why()
    once = agree(getattr(lab.linalg, name), [given], 1e-5)
    assert "unrolled" not in once.why()


def test_large_arrays_and_layers_of_a_net_stay_unrolled() -> None:
    """There the loops over elements dominate, and the weights of each layer would have to be copied."""

    def net(x: Any, weights: Any) -> Any:
        for w in weights:
            x = lab.tanh(x @ w)
        return x

    compiled = lab.function(net)
    compiled(lab.ones((4, 64)), [lab.ones((64, 64)) * 0.01 for _ in range(12)])
    assert not turns_of(compiled)
    large = lab.function(_repeated)
    large(lab.ones((400, 400)))
    assert not turns_of(large)


def _repeated(x: Any) -> Any:
    for _ in range(20):
        x = lab.sin(x) * 0.5 + x
    return x


def test_angles_too_large_for_a_loop_are_left_to_numpy() -> None:
    compiled = lab.function(_repeated)
    compiled(lab.ones((3, 4)))
    assert turns_of(compiled) == [20]
    x = lab.constant(np.array([[1e7, 1.0, float("nan"), -3e8]], "float32"))
    compiled = lab.function(_repeated)
    compiled(x)
    assert compiled(x).numpy().tobytes() == _repeated(x).numpy().tobytes()


def test_results_own_their_memory() -> None:
    """A state out of the middle of a loop does not keep all other states alive."""

    def run(x: Any) -> Any:
        states = []
        for _ in range(30):
            x = lab.tanh(x) * 0.9 + 0.1
            states.append(x)
        return states[7], states[-1]

    compiled = lab.function(run)
    compiled(lab.ones((50,)))
    assert turns_of(compiled) == [30]
    for result in compiled(lab.ones((50,))):
        array = result._held
        assert array.base is None or array.base.size <= 50


def test_a_program_prints_its_loops_with_the_turn_in_the_index() -> None:
    compiled = lab.function(PROGRAMS[0])
    compiled(*arguments(0, "float32"))
    text = str(compiled.program)
    assert f"for i in range({TURNS}):" in text
    assert "('i', i)" in text
    assert "('i', i)" in compiled.source


def test_repeats_are_found_in_any_sequence() -> None:
    """The search needs operands and results alone; numbers grow by a step, and a line that breaks the step ends it."""

    class Item:
        def __init__(self, ins: tuple[int, ...], outs: tuple[int, ...]) -> None:
            self.ins, self.outs = ins, outs

    items = [Item((n - 1 if n else -1,), (n,)) for n in range(20)]
    numbers = [(3 * n,) if n < 15 else (n * n,) for n in range(20)]
    [loop] = find_loops(items, ["step"] * 20, numbers)
    assert (loop.start, loop.period, loop.rounds) == (0, 1, 15)
    assert loop.numbers == (((0, 3),),)
    both = [Item((-1,), (n,)) for n in range(6)] + [Item((n,), (n + 6,)) for n in range(6)]
    loops = find_loops(both, ["make"] * 6 + ["read"] * 6)
    assert len(loops) == 2
    [left] = without(loops, both, {0})
    assert left.laws[0][0].values == tuple(range(6))  # type: ignore[union-attr]


@pytest.mark.parametrize("seed", range(6))
def test_views_are_those_of_numpy(seed: int) -> None:
    """A view finds the elements that NumPy finds, through several slices, transposes and reshapes."""
    from autodiff_lab.compile.program.program import Line
    from autodiff_lab.compile.recurrences.views import seen
    from autodiff_lab.engine.op import REGISTRY

    choice = random.Random(seed)
    array = np.arange(2 * 3 * 4)
    view, expected = whole("x", (2, 3, 4)), array.reshape(2, 3, 4)
    steps = [
        ("transpose", {"perm": (-1, -3, -2)}), ("slice", {"items": (("s", None, None, -1), ("s", 0, 2, None))}),
        ("reshape", {"shape": (2, 12)}), ("take", {"axis": -1, "index": 1}), ("broadcast_to", {"shape": (5, 2, 3, 4)}),
    ]  # fmt: skip
    for name, params in choice.sample(steps, 3):
        try:
            made = REGISTRY[name].kernel(expected, **params)
        except (ValueError, IndexError):
            continue
        found = seen(view, Line(REGISTRY[name], (0,), params, (1,)), [params])
        if found is None:  # this reshape copies
            continue
        view, expected = found, made
    assert isinstance(view, View)
    assert view.shape == expected.shape
    places = np.lib.stride_tricks.as_strided(array[view.offset :], view.shape, [s * 8 for s in view.strides])
    assert np.array_equal(places, expected)


def test_a_line_may_belong_to_a_value_that_stays_inside_a_loop() -> None:
    """Its comment names the rule alone."""

    def balanced(x: Any, y: Any) -> Any:
        with lab.GradientTape() as tape:
            tape.watch(x)
            cost = lab.reduce_sum(lab.square(x[:, None] - y[None]), axis=2)
            kernel, f, g = -cost / 0.5, lab.zeros(len(x)), lab.zeros(len(y))
            for _ in range(20):
                f = -lab.reduce_logsumexp(kernel + g, axis=1)
                g = -lab.reduce_logsumexp(kernel + f[:, None], axis=0)
            loss = lab.reduce_sum(lab.exp(f[:, None] + g + kernel) * cost)
        return [loss, tape.gradient(loss, x)]

    rng = np.random.default_rng(0)
    agree(balanced, [lab.constant(rng.normal(size=(8, 2)).astype("float32")) for _ in range(2)], 2e-5)


def test_contributions_to_one_element_are_added_in_the_turns() -> None:
    def run(x: Any, p: Any) -> Any:
        with lab.GradientTape() as tape:
            tape.watch(p)
            level, loss = x[0], lab.constant(0.0)
            for t in range(1, 12):
                loss += lab.reduce_mean((x[t] - level) ** 2)
                level = p[0] * x[t] + (1 - p[0]) * level + p[1]
        return tape.gradient(loss, p)

    x, p = lab.constant(np.linspace(0, 3, 36, dtype=np.float32).reshape(12, 3)), lab.constant([0.3, 0.1])
    compiled = lab.function(run)
    compiled(x, p)
    np.testing.assert_allclose(compiled(x, p).numpy(), run(x, p).numpy(), rtol=2e-6)
    assert len(turns_of(compiled)) == 2
    assert max(len(kernel.outs) for kernel in compiled.kernels) < 12


def test_an_index_that_alternates_is_part_of_no_short_loop() -> None:
    def run(x: Any, p: Any) -> Any:
        total = lab.constant(0.0)
        for t in range(8):
            total += lab.reduce_sum(x[t] * p[t % 2] + p[0] * lab.sin(x[t : t + 2]) * p[1:3])
        return total

    x, p = lab.ones((10, 2)), lab.constant([1.0, 2.0, 3.0])
    compiled = lab.function(run)
    compiled(x, p)
    np.testing.assert_allclose(compiled(x, p).numpy(), run(x, p).numpy(), rtol=1e-6)
    assert compiled.fallbacks == 0


def averages(x: Any, p: Any, order: str) -> list[Any]:
    """Running averages of 12 steps, in a list that grows in some order."""
    level, found = x[0], list[Any]()
    for t in range(12):
        level = p[0] * x[t] + (1 - p[0]) * level
        found.insert(0 if order == "downwards" else t, level)
    return found[5:] + found[:5] if order == "turned" else found


@pytest.mark.slow(keep=6)
@pytest.mark.parametrize("join", [lab.stack, lab.concat])
@pytest.mark.parametrize("axis", [0, 1, 2, -1])
@pytest.mark.parametrize("order", ["upwards", "downwards", "turned"])
def test_a_list_that_is_joined_along_any_axis_is_not_taken_apart(order: str, axis: int, join: Any) -> None:
    def run(x: Any, p: Any) -> Any:
        with lab.GradientTape() as tape:
            tape.watch([x, p])
            rows = join(averages(x, p, order), axis)
            loss = lab.reduce_sum(lab.sin(rows) * lab.cast(lab.range(lab.size(rows)), lab.float32)[-1])
        return [rows, *tape.gradient(loss, [x, p])]

    given = [lab.constant(RNG.normal(size=(12, 2, 3, 4)).astype(np.float32)), lab.constant([0.3])]
    compiled = agree(run, given, TOLERANCE["float32"])
    assert sum(turns_of(compiled)) > 16
    assert max(len(kernel.outs) for kernel in compiled.kernels if len(kernel.outs) > 1) < 12


@pytest.mark.parametrize("order", ["upwards", "downwards", "turned", "after another"])
@pytest.mark.parametrize("width", [(), (3,)])
def test_a_list_that_is_stacked_after_a_loop_is_not_taken_apart(order: str, width: tuple[int, ...]) -> None:
    def run(x: Any, p: Any) -> Any:
        with lab.GradientTape() as tape:
            tape.watch([x, p])
            found = averages(x, p, order)
            rows = lab.stack([x[0], *found] if order == "after another" else found)
            loss = lab.reduce_sum(lab.sin(rows))
        return [rows, *tape.gradient(loss, [x, p])]

    given = [lab.constant(RNG.normal(size=(12, *width)).astype(np.float32)), lab.constant([0.3])]
    compiled = agree(run, given, TOLERANCE["float32"])
    assert sum(turns_of(compiled)) > 16
    assert max(len(kernel.outs) for kernel in compiled.kernels if len(kernel.outs) > 1) < 12
