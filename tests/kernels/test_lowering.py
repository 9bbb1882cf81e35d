"""Loops that are translated without Numba: they mean what they mean to Numba, bit for bit, and none of ours is left."""

import functools
import importlib
import itertools
import math
import pkgutil
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm
import numpy as np
import pytest

from autodiff_lab import kernels
from autodiff_lab.kernels.base import native, store
from autodiff_lab.kernels.base.deferred import register_jitable, remember
from autodiff_lab.kernels.base.loops import Loop, loop
from autodiff_lab.kernels.maths.bits import add_up, choose, fused, greatest, least, multiply_up
from autodiff_lab.kernels.maths.rows import exponential

pytest.importorskip("numba", reason="what is translated is compared with what Numba compiles")
from autodiff_lab.kernels.base import emitting
from autodiff_lab.kernels.lowering import objects
from autodiff_lab.kernels.lowering.kinds import Untranslatable

ODD = [0.0, -0.0, 1.0, -1.5, 2.5, 3.0, 1e30, -1e-30, math.inf, -math.inf, math.nan]
_numbers = itertools.count()


def both(function: Callable[..., Any], signature: str, **options: Any) -> list[Callable[..., Any]]:
    """Return a function as it is translated here, and as Numba compiles it."""
    stamp = f"compared{next(_numbers)}"
    return [
        native.functions([emit(function, "loop", signature, options, True, f"{stamp}{n}")])["loop"]
        for n, emit in enumerate((objects.emit, emitting.emit))
    ]


def same(ours: Any, theirs: Any) -> bool:
    """Return whether results have the same bits; any nan is as good as another."""
    if isinstance(ours, tuple):
        return len(ours) == len(theirs) and all(map(same, ours, theirs))
    x, y = np.asarray(ours), np.asarray(theirs)
    if x.dtype.kind not in "fc":
        return x.dtype == y.dtype and np.array_equal(x, y)
    return bool(np.all((x == y) & (np.signbit(x.real) == np.signbit(y.real)) | ((x != x) & (y != y))))  # noqa: PLR0124


def agree(function: Callable[..., Any], signature: str, cases: Iterator[list[Any]], **options: Any) -> None:
    """Run both on the same arguments, and compare what they return and what they write."""
    runs = both(function, signature, **options)
    for given in cases:
        told: list[Any] = []
        for run in runs:
            mine = [one.copy() if isinstance(one, np.ndarray) else one for one in given]
            with np.errstate(all="ignore"):
                told.append((run(*mine), *(one for one in mine if isinstance(one, np.ndarray))))
        assert same(told[0], told[1]), (given, told)


# --- numbers ---------------------------------------------------------------------------------------------------------

TYPES = ["boolean", "int32", "int64", "uint8", "float32", "float64"]
VALUES: dict[str, list[Any]] = {
    "boolean": [False, True], "int32": [0, 1, -1, 7, -7, 2**31 - 1], "int64": [0, 1, -1, 3, -5, 2**40],
    "uint8": [0, 1, 255], "float32": [float(np.float32(x)) for x in ODD], "float64": ODD,
}  # fmt: skip


def arithmetic(x: Any, y: Any) -> Any:
    return x + y, x - y, x * y, x / y, -x, abs(x)


def orders(x: Any, y: Any) -> Any:
    return x < y, x <= y, x > y, x >= y, x == y, x != y, x < y <= x, not x, (x < y and x > 1) or x == y


def of_integers(x: Any, y: Any) -> Any:
    return x // y, x % y, x & y, x | y, x ^ y, ~x, x << (y & 31), x >> (y & 31), divmod(x, y)[1]


def choices(x: Any, y: Any) -> Any:
    return min(x, y), max(x, y), min(y, x, 3), x if x > y else 2 * y, (x if x > 1 else 2) + 1, 0.5 if x else y


def casts(x: Any, y: Any) -> Any:
    return np.float32(x), np.float64(y), np.int32(y) + 1, int(y), float(x), bool(x), np.int64(x)


def wide(function: Callable[..., Any], x: str, y: str, count: int) -> str:
    """Return a signature that keeps all that a function of two numbers gives."""
    result = "boolean" if function is orders else "int64" if function is of_integers else "float64"
    return f"Tuple(({', '.join([result] * count)}))({x}, {y})"


