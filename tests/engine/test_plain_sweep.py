"""The fast sweep agrees with the general one to the last bit, and writes only to arrays that it owns."""

import tracemalloc
import weakref
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab.engine import sweep
from autodiff_lab.engine.namespace import RAW
from autodiff_lab.engine.op import REGISTRY, UNREGISTERED
from tests.ops.samples import ops_of_the_catalogue, samples

LARGE = sweep.IN_PLACE_BYTES // 4 + 1
RULED = [
    name
    for name in ops_of_the_catalogue()
    if REGISTRY[name].elementwise and REGISTRY[name].rules not in (None, UNREGISTERED)
]


def generally(tape: Any, target: Any, sources: Any) -> Any:
    """Sweep the general way, as for whoever steps; nobody looks in between here."""
    steps = tape.steps(target, sources)
    for _ in steps:
        pass
    return [steps.adjoint(source) for source in sources]


def fanned_out(x: Any, w: Any) -> Any:
    """Every value here has several uses: in elementwise ops, views, reductions, twice in one op."""
    y = lab.sin(x) * w + x
    z = y * y - y / (w + 2.0) + lab.maximum(y, w)
    parts = lab.split(z, 2, axis=0)
    joined = lab.concat([parts[1], parts[0]], 0) + z + lab.reshape(lab.transpose(lab.reshape(z, (2, -1))), (-1,))
    return joined * z + lab.reduce_mean(z) + x + w + x


@pytest.mark.parametrize("shape", [(), (3, 4), (LARGE,)])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_factor_that_is_the_other_one_gets_both_contributions(dtype: str, shape: tuple[int, ...]) -> None:
    rng = np.random.default_rng(1)
    x, w = (lab.constant(rng.normal(size=shape).astype(dtype)) for _ in range(2))
    with lab.GradientTape(persistent=True) as tape:
        tape.watch([x, w])
        y = lab.sin(x) * w
        z = y * y
        loss = lab.reduce_sum(z * z) + lab.reduce_sum(lab.exp(x) * x)
    values = [t.numpy() for t in (x, w, y, z)]
    sources = [x, w, y, z]
    for quick, general in zip(tape.gradient(loss, sources), generally(tape, loss, sources), strict=True):
        np.testing.assert_array_equal(quick.numpy(), general.numpy())
    np.testing.assert_allclose(tape.gradient(loss, y).numpy(), 4 * y.numpy() ** 3, rtol=1e-5)
    for t, value in zip((x, w, y, z), values, strict=True):
        np.testing.assert_array_equal(t.numpy(), value)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex128"])
def test_both_ways_agree_to_the_last_bit_and_change_no_value(dtype: str) -> None:
    rng = np.random.default_rng(0)
    if dtype == "complex128":
        program: Any = lambda x, w: (lab.sin(x) * w + x) * x + x + w * x  # noqa: E731
    else:
        program = fanned_out
    x, w = (lab.constant(rng.normal(size=2 * LARGE).astype(dtype)) for _ in range(2))
    before = x.numpy(), w.numpy()
    with lab.GradientTape(persistent=True) as tape:
        tape.watch([x, w])
        middle = x * w + x
        y = program(middle, w)
    values = [t.numpy() for t in (middle, y)]
    seed = lab.constant(rng.normal(size=y.shape).astype(dtype))
    given = seed.numpy()
    sources = [x, w, middle, y]
    first = [g.numpy() for g in tape.gradient(y, sources)]
    again = [g.numpy() for g in tape.gradient(y, sources)]
    for quick, twice, general in zip(first, again, generally(tape, y, sources), strict=True):
        np.testing.assert_array_equal(quick, general.numpy(), strict=True)
        np.testing.assert_array_equal(quick, twice, strict=True)
    seeded = tape.gradient([y, y, middle], sources, output_gradients=[seed, seed, None])
    np.testing.assert_array_equal(seeded[-1], given + given)
    for kept, now in zip((*before, *values, given), (x, w, middle, y, seed), strict=True):
        np.testing.assert_array_equal(kept, now.numpy())


