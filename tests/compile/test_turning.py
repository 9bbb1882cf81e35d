"""Products of matrices whose transposes are read lie in the order in which they are read."""

from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab.compile.program import lowering
from tests.compile.agreement import compiled

TOLERANCE = {"float32": 1e-3, "float64": 1e-10}


def drawn(*shape: int, dtype: str) -> Any:
    return lab.constant(np.random.default_rng(3).standard_normal(shape).astype(dtype))


def turned(made: Any, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether the program of a compiled function has products that are not multiplied as they are written."""
    (entry,) = made._entries.values()
    now = len(lowering.lowered(entry.program).lines)
    monkeypatch.setattr(lowering, "with_products_turned", lambda plain: plain)
    return now > len(lowering.lowered(entry.program).lines)


def with_gradient(forward: Any) -> Any:
    def run(*given: Any) -> Any:
        with lab.GradientTape() as tape:
            tape.watch(given)
            y = forward(*given)
            loss = lab.reduce_sum(lab.sin(y))
        return y, tape.gradient(loss, given)

    return run


def gram(h: Any) -> Any:
    return lab.einsum("bijc,bijd->bcd", h, h) / 100.0


def attention(q: Any, k: Any) -> Any:
    return lab.nn.softmax(lab.einsum("bqhd,bkhd->bhqk", q, k))


def moved_back(x: Any, y: Any) -> Any:
    return lab.tanh(lab.transpose(x @ y, (0, 2, 1)))


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize(
    ("forward", "shapes"),
    [
        (gram, [(2, 16, 17, 24)]),
        (moved_back, [(2, 65, 40), (2, 40, 70)]),
        (lambda x, y: lab.tanh(lab.reshape(lab.transpose(x @ y), (70, 5, 13))), [(65, 40), (40, 70)]),
        (lambda x, y: lab.tanh(lab.transpose(lab.reshape(x @ y, (5, 13, 70)), (2, 0, 1))), [(65, 40), (40, 70)]),
    ],
    ids=["gram", "stacks", "reshaped", "split"],
)
def test_a_product_is_stored_in_the_order_in_which_it_is_read(
    forward: Any, shapes: Any, dtype: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = [drawn(*shape, dtype=dtype) for shape in shapes]
    made = compiled(with_gradient(forward), *arguments, tolerance=TOLERANCE[dtype])
    assert turned(made, monkeypatch)


@pytest.mark.parametrize(
    ("forward", "shapes"),
    [
        (lambda x, y: x @ y, [(65, 40), (40, 70)]),
        (lambda x, y: lab.tanh(x @ y) + lab.reduce_sum(lab.exp(lab.transpose(x @ y))), [(65, 40), (40, 70)]),
        (lambda x, y: lab.tanh(lab.transpose(lab.reshape(x @ y, (65, 7, 10)), (1, 0, 2))), [(65, 40), (40, 70)]),
        (lambda x, y: lab.tanh(lab.transpose(x @ y, (0, 2, 1))), [(3, 65, 40), (40, 70)]),
        (lambda x, y: lab.tanh(lab.transpose(x @ y)), [(9, 40), (40, 10)]),
        (lambda x, y: x + lab.linalg.matvec(x, y)[:, None], [(5000, 3), (3,)]),
        (lambda x, y: lab.math.reduce_variance(lab.linalg.matvec(x, y)), [(5000, 3), (3,)]),
    ],
    ids=["in order", "read both ways", "other axes", "one matrix for all", "few elements", "a column", "of a vector"],
)
def test_other_products_stay(forward: Any, shapes: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    arguments = [drawn(*shape, dtype="float64") for shape in shapes]
    made = compiled(forward, *arguments, tolerance=1e-10)
    assert not turned(made, monkeypatch)


@pytest.mark.parametrize("seed", range(12))
def test_einsums_with_any_order_of_axes_agree(seed: int) -> None:
    rng = np.random.default_rng(seed)
    letters = dict(zip("bijcd", rng.choice([1, 2, 7, 16, 33], 5), strict=True))
    left, right = ("".join(rng.permutation(list(part))) for part in ("bijc", "bijd"))
    out = "".join(rng.permutation(list("bcd")))
    x, y = (drawn(*(int(letters[c]) for c in part), dtype="float64") for part in (left, right))
    compiled(with_gradient(lambda x, y: lab.einsum(f"{left},{right}->{out}", x, y)), x, y, tolerance=1e-10)
    compiled(with_gradient(attention), drawn(2, 20, 3, 8, dtype="float64"),
             drawn(2, 30, 3, 8, dtype="float64"), tolerance=1e-10)  # fmt: skip


def curved(x: Any, w: Any, u: Any, v: Any) -> Any:
    """A product of a Hessian with a direction, whose sweeps transpose what a column and a row make."""
    with lab.GradientTape() as second:
        second.watch([w, u])
        with lab.GradientTape() as first:
            first.watch([w, u])
            loss = lab.reduce_mean((lab.tanh(x @ w) @ u) ** 2.0)
        slopes = first.gradient(loss, [w, u])
    return second.gradient(slopes, [w, u], output_gradients=[v, lab.transpose(v)])


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize(
    ("name", "run", "shapes"),
    [
        ("product", lambda x, y, z: lab.transpose(x * y) + lab.sin(z), [(300, 1), (1, 70), (70, 300)]),
        ("quotient", lambda x, y, z: lab.transpose(lab.exp(x) / y) * z, [(300, 1), (1, 70), (70, 300)]),
        (
            "difference",
            lambda x, y, z: lab.tanh(lab.transpose(x - lab.transpose(y))) + z,
            [(300, 1), (70, 1), (70, 300)],
        ),
        ("stacks", lambda x, y, z: lab.transpose(x * y, (0, 2, 1)) + z, [(4, 300, 1), (4, 1, 70), (4, 70, 300)]),
        ("read twice", lambda x, y, z: [x * y, lab.transpose(x * y) + z], [(300, 1), (1, 70), (70, 300)]),
        ("few elements", lambda x, y, z: lab.transpose(x * y) + z, [(3, 1), (1, 7), (7, 3)]),
        ("curvature", curved, [(300, 1), (1, 40), (40, 1), (1, 40)]),
    ],
)
def test_what_a_column_and_a_row_make_is_made_turned(name: str, run: Any, shapes: Any, dtype: str) -> None:
    given = [lab.constant(np.abs(drawn(*shape, dtype=dtype).numpy()) + 0.5) for shape in shapes]
    function = lab.function(run)
    assert function.compile(*given), function.why()
    found, wanted = function(*given), run(*given)
    for one, other in zip(found, wanted, strict=True) if isinstance(wanted, list) else [(found, wanted)]:
        np.testing.assert_allclose(one.numpy(), other.numpy(), rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype])
    (entry,) = function._entries.values()
    program = lowering.lowered(entry.program)
    makers = [program.made_by.get(line.ins[0]) for line in program.lines if line.op.name == "transpose"]
    outer = [made for made in makers if made is not None and made.op.elementwise and len(made.ins) == 2]
    left = any(all(program.values[i].shape != program.values[made.outs[0]].shape for i in made.ins) for made in outer)
    assert left == ("twice" in name or "few" in name)


@pytest.mark.parametrize("seed", range(60))
def test_random_chains_of_products_and_transposes(seed: int) -> None:
    """What is only needed transposed is multiplied the other way round, if its operands are there."""
    draw = np.random.default_rng(seed)
    plan = [(draw.random() < 0.2, *draw.geometric([0.9, 0.3]).clip(1, 3)) for _ in range(draw.integers(4, 9))]

    def run(x: Any, y: Any) -> Any:
        values = [x @ y, y - x, x + y]
        for n, (other, i, j) in enumerate(plan):  # mostly in turns, each of what the one before it made
            values.append(lab.transpose(values[-i]) if n % 2 == other else values[-i] @ values[-j])
        return values[-1]

    compiled(run, drawn(3, 3, dtype="float64"), drawn(3, 3, dtype="float64") * 0.5, tolerance=1e-9)


def test_second_derivatives_of_an_inverse() -> None:
    weights, way = drawn(4, 4, dtype="float64"), drawn(4, 4, dtype="float64")[::-1]

    def run(x: Any) -> Any:
        with lab.GradientTape() as outer:
            outer.watch(x)
            with lab.GradientTape() as inner:
                inner.watch(x)
                y = lab.reduce_sum(weights * lab.linalg.inv(x))
            slope = lab.reduce_sum(inner.gradient(y, x) * way)
        return outer.gradient(slope, x)

    compiled(run, drawn(4, 4, dtype="float64") + 3.0 * lab.eye(4, dtype=lab.float64), tolerance=1e-9)
