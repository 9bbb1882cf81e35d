"""Matrix products: NumPy's values whichever library multiplies, in forks and threads, and the user's choice of library.

Every library is tested in a separate process, as the choice is made once per process.
"""

import os
import subprocess
import sys
import warnings
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab.kernels.matmul import blas, second_library
from tests.kernels.processes import say

SECOND_IS_THERE = find_spec(second_library.SECOND) is not None and second_library.has_wide_registers()
needs_second = pytest.mark.skipif(
    not SECOND_IS_THERE, reason="needs scipy-openblas32, and a CPU with AVX-512 under Linux"
)
BOTH = [pytest.param("numpy"), pytest.param("second", marks=needs_second)]


AGREEMENT = """
    import numpy as np
    from itertools import product
    from autodiff_lab.kernels.matmul import blas
    rng = np.random.default_rng(0)
    called = 0

    def layouts(rows, columns, dtype):
        whole = rng.normal(size=(2 * rows + 3, 2 * columns + 3)).astype(dtype)
        turned = rng.normal(size=(2 * columns + 3, 2 * rows + 3)).astype(dtype)
        yield "rows in order", whole[:rows, :columns].copy()
        yield "columns in order", turned[:columns, :rows].copy().T
        yield "part of rows", whole[1 : rows + 1, 2 : columns + 2]
        yield "part of columns", turned[2 : columns + 2, 1 : rows + 1].T
        yield "backwards", whole[rows - 1 :: -1, :columns]
        yield "columns backwards", whole[:rows, columns - 1 :: -1]
        yield "every second", whole[: 2 * rows : 2, : 2 * columns : 2]
        yield "every second row", whole[: 2 * rows : 2, :columns]
        yield "one row again and again", np.broadcast_to(whole[0, :columns], (rows, columns))
        yield "off its place", np.frombuffer(b"0" + whole[:rows, :columns].tobytes(), dtype, offset=1).reshape(
            rows, columns)
        yield "big endian", whole[:rows, :columns].astype(np.dtype(dtype).newbyteorder(">"))

    for (m, k, n), dtype in product([(96, 110, 104), (5, 600, 400), (400, 600, 5), (1100, 4, 300), (1, 1100, 1100)],
                                    [np.float32, np.float64, np.complex64, np.int32, np.float16]):
        if dtype in (np.int32, np.float16) and m != 96:
            continue
        size = 4 * k * np.finfo(dtype).eps if dtype is not np.int32 else 0
        pairs = product if m == 96 and dtype in (np.float32, np.float64) else zip
        for (name, x), (other, y) in pairs(layouts(m, k, dtype), layouts(k, n, dtype)):
            want, got = x @ y, blas.matmul(x, y)
            assert got.dtype == want.dtype and got.shape == want.shape, (name, other, dtype, got.dtype, want.dtype)
            bound = size * (np.abs(x).astype(np.float64) @ np.abs(y).astype(np.float64))
            assert np.all(np.abs(got.astype(want.dtype) - want) <= bound), (name, other, dtype, (m, k, n))
            called += 1
    print(json.dumps([called, blas.describe()]))
"""


@pytest.mark.slow
@pytest.mark.parametrize("wish", BOTH)
def test_values_are_numpys_for_all_layouts_and_dtypes(wish: str) -> None:
    called, words = say(AGREEMENT, wish)
    assert called == 2 * 11 * 11 + 11 * (1 + 2 + 4 * 3)
    assert ("a second OpenBLAS" in words) == (wish == "second")