@pytest.mark.slow(keep=30)
@pytest.mark.parametrize("y", TYPES)
@pytest.mark.parametrize("x", TYPES)
@pytest.mark.parametrize("function", [arithmetic, orders, of_integers, choices])
def test_operators_have_the_types_and_the_bits_that_numba_gives_them(function: Any, x: str, y: str) -> None:
    if function is of_integers and not {x, y} <= {"int32", "int64"}:
        return
    if function is arithmetic and x in ("boolean", "uint8"):
        return  # Numba has no absolute value of the first, and negates the second without a sign
    count = {arithmetic: 6, orders: 9, of_integers: 9, choices: 6}[function]
    cases = ([a, b] for a, b in itertools.product(VALUES[x], VALUES[y]))
    agree(function, wide(function, x, y, count), cases)


@pytest.mark.parametrize("kind", ["float32", "float64"])
def test_conversions(kind: str) -> None:
    signature = f"Tuple((float32, float64, int64, int64, float64, boolean, int64))({kind}, {kind})"
    agree(casts, signature, ([x, y] for x, y in itertools.product([0.0, -0.0, 1.5, -2.5, 1e9], [0.0, 3.9, -3.9, 1e9])))


@pytest.mark.parametrize("kind", ["float32", "float64"])
def test_functions_of_the_c_library_and_of_ours(kind: str) -> None:
    def spread(x: Any, y: Any) -> Any:
        (a, b, c, d, e, f, g) = (
            math.exp(x),
            math.log(x),
            math.sin(x),
            math.sqrt(x),
            math.pow(x, y),
            math.atan2(x, y),
            math.erf(x),
        )
        h, i, j, k, m = math.log1p(x), math.expm1(x), math.tanh(x), math.cosh(x), math.lgamma(x)
        n, o, p = fused(x, y, y), greatest(x, y), least(x, y)
        q, r, s = choose(x > y, x, y), add_up(x, y), multiply_up(x, y)
        return a, b, c, d, e, f, g, h, i, j, k, m, n, o, p, q, r, s, math.isnan(x), math.isinf(y), math.floor(0.5 * d)

    signature = f"Tuple(({', '.join([kind] * 18)}, boolean, boolean, int64))({kind}, {kind})"
    finite = [x for x in ODD if math.isfinite(x) and abs(x) < 1e20]
    agree(spread, signature, ([abs(x), y] for x, y in itertools.product(finite, finite)))


def of_complex(x: Any, y: Any, out: Any) -> None:
    for k in range(x.size):
        a, b = x[k], y[k]
        out[0, k], out[1, k], out[2, k], out[3, k] = a + b, a - b, a * b, a / b
        out[4, k], out[5, k], out[6, k] = a.conjugate(), -b, complex(a.imag, b.real)
        out[7, k], out[8, k], out[9, k] = a * 2, a / 3, 1.5 - a


@pytest.mark.parametrize("kind", ["complex64", "complex128"])
def test_complex_numbers(kind: str) -> None:
    draw = np.random.default_rng(0)
    x, y = ((draw.standard_normal(20) + 1j * draw.standard_normal(20)).astype(kind) for _ in range(2))
    agree(of_complex, f"void({kind}[::1], {kind}[::1], {kind}[:, ::1])", iter([[x, y, np.zeros((10, 20), kind)]]))
    with np.errstate(all="ignore"):
        out = np.zeros((10, 2), kind)
        both(of_complex, f"void({kind}[::1], {kind}[::1], {kind}[:, ::1])")[0](x[:2], np.zeros(2, kind), out)
        np.testing.assert_array_equal(out[3], x[:2] / np.zeros(2, kind))  # where Numba raises an error


# --- statements ------------------------------------------------------------------------------------------------------


@register_jitable
def leaves_early(x: Any, limit: Any) -> Any:
    """Give the first position beyond a limit, by way of every kind of statement."""
    for k in range(x.size):
        if x[k] != x[k]:
            continue
        if x[k] > limit:
            return k
    return -1


@register_jitable
def total_of(x: Any, *weights: Any) -> Any:
    total = 0.0
    for w in weights:
        total += w * x[0]
    return total


def statements(x: Any, limit: Any, out: Any) -> Any:
    n, far, small = x.size, np.int32(0), 0
    while n > 0:
        n -= 2
        if n == 3:
            break
        far |= np.int32(x[n] > limit)
        small = small + (x[n] < limit)
    for k in range(x.size - 1, -1, -3):
        out[k, 0] = x[k] if k % 2 else limit
        out[k, 1:] = k
    for factor in (2, 3, 5):
        out[0, 0] += total_of(x, 1.5, limit / 3, 0.5 * factor) if factor > 2 else 1
    for value in x[1:3]:
        out[1, 1] -= value
    for k in range(1, x.size, 1 + (n > 0)):
        out[k, 0], out[k, 1] = out[k, 1], out[k, 0]
    at = leaves_early(x, limit)
    return far, at, small if at < 0 or not far else -small


