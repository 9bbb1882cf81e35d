"""Every rewrite that `first_nonfinite` suggests runs, keeps the values that were finite, and has finite gradients."""

import contextlib
import itertools
import linecache

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab.recording import Recording

CALLS = itertools.count()
ROOTS = [[0.0, 4.0], [-1.0, 9.0], [0.0, 0.0]]
LARGE = [[1000.0, 0.0], [90.0, 1000.0], [1000.0, 1000.0]]
# What is wrong, and the name that the rewrite is to suggest.
PROGRAMS: list[tuple[str, list[list[float]], str]] = [
    ("y = lab.sqrt(x - 2.0)\nz = lab.sqrt(y)", [[1.0], [1.0, 6.0], [2.0, 3.0]], "safe"),
    ("y = lab.sqrt(lab.sqrt(x - 2.0))", [[1.0, 6.0]], "safe"),
    ("e = lab.exp(x)\ny = e / lab.reduce_sum(e)", LARGE, "lab.nn.softmax(x)"),
    ("y = lab.exp(x) / lab.reduce_sum(lab.exp(x))", LARGE, "lab.nn.softmax(x)"),
    ("e = lab.exp(2.0 * x)\np = e / lab.reduce_sum(e)\ny = lab.math.log(p)", LARGE, "lab.nn.log_softmax(2.0 * x)"),
    ("y = lab.math.log(lab.reduce_sum(lab.exp(x)))", LARGE, "lab.reduce_logsumexp(x)"),
    ("y = lab.math.log(1.0 + lab.exp(x))", LARGE, "lab.nn.softplus(x)"),
    ("y = 1.0 / (1.0 + lab.exp(-x))", [[-1000.0, 0.0]], "lab.sigmoid(x)"),
    ("y = 1.0 / (1.0 + lab.exp(x * 2.0))", [[1000.0, 0.0]], "lab.sigmoid(-(x * 2.0))"),
    ("e = lab.exp(x)\ny = e / (1.0 + e)", LARGE, "lab.sigmoid(x)"),
    ("y = lab.exp(x) * 2.0", LARGE, "lab.minimum"),
    ("y = lab.norm(x)", [[0.0, 0.0]], "lab.reduce_sum(lab.square(x), axis=-1)"),
    ("y = lab.norm(x - 1.0)", [[1.0, 1.0]], "lab.square(x - 1.0)"),
    ("y = lab.norm(x)**2", [[0.0, 0.0]], "guarded ** 2"),
    ("n = lab.norm(x)\ny = n ** 2", [[0.0, 0.0]], "n = lab.where"),
    ("y = lab.math.reduce_std(x)", [[1.0, 1.0]], "lab.reduce_mean"),
    ("y = lab.sqrt(lab.reduce_sum(x * x))", [[0.0, 0.0]], "lab.reduce_sum(x * x)"),
    ("y = lab.reduce_sum(x * x) ** 0.5", [[0.0, 0.0]], "safe ** 0.5"),
    ("y = x ** 0.5", ROOTS, "x > 0.0"),
    ("y = x ** -2.0", [[0.0, -3.0]], "not_equal"),
    ("y = x.sqrt() if hasattr(x, 'sqrt') else lab.sqrt(x)", ROOTS, ""),
    ("loss = lab.reduce_sum(lab.sqrt(x) * 2.0)", ROOTS, "lab.reduce_sum(guarded * 2.0)"),
    ("y = 2.0 / x", [[0.0, -1.0, 3.0]], "not_equal"),
    ("y = (x - 1.0) / (x + 1.0)", [[-1.0, -5.0, 3.0]], "not_equal"),
    ("y = lab.math.reciprocal(x)", [[0.0, -2.0]], "not_equal"),
    ("y = lab.math.rsqrt(x)", ROOTS, "x > 0.0"),
    ("y = lab.math.log(x)", [[0.0, 2.0], [-3.0, 1.0]], "lab.maximum"),
    ("y = x * lab.math.log(x)", [[0.0, 2.0]], "lab.math.xlogy(x, x)"),
    ("y = lab.math.log1p(x)", [[-1.0, 2.0]], "x > -1.0"),
    ("y = lab.acos(x)", [[1.0, 0.5, -1.0], [2.0, 0.0]], "stop_gradient"),
    ("y = lab.asin(x)", [[1.0, 0.5, -1.0]], "stop_gradient"),
    ("y = lab.atanh(x)", [[1.0, 0.5]], "safe"),
    ("y = lab.acosh(x)", [[1.0, 2.5]], "safe"),
    ("y = lab.where(x > 0.0, lab.sqrt(x), 0.0)", ROOTS, "safe"),
    ("y = lab.where(x == 0.0, 1.0, lab.sin(x) / x)", [[0.0, 2.0]], "safe"),
    ("y = lab.where(x < 1.0, x, lab.sqrt(x))", [[0.0, 4.0]], "safe"),
]