UNUSUAL = """
    import numpy as np
    from autodiff_lab.kernels.matmul import blas
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(300, 300)).astype("f"), rng.normal(size=(300, 300)).astype("f")

    def outcome(multiply, x, y):
        try:
            value = multiply(x, y)
        except (ValueError, TypeError) as error:
            return [type(error).__name__, str(error)]
        return [type(value).__name__, str(value.dtype), list(value.shape)]

    class Sub(np.ndarray):
        pass

    stack = rng.normal(size=(3, 110, 120)).astype("f")
    deep = np.zeros((1200, 0, 1200), "f")
    pairs = [
        (a, b[:299]), (a, b.astype("d")), (a, b[0]), (a[0], b), (a[0], b[0]), (a[:1], b.astype(object)),
        (a, b[:, :0]), (a[:0], b), (a[:, :0], b[:0]), (stack, stack), (stack, stack.swapaxes(1, 2)),
        (stack, stack.swapaxes(1, 2)[:2]), (stack, np.zeros((120, 200), "f")),
        (stack[:, ::-1], np.ones((120, 99), "f")),
        (stack[:, None], stack.swapaxes(1, 2)), (a, np.float32(2)), (a.view(Sub), b), (a, b.view(np.recarray)),
        (deep, deep.swapaxes(1, 2)), (np.zeros((1100000,), "f"), np.zeros((1100000,), "f")),
        (a.astype("datetime64[s]"), b),
    ]
    for x, y in pairs:
        assert outcome(blas.matmul, x, y) == outcome(np.matmul, x, y), (x.shape, y.shape)

    for bad in (np.nan, np.inf, -np.inf):
        x = a.copy()
        x[3, 5] = bad
        got, want = blas.matmul(x, b), x @ b
        assert np.array_equal(np.isnan(got), np.isnan(want)) and np.array_equal(np.isinf(got), np.isinf(want))
    assert np.isinf(blas.matmul(np.full((300, 300), 3e38, "f"), np.full((300, 300), 3e38, "f"))).all()
    for x in (a, a[:, ::-1].copy(), rng.normal(size=(211, 300))):
        square = blas.matmul(x, x.T)
        assert np.array_equal(square, square.T)
    for x, y in ((stack, stack.swapaxes(1, 2)), (stack[:, None], stack.swapaxes(1, 2)), (stack, a[:120])):
        np.testing.assert_allclose(blas.matmul(x, y), x @ y, rtol=0, atol=1e-4)
    assert np.array_equal(blas.matmul(a, b), blas.matmul(a, b))
    print(json.dumps(True))
"""


@pytest.mark.parametrize("wish", BOTH)
def test_unusual_operands_give_what_numpy_gives_errors_included(wish: str) -> None:
    """Also: nan and infinity travel, x xᵀ is symmetric, a product repeated has the same bits."""
    assert say(UNUSUAL, wish) is True