def test_gradients_of_one_sweep_share_no_memory_with_each_other_once_they_are_sums() -> None:
    x, w = (lab.constant(np.full(LARGE, value, np.float32)) for value in (1.0, 2.0))
    with lab.GradientTape() as tape:
        tape.watch([x, w])
        y = x + w + x + w + x
    gx, gw = tape.gradient(y, [x, w])
    assert (gx.numpy()[0], gw.numpy()[0]) == (3.0, 2.0)
    assert not np.shares_memory(gx._array, gw._array)


def test_a_share_of_another_dtype_or_an_array_that_a_user_keeps_is_not_written_to() -> None:
    kept = np.ones(LARGE, np.float32)

    @lab.custom_gradient
    def stubborn(x: Any) -> Any:
        return x * 1.0, lambda upstream: lab.constant(kept) * 0.0 + 1.0

    held = lab.constant(kept)

    @lab.custom_gradient
    def holding(x: Any) -> Any:
        return x * 1.0, lambda upstream: held

    x = lab.constant(np.zeros(LARGE, np.float32))
    with lab.GradientTape() as tape:
        tape.watch(x)
        y = holding(x) + stubborn(x) + holding(x) + lab.sin(x) + holding(x)
    assert tape.gradient(y, x).numpy()[0] == 5.0
    assert held.numpy()[0] == 1.0


@pytest.mark.parametrize("name", RULED)
def test_a_share_of_an_elementwise_rule_is_the_cotangent_or_a_new_array_or_a_view(name: str) -> None:
    """What is new may be added to in place."""
    op = REGISTRY[name]
    for sample in samples(name):
        arrays = [tensor._array for tensor in sample.tensors()]
        out = op.kernel(*arrays)
        if not isinstance(out, np.ndarray):
            continue
        g = np.ones(out.shape, out.dtype)
        for rule in op.rules:  # type: ignore[union-attr]
            if rule is None:
                continue
            with np.errstate(all="ignore"):
                first, second = rule(RAW, g, out, *arrays), rule(RAW, g, out, *arrays)
            if first is g or not isinstance(first, np.ndarray) or first.base is not None:
                continue
            assert first is not second
            assert not any(np.shares_memory(first, held) for held in (second, g, out, *arrays))