@pytest.mark.parametrize("kind", ["float32", "float64"])
def test_statements(kind: str) -> None:
    draw = np.random.default_rng(1)
    signature = f"Tuple((int64, int64, int64))({kind}[::1], {kind}, {kind}[:, ::1])"
    cases = ([draw.standard_normal(8).astype(kind), limit, np.ones((8, 2), kind)] for limit in (-9.0, 0.0, 0.5, 9.0))
    agree(statements, signature, cases)


def parts(x: Any, i: Any, j: Any, out: Any) -> Any:
    row, column = x[i], x[-1, j:]
    out[:] = -1
    for k in range(column.size):
        out[k] = column[k]
    out[i] += row[j]
    out[-2] = row[: j + 1].size + row[i:j].size + x[i:].size
    return x[1:3].size, row[-20:20].size, row[j : j + 50].size, x[i, -1]


def test_indices_count_from_the_end_and_slices_end_with_the_array() -> None:
    x = np.arange(20.0).reshape(4, 5)
    cases = ([x, i, j, np.zeros(6)] for i, j in itertools.product(range(-4, 4), range(-5, 5)))
    agree(parts, "Tuple((int64, int64, int64, float64))(float64[:, ::1], int64, int64, float64[::1])", cases)


def test_rows_of_one_array_may_overlap() -> None:
    def shifted(x: Any) -> None:
        for i in range(1, x.shape[0]):
            before, here = x[i - 1], x[i]
            for k in range(here.size):
                here[k] += before[k]
        flat = x[0, 1:]
        for k in range(flat.size):
            flat[k] = x[0, k] + 1

    agree(shifted, "void(float32[:, ::1])", iter([[np.arange(800, dtype="f").reshape(8, 100)]]))


# --- random functions ------------------------------------------------------------------------------------------------


class _Drawn:
    """Draws the text of a function of two numbers, a flat array and a flat array of integers."""

    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)
        self.names = ["a", "b", "n"]

    def number(self, depth: int) -> str:
        draw = self.draw
        if depth == 0 or draw.random() < 0.2:
            return draw.choice([*self.names, "x[k]", "k", "z[k]", "1.5", "np.float32(0.25)", "3", "x.size"])
        one, other = self.number(depth - 1), self.number(depth - 1)
        return draw.choice([
            f"({one} + {other})", f"({one} - {other})", f"({one} * {other})", f"(-{one})", f"abs({one})",
            f"({one} if {self.bit(depth - 1)} else {other})", f"max({one}, {other})", f"np.float32({one})",
            f"np.float64({one})", f"({self.integer()} // 3)", f"({self.integer()} % 5)", f"({one} / 7)",
        ])  # fmt: skip

    def integer(self) -> str:
        return self.draw.choice(["k", "n", "z[k]", "(k - n)", "(z[k] * 3)", "np.int32(k)"])

    def bit(self, depth: int) -> str:
        draw = self.draw
        if depth == 0:
            return f"{draw.choice(self.names)} {draw.choice(['<', '>=', '==', '!='])} {draw.choice(['x[k]', 'k', '1'])}"
        return draw.choice([
            f"({self.bit(0)} and {self.bit(depth - 1)})", f"({self.bit(0)} or {self.bit(depth - 1)})",
            f"(not {self.bit(depth - 1)})", f"({self.number(depth - 1)} < {self.number(depth - 1)})",
        ])  # fmt: skip

    def text(self) -> str:
        inside: list[str] = []
        for _ in range(4):
            target = self.draw.choice(["s", "t", "m"])
            value = f"int(np.float32(k)) + {self.integer()}" if target == "m" else self.number(3)
            value = f"np.float32({value})" if target == "t" else value
            inside.append(self.draw.choice([
                f"{target} = {value}", f"if {self.bit(2)}:\n            {target} = {value}",
                f"x[k] = {self.number(2)}", f"x[k] += {self.number(2)}", f"z[k] = {self.integer()}",
            ]))  # fmt: skip
        lines = "\n        ".join(inside)
        head = "def drawn(a, b, n, x, z):\n    s, t, m = 0.0, np.float32(1), 0\n    for k in range(x.size):"
        return f"{head}\n        {lines}\n    return s, t, m\n"


@pytest.mark.slow(keep=3)
@pytest.mark.parametrize("seed", range(40))
def test_random_functions_have_the_bits_that_numba_gives_them(seed: int) -> None:
    text, scope, file = _Drawn(seed).text(), {"np": np}, f"<drawn {seed}>"
    remember(file, text)
    exec(compile(text, file, "exec"), scope)
    draw = np.random.default_rng(seed)
    kind = ("float32", "float64")[seed % 2]
    signature = f"Tuple((float64, float32, int64))({kind}, float64, int64, {kind}[::1], int32[::1])"
    given = [
        [a, b, n, draw.standard_normal(9).astype(kind), draw.integers(-9, 9, 9).astype("i4")]
        for a, b, n in [(0.5, -1.5, 3), (-2.0, 1e10, -4), (math.nan, 0.0, 0)]
    ]
    agree(scope["drawn"], signature, iter(given))