FORK = """
    import os
    import numpy as np
    from autodiff_lab.kernels.matmul import blas
    a = np.arange(250_000, dtype="d").reshape(500, 500) % 7
    want = a @ a
    assert np.array_equal(blas.matmul(a, a), want)  # integers: exact in any order
    children = []
    for _ in range(3):
        child = os.fork()
        if not child:
            right = np.array_equal(blas.matmul(a, a), want) and np.array_equal(blas.matmul(a, a.T), a @ a.T)
            os._exit(0 if right else 1)
        children.append(child)
    codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    print(json.dumps([codes, np.array_equal(blas.matmul(a, a), want)]))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs processes that fork")
@pytest.mark.parametrize("wish", BOTH)
def test_forks_after_the_first_use_multiply_too(wish: str) -> None:
    assert say(FORK, wish, PYTHONWARNINGS="default") == [[0, 0, 0], True]


THREADS = """
    import threading
    import numpy as np
    from autodiff_lab.kernels.matmul import blas
    a = np.arange(90_000, dtype="f").reshape(300, 300) % 5
    want = a.astype("d") @ a.astype("d")
    start, wrong = threading.Barrier(8), []

    def work():
        start.wait()
        for _ in range(20):
            if not np.array_equal(blas.matmul(a, a), want):
                wrong.append(1)

    threads = [threading.Thread(target=work) for _ in range(8)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    import os
    print(json.dumps([len(wrong), os.environ.get("OPENBLAS_CORETYPE")]))
"""


@pytest.mark.parametrize("wish", BOTH)
def test_eight_threads_at_the_first_use_and_after_it(wish: str) -> None:
    assert say(THREADS, wish) == [0, "Haswell" if wish == "second" else None]


@needs_second
def test_the_second_library_has_as_many_threads_as_numpys() -> None:
    code = """
        import ctypes
        import numpy as np
        from autodiff_lab.kernels.matmul import blas
        from autodiff_lab.kernels.matmul.second_library import choice as chosen
        choice = chosen(True)
        count = lambda library: library.function("openblas_get_num_threads", ctypes.c_int)()
        seen = []
        for wanted in (1, 2, 1):
            choice.own.function("openblas_set_num_threads")(wanted)
            blas.matmul(np.ones((200, 200)), np.ones((200, 200)))
            seen.append([count(choice.own), count(choice.second)])
        print(json.dumps(seen))
    """
    assert all(own == second for own, second in say(code, "second"))


@needs_second
def test_scipy_keeps_its_own_library() -> None:
    """The second library is loaded for us alone: what SciPy finds is what it brought."""
    code = """
        import numpy as np
        from autodiff_lab.kernels.matmul import blas
        blas.matmul(np.ones((200, 200)), np.ones((200, 200)))
        import scipy.linalg
        a = np.random.default_rng(0).normal(size=(60, 60))
        q, r = scipy.linalg.qr(a)
        import ctypes
        offered = hasattr(ctypes.CDLL(None), "scipy_cblas_sgemm")
        import sys
        print(json.dumps([bool(np.allclose(q @ r, a)), offered, "scipy_openblas32" in sys.modules]))
    """
    assert say(code, "second") == [True, False, False]


DESCRIBED = """
    from autodiff_lab.kernels.matmul import blas
    print(json.dumps(blas.describe()))
"""


def test_the_users_word_decides_and_is_told() -> None:
    assert "a second OpenBLAS" not in say(DESCRIBED, "numpy")
    if second_library.of_numpy() is not None and second_library.has_wide_registers():
        assert "OPENBLAS_CORETYPE=Haswell chooses" in say(DESCRIBED, "numpy", OPENBLAS_CORETYPE="Haswell")


def test_without_the_wheel_numpy_multiplies(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(second_library, "find_spec", lambda name: None)
    before = os.environ.get("OPENBLAS_CORETYPE")
    assert second_library.second() is None
    assert os.environ.get("OPENBLAS_CORETYPE") == before


@pytest.mark.parametrize(
    ("own", "wide", "second", "expected"),
    [
        (None, True, "SkylakeX", "not built with OpenBLAS"),
        ("SkylakeX", True, "SkylakeX", "those for this CPU"),
        ("Haswell", False, "SkylakeX", "those for this CPU"),
        ("Haswell", True, None, "is not installed"),
        ("Haswell", True, "Haswell", "only Haswell"),
        ("Zen", True, "SkylakeX", "large products run on a second OpenBLAS"),
    ],
)
def test_a_second_library_serves_only_where_it_is_faster(
    monkeypatch: pytest.MonkeyPatch, own: str | None, wide: bool, second: str | None, expected: str
) -> None:
    def library(core: str | None) -> second_library.Library | None:
        return second_library.Library("", "0.3", core, 4, None, "", "") if core else None

    monkeypatch.delenv("OPENBLAS_CORETYPE", raising=False)
    monkeypatch.setattr(blas, "_WISH", "second")
    monkeypatch.setattr(second_library, "_kept", {})
    monkeypatch.setattr(second_library, "of_numpy", lambda: library(own))
    monkeypatch.setattr(second_library, "has_wide_registers", lambda: wide)
    monkeypatch.setattr(second_library, "second", lambda: library(second))
    assert expected in blas.describe()


def test_an_unknown_wish_is_refused_with_the_known_ones() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "import autodiff_lab.kernels.matmul.blas"],
        env=os.environ | {"AUTODIFF_LAB_BLAS": "fastest"}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert "AUTODIFF_LAB_BLAS='fastest' is unknown. Try one of ('numpy', 'auto', 'second')" in done.stderr


def test_products_load_no_second_library_unless_it_is_asked_for() -> None:
    code = """
        import sys
        import autodiff_lab as lab
        x = lab.ones((300, 300)) @ lab.ones((300, 300))
        print(json.dumps("autodiff_lab.kernels.matmul.second_library" in sys.modules))
    """
    assert say(code, "numpy") is False


@pytest.mark.parametrize("wish", BOTH)
def test_ops_and_compiled_programs_multiply_alike(wish: str) -> None:
    """The op, its two derivatives and a compiled function use one kernel: bit for bit the same."""
    code = """
        import numpy as np
        import autodiff_lab as lab
        rng = np.random.default_rng(0)
        x, w = (lab.constant(rng.normal(size=s).astype("f")) for s in ((70, 300), (300, 200)))

        def step(x, w):
            with lab.GradientTape() as tape:
                tape.watch([x, w])
                y = lab.reduce_sum((x @ w) ** 2)
            return [y, *tape.gradient(y, [x, w])]

        eager = [t.numpy() for t in step(x, w)]
        compiled = [t.numpy() for t in lab.function(step, backend="numpy")(x, w)]
        exact = 2 * x.numpy().astype("d") @ w.numpy().astype("d") @ w.numpy().astype("d").T
        print(json.dumps([all(map(np.array_equal, eager, compiled)), float(np.abs(eager[1] - exact).max())]))
    """
    same, error = say(code, wish)
    assert same
    assert error < 0.1


def test_derivatives_of_a_product_copy_no_operand() -> None:
    """What a rule hands to the product is a view of the operand, transposed."""
    from autodiff_lab.engine.namespace import RAW
    from autodiff_lab.ops.linalg import products

    x = np.ones((4, 3), np.float32)
    assert np.shares_memory(products._flip(RAW, x), x)


def test_a_library_that_is_none_is_passed_over(tmp_path: Path) -> None:
    wrong = tmp_path / "libopenblas.so"
    wrong.write_text("not a library", encoding="utf-8")
    assert second_library.opened(wrong) is None
    assert second_library.opened(tmp_path / "missing.so") is None


@pytest.mark.parametrize("shapes", [((4, 5), (5, 3)), ((2, 4, 5), (5, 3)), ((5,), (5, 3)), ((2, 4, 5), (2, 5, 1))])
def test_half_floats_are_multiplied_in_float32_and_rounded_once(shapes: tuple[tuple[int, ...], ...]) -> None:
    rng = np.random.default_rng(0)
    x, y = (rng.normal(size=shape).astype(np.float16) for shape in shapes)
    wanted = (x.astype(np.float32) @ y.astype(np.float32)).astype(np.float16)
    found = blas.matmul(x, y)
    assert found.dtype == np.float16
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("m", [1, 2, 3])
def test_stacks_of_tiny_matrices_are_multiplied_by_components(m: int, dtype: str) -> None:
    rng = np.random.default_rng(m)
    count = blas.MANY + 3
    for k in (1, 2, 3):
        x, y = rng.normal(size=(2, count, m, k)).astype(dtype), rng.normal(size=(2, count, k, 3)).astype(dtype)
        turned, every = np.ascontiguousarray(x.swapaxes(-1, -2)).swapaxes(-1, -2), np.repeat(x, 2, axis=1)[:, ::2]
        wanted, size = x @ y, np.abs(x) @ np.abs(y)
        for one in (x, turned, every, x[:, ::-1][:, ::-1], np.broadcast_to(x[:, :1], x.shape)):
            found = blas.matmul(one, y)
            expected, bound = (wanted, size) if one.strides[1] else (one @ y, np.abs(one) @ np.abs(y))
            assert found.dtype == expected.dtype
            assert found.shape == expected.shape
            assert np.all(np.abs(found - expected) <= 4 * k * np.finfo(dtype).eps * bound)
    assert 2 * count > blas.AT_ONCE  # so that ranges of matrices were put together


def test_products_of_tiny_matrices_overflow_in_silence() -> None:
    huge = np.full((blas.MANY, 3, 3), 1e30, np.float32)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        product = lab.constant(huge) @ lab.constant(-huge)
    assert np.all(product.numpy() == -np.inf)
    with pytest.raises(lab.errors.ShapeMismatch):
        lab.matmul(huge, huge[:, :2])