def ran(source: str, value: list[float]) -> tuple[Recording, np.ndarray, np.ndarray]:
    """Run a program of one Variable x; return its recording, the value of its last line and the gradient of that."""
    name = f"program_{next(CALLS)}.py"
    linecache.cache[name] = (len(source), None, [line + "\n" for line in source.splitlines()], name)
    x = lab.Variable(value, name="x")
    names: dict[str, object] = {"lab": lab, "x": x}
    with lab.record(namespace=names) as recording:
        with lab.GradientTape() as tape:
            exec(compile(source, name, "exec"), names)
        last = names[source.splitlines()[-1].partition(" =")[0]]
        gradient = tape.gradient(last, x)
    return recording, last.numpy(), gradient.numpy()


@pytest.mark.parametrize(("source", "value", "expected"), [(s, v, e) for s, values, e in PROGRAMS for v in values])
def test_a_suggested_rewrite_runs_and_mends_the_program(source: str, value: list[float], expected: str) -> None:
    recording, before, spoilt = ran(source, value)
    found = recording.first_nonfinite()
    assert found is not None
    assert expected in "\n".join(found.rewrite)
    if not found.rewrite:
        assert not expected
        return
    target = found.rewrite[-1].partition(" =")[0]
    lines = [
        line for old in source.splitlines() for line in (found.rewrite if old.startswith(f"{target} =") else [old])
    ]
    assert lines != source.splitlines()
    _, after, gradient = ran("\n".join(lines), value)
    keep = np.isfinite(before)
    np.testing.assert_allclose(after[keep], before[keep], rtol=1e-6)
    assert np.isfinite(gradient).all()
    sound = np.isfinite(spoilt) & keep.all()
    np.testing.assert_allclose(gradient[sound], spoilt[sound], rtol=1e-5)


def test_the_first_op_is_guarded_and_not_the_one_where_it_showed() -> None:
    recording, *_ = ran("y = lab.sqrt(x - 2.0)\nz = lab.sqrt(y)", [1.0])
    found = recording.first_nonfinite()
    assert found is not None
    assert found.forward is not None
    assert found.forward.place is not None
    assert found.forward.place[1] == 1
    assert found.rewrite[-1].startswith("y = ")
    assert "x - 2.0" in found.fix


def test_an_overflow_that_no_guard_prevents_gets_no_rewrite() -> None:
    """1e30 squared is not a division by 0."""
    for source in ("y = x ** 2.0", "y = x / 1e-30"):
        found = ran(source, [1e30, 1.0])[0].first_nonfinite()
        assert found is not None
        assert found.rewrite == ()


def test_programs_with_several_faults_are_named_line_by_line() -> None:
    """The same op twice in a line, in a loop: each run is matched with its own part of the line."""
    source = "y = x\nfor _ in range(3): y = lab.sqrt(lab.sqrt(y) - 1.0)\nz = y * 1.0"
    found = ran(source, [4.0])[0].first_nonfinite()
    assert found is not None
    assert "lab.sqrt(y) - 1.0" in "\n".join(found.rewrite)


STATEMENTS = [
    ("with block: y = lab.math.log(x)", ["y = lab.math.log(lab.maximum(x, 1e-12))"]),
    ("if True: y = x ** 0.5", ["y = lab.where(x > 0.0, safe ** 0.5, 0.0)"]),
    ("for _ in [0]: y = 3.0 * lab.sqrt(x); z = 2.0 * y", ["y = 3.0 * guarded"]),
    ("a = 2.0 * x; y = lab.math.log(a); b = a", ["y = lab.math.log(lab.maximum(a, 1e-12))"]),
    ("if lab.reduce_sum(lab.math.log(x)) > 0.0: y = 1.0", ["if lab.reduce_sum(guarded) > 0.0:", "    y = 1.0"]),
    ("while lab.reduce_sum(lab.math.log(x)) > 0.0: pass", ["result = lab.math.log(lab.maximum(x, 1e-12))"]),
    ("y = (lambda: lab.math.log(x))()", ["y = lab.math.log(lab.maximum(x, 1e-12))"]),
]


@pytest.mark.parametrize(("source", "last"), STATEMENTS)
def test_of_a_block_on_one_line_the_statement_inside_is_rewritten(source: str, last: list[str]) -> None:
    name = f"program_{next(CALLS)}.py"
    linecache.cache[name] = (len(source), None, [source + "\n"], name)
    names: dict[str, object] = {"lab": lab, "x": lab.Variable([-1.0, 1.0], name="x"), "block": contextlib.nullcontext()}
    with lab.record(namespace=names) as recording:
        exec(compile(source, name, "exec"), names)
    found = recording.first_nonfinite()
    assert found is not None
    assert list(found.rewrite[-len(last) :]) == last
    assert not any("\n" in line for line in found.rewrite)
    compile("\n".join(found.rewrite), "rewrite", "exec")


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (-1.0, "x is below 0 here: check its sign, or choose a harmless input"),
        ([0.0, -1.0], "x is below 0 in places: check its sign"),
        ([0.0, 1.0], "Keep x away from 0 (add 1e-12), or choose"),
    ],
)
@pytest.mark.parametrize("op", ["lab.sqrt(x)", "lab.math.rsqrt(x)", "x ** 0.5"])
def test_a_value_below_zero_is_not_told_to_keep_away_from_zero(op: str, value: list[float], words: str) -> None:
    found = ran(f"y = {op}", value)[0].first_nonfinite()
    assert found is not None
    assert found.fix.startswith(words)