# --- what is translated, and what is not -----------------------------------------------------------------------------


def all_loops() -> list[Loop]:
    found: list[Loop] = []
    for module in pkgutil.walk_packages(kernels.__path__, "autodiff_lab.kernels."):
        if module.name.rpartition(".")[2].startswith("numba"):
            found += [one for one in vars(importlib.import_module(module.name)).values() if isinstance(one, Loop)]
    return list({id(one): one for one in found}.values())


@pytest.mark.slow
def test_every_loop_of_the_kernels_is_translated() -> None:
    loops = all_loops()
    assert len(loops) > 50
    for one in loops:
        objects.translated(one.python, "loop", one.signature.format(t="float32"), one.options, python=True)


def outside(x: Any) -> None:
    for k, value in enumerate(x):
        x[k] = value + 1


def test_what_is_outside_the_subset_is_left_to_numba(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUTODIFF_LAB_CACHE", str(tmp_path))  # nothing is left to anybody where code is found
    monkeypatch.setattr(store, "LEFT_TO_NUMBA", {})
    with pytest.raises(Untranslatable, match="enumerate"):
        objects.translated(outside, "loop", "void(float64[::1])", {}, python=True)
    made, x = loop("void({t}[::1])")(outside), np.zeros(3)
    made[x.dtype](x)
    assert x.tolist() == [1, 1, 1]
    assert list(store.LEFT_TO_NUMBA) == ["outside"]


def test_all_of_fast_maths_is_left_to_numba() -> None:
    with pytest.raises(Untranslatable):
        objects.translated(outside, "loop", "void(float64[::1])", {"fastmath": True}, python=True)


def test_settings_that_only_numba_follows_are_left_to_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_LOOP_VECTORIZE", "0")
    with pytest.raises(Untranslatable, match="settings of Numba's"):
        objects.translated(arithmetic, "loop", wide(arithmetic, "float64", "float64", 6), {}, python=True)


def exponentials(x: Any) -> None:
    for k in range(x.size):
        x[k] = exponential(x[k])


def doubled(x: Any) -> None:
    for k in range(x.size):
        x[k] += x[k]


@pytest.mark.skipif(not llvm.get_process_triple().startswith("x86_64"), reason="these are processors of Intel's")
@pytest.mark.parametrize(("processor", "longest"), [("sapphirerapids", "zmm"), ("skylake-avx512", "ymm")])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_only_loops_of_elementary_functions_have_the_longest_vectors(
    processor: str, longest: str, dtype: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[str] = []

    def assembly(module: Any, name: str, stamp: str, python: bool, machine: Any) -> Any:
        written.append(machine.emit_assembly(module))

    monkeypatch.setattr(objects, "piece_of", assembly)
    monkeypatch.setenv("NUMBA_CPU_NAME", processor)
    monkeypatch.setenv("NUMBA_CPU_FEATURES", "+avx2,+fma,+avx512f,+avx512bw,+avx512dq,+avx512vl")
    monkeypatch.setattr(objects, "_machine", functools.cache(objects._machine.__wrapped__))
    for function in (exponentials, doubled):
        objects.emit(function, "loop", f"void({dtype}[::1])", {}, True, "")
    assert [longest in written[0], "ymm" in written[1], "zmm" in written[1]] == [True, True, False]
    assert ("zmm" in written[0]) == (longest == "zmm")


@pytest.mark.parametrize(
    "text",
    [
        "for k in (1, 2):\n        if x[0] > 0:\n            break",
        "for k in range(3):\n        pass\n    else:\n        x[0] = 1",
        "try:\n        x[0] = 1\n    finally:\n        pass", "y = x[::2]", "y = [x[0]]", "y = x.sum()", "y = x @ x",
        "for k in range(3):\n        y = np.empty(3, np.float64)", "y = unknown(x)", "x[0] = 'text'", "global y",
    ],
)  # fmt: skip
def test_other_python_is_refused_and_nothing_is_guessed(text: str) -> None:
    made = f"def refused(x):\n    {text}\n"
    file, scope = f"<refused {next(_numbers)}>", {"np": np}
    remember(file, made)
    exec(compile(made, file, "exec"), scope)
    with pytest.raises(Untranslatable):
        objects.translated(scope["refused"], "loop", "void(float64[::1])", {}, python=True)