def test_memory_falls_while_a_one_shot_tape_is_swept() -> None:
    links, size = 30, 100_000
    x = lab.constant(np.ones(size, np.float32))
    tracemalloc.start()
    try:
        with lab.GradientTape() as tape:
            tape.watch(x)
            y: Any = x
            for _ in range(links):
                y = lab.sin(y) + y  # keeps its input; the adjoint of y is a sum
        forward = tracemalloc.get_traced_memory()[0]
        steps = tape.steps(y, x)
        del y
        held = [tracemalloc.get_traced_memory()[0] for _ in steps]
        assert forward > links * size * 4
        assert held[len(held) // 2] < 0.62 * held[0]
        assert held[-1] < 6 * size * 4
    finally:
        tracemalloc.stop()


def test_the_peak_of_a_plain_sweep_is_that_of_the_forward_pass_and_a_few_arrays() -> None:
    links, size = 30, 100_000
    x = lab.constant(np.ones(size, np.float32))
    tracemalloc.start()
    try:
        with lab.GradientTape() as tape:
            tape.watch(x)
            y: Any = x
            for _ in range(links):
                y = lab.sin(y) + y
        forward = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        tape.gradient(y, x)
        assert tracemalloc.get_traced_memory()[1] - forward < 6 * size * 4
    finally:
        tracemalloc.stop()


def test_adjoints_of_several_outputs_die_when_their_op_is_passed() -> None:
    alive: list[weakref.ref[Any]] = []

    def rule(ops: Any, g: Any, out: Any, x: Any) -> Any:
        alive.append(weakref.ref(g))
        return g * ops.cos(x)

    x = lab.constant(np.ones((2, 1000), np.float32))
    with lab.GradientTape() as tape:
        tape.watch(x)
        first = lab.sin(x)
        values, vectors = lab.linalg.eigh(lab.matmul(first, first, transpose_b=True))
        y = lab.reduce_sum(lab.sin(values)) + lab.reduce_sum(vectors)
    assert tape.gradient(y, x, engine=lab.Engine(rules={"sin": (rule,)})) is not None
    assert [ref() for ref in alive] == [None, None]


def test_nothing_is_computed_for_what_is_no_source() -> None:
    """Two networks under one tape, the gradient of one: rules that lead only to the other one never run."""
    asked: list[str] = []

    def marked(name: str) -> Any:
        @lab.custom_gradient
        def pass_on(x: Any) -> Any:
            def slope(g: Any) -> Any:
                asked.append(name)
                return g * 2.0

            return x * 2.0, slope

        return pass_on

    x, v, w = lab.constant([1.0, 2.0]), lab.Variable([3.0, 4.0]), lab.Variable([5.0, 6.0])
    with lab.GradientTape(persistent=True) as tape:
        tape.watch(x)
        hidden = marked("first")(x * v)
        y = lab.reduce_sum(hidden * marked("second")(w))
    assert tape.gradient(y, hidden).numpy().tolist() == [10.0, 12.0]
    assert asked == []
    assert tape.gradient(y, w).numpy().tolist() == [12.0, 32.0]
    assert asked == ["second"]
    assert [g.numpy().tolist() for g in tape.gradient(y, [x, v])] == [[60.0, 96.0], [20.0, 48.0]]
    assert asked == ["second", "first"]
    assert tape.gradient(y, [v, w, x], output_gradients=lab.constant(1.0))[1].numpy().tolist() == [12.0, 32.0]
    assert asked[2:] == ["second", "first"]


@pytest.mark.parametrize("nested", [False, True])
def test_gradients_of_some_sources_are_those_of_all_to_the_last_bit(nested: bool) -> None:
    rng = np.random.default_rng(8)
    leaves = [lab.constant(rng.normal(size=6).astype("f4")) for _ in range(3)] + [lab.Variable(rng.normal(size=6))]
    leaves[3] = lab.Variable(leaves[3].numpy().astype("f4"))
    every = [*range(7)]
    with lab.GradientTape(persistent=True) if nested else lab.GradientTape() as outer, \
            lab.GradientTape(persistent=True) as tape:  # fmt: skip
        for one in (outer, tape):
            one.watch(leaves[:3])
        a = fanned_out(leaves[0], leaves[3])
        b, c = lab.split(lab.sin(leaves[1]) * leaves[2] + a, 2)
        y = lab.reduce_sum(lab.concat([c, b], 0) * leaves[3] + fanned_out(a, leaves[2]))
        sources = [*leaves, a, b, c]
        whole = tape.gradient(y, sources)
        for number in every:
            for others in ([], [every[number - 1]], [every[number - 3], every[number - 2]]):
                some = tape.gradient(y, [sources[k] for k in (number, *others)])
                for k, found in zip((number, *others), some, strict=True):
                    np.testing.assert_array_equal(found.numpy(), whole[k].numpy())
        slope = lab.reduce_sum(lab.square(tape.gradient(y, leaves[1])))
    found = outer.gradient(slope, leaves[2])
    with lab.GradientTape() as outer, lab.GradientTape() as tape:
        outer.watch(leaves[2])
        tape.watch(leaves[1])
        a = fanned_out(leaves[0], lab.stop_gradient(leaves[3]))
        b, c = lab.split(lab.sin(leaves[1]) * leaves[2] + a, 2)
        y = lab.reduce_sum(lab.concat([c, b], 0) * leaves[3] + fanned_out(a, leaves[2]))
        slope = lab.reduce_sum(lab.square(tape.gradient(y, leaves[1])))
    np.testing.assert_array_equal(found.numpy(), outer.gradient(slope, leaves[2]).numpy())
