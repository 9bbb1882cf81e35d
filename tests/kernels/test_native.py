"""Machine code that runs without Numba: what it takes and returns, and what happens where it cannot run."""

import os
import subprocess
import sys
import textwrap
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from autodiff_lab.kernels.base import native, store
from tests.tree import PACKAGE

pytest.importorskip("numba", reason="machine code is made by Numba")


def compiled(function: Callable[..., Any], signature: str, **options: Any) -> Any:
    """Return a function as `store` compiles it, without keeping its machine code."""
    source = store.Source(function, "loop", signature, options)
    made = store.machine_code(f"{function.__qualname__}{signature}", lambda: [source], kept=False)["loop"]
    assert isinstance(made, types.BuiltinFunctionType)
    return made


def double(x: Any) -> None:
    for k in range(x.size):
        x[k] += x[k]


@pytest.mark.parametrize("kind", ["float32", "float64", "int64", "int32", "uint8", "complex128"])
def test_arrays_of_their_own_kind_are_taken_and_no_other(kind: str) -> None:
    run = compiled(double, f"void({kind}[::1])")
    right = np.arange(6).astype(kind)
    assert run(right) is None
    np.testing.assert_array_equal(right, 2 * np.arange(6))
    frozen = right.copy()
    frozen.flags.writeable = False
    other = "float32" if kind != "float32" else "int32"
    shifted = np.empty(right.nbytes + 1, np.uint8)[1:].view(kind)
    wrong = [np.ones(6, other), right[::2], right[None], frozen, 3, None, [1.0], "text"]
    if right.itemsize > 1:
        wrong += [right.astype(right.dtype.newbyteorder()), shifted]
    for one in wrong:
        with pytest.raises(TypeError):
            run(one)
    for count in (0, 2):
        with pytest.raises(TypeError):
            run(*[right] * count)


def test_arrays_of_a_subclass_and_of_every_layout_are_taken() -> None:
    class Own(np.ndarray):
        pass

    x = np.arange(6.0)
    compiled(double, "void(float64[::1])")(x.view(Own))
    np.testing.assert_array_equal(x, 2 * np.arange(6))

    def turned(x: Any, out: Any) -> None:
        for i in range(x.shape[0]):
            for j in range(x.shape[1]):
                out[j, i] = x[i, j]

    run = compiled(turned, "void(float32[:, :], float32[::1, :])")
    for x in (np.arange(12, dtype="f").reshape(3, 4), np.arange(24, dtype="f").reshape(3, 8)[:, ::-2]):
        out = np.zeros((4, 3), "f", order="F")
        run(x, out)
        np.testing.assert_array_equal(out, x.T)


def test_numbers_go_in_and_out_as_python_has_them() -> None:
    def told(a: Any, b: Any, c: Any, d: Any) -> Any:
        return a + 1, b * 2, c / 2, not d

    run = compiled(told, "Tuple((int64, float64, float32, boolean))(int64, float64, float32, boolean)")
    for a, b, c, d in [(1, 2.0, 3.0, True), (-1, -1.0, -1.0, False), (np.int64(7), np.float32(0.5), np.float64(9), 0)]:
        found = run(a, b, c, d)
        assert found == (a + 1, b * 2, c / 2, not d)
        assert [type(value) for value in found] == [int, float, float, bool]
    for bad in [("1", 2.0, 3.0, True), (1.5, 2.0, 3.0, True), (1, "2", 3.0, True), (1, 2.0, None, True)]:
        with pytest.raises(TypeError):
            run(*bad)
    with pytest.raises(OverflowError):
        run(2**70, 2.0, 3.0, True)

    def wide(a: Any) -> Any:
        return a + 0.0

    large = compiled(wide, "float64(uint64)")
    assert [large(np.uint64(2**63)), large(3)] == [2.0**63, 3.0]
    for bad, error in [(-1, OverflowError), (2**64, OverflowError), (1.5, TypeError)]:
        with pytest.raises(error):
            large(bad)
    with pytest.raises(ValueError, match="ambiguous"):
        run(1, 2.0, 3.0, np.zeros(2))


def test_memory_that_a_loop_allocates_is_released_or_reported_missing() -> None:
    def backwards(n: Any, x: Any) -> None:
        aside = np.empty(n, np.float64)
        for k in range(x.size):
            aside[k] = x[k]
        for k in range(x.size):
            x[k] = aside[x.size - 1 - k]

    run, x = compiled(backwards, "void(int64, float64[::1])", _nrt=True), np.arange(3.0)
    for _ in range(2000):  # 16 GB if nothing were released
        run(1_000_000, x)
    np.testing.assert_array_equal(x, np.arange(3.0))
    with pytest.raises(MemoryError):
        run(2**58, x)


STEP = """
from numpy import float64, int32
from autodiff_lab.kernels.base.pointers import STEP, at
@addressed(STEP)
def step(slots):
    x = at(slots[0], 1, float64)
    x[0] += 1
    return int32(x[0] == slots[1])
"""


def test_the_entry_of_a_sequence_fills_the_room_and_runs_steps_until_one_declines() -> None:
    kinds = ["float32", "float64", "int64", "int32", "uint8", "uint64", "bool"]
    arrays = [np.zeros((2,) * (1 + n % 3), kind) for n, kind in enumerate(kinds)]
    numbers = [np.dtype(kind).type(value) for kind, value in zip(kinds, [1.5, -2.5, -3, 4, 5, 1 << 63, 1], strict=True)]
    names = ["boolean" if kind == "bool" else kind for kind in kinds]
    types_ = [f"{name}[{':, ' * (a.ndim - 1)}::1]" for name, a in zip(names, arrays, strict=True)]
    tables = ["int64[:, ::1]", "int64[:, ::1]", "int64[::1]"]
    entry = compiled(double, f"int64({', '.join([*tables, *types_, *names])})", gathers=True)
    count, first = len(kinds), 2 + 3 * len(kinds)
    counted = arrays[1].reshape(-1)
    steps = np.array([[store.load(STEP).step.address, 0]] * 5, np.int64)
    slots = np.array([[3, 8], [0, 3]], np.int64)  # the second number of the second array; 3
    room = np.zeros(first + 10 + len(slots), np.int64)
    assert entry(steps, slots, room, *arrays, *[number.item() for number in numbers]) == 1
    assert counted.tolist() == [0, 3, 0, 0]  # the third step declined, and the others did not run
    assert room[0] == 0
    assert room.ctypes.data + 8 * first <= room[1] < room.ctypes.data + 8 * first + 64
    assert room[1] % 64 == 0
    assert room[2 : 2 + count].tolist() == [a.ctypes.data for a in arrays]
    places = [room.ctypes.data + 8 * (2 + 2 * count + n) for n in range(count)]
    assert room[2 + count : 2 + 2 * count].tolist() == places
    for n, number in enumerate(numbers):
        assert room[2 + 2 * count + n :].tobytes()[: number.itemsize] == number.tobytes()
    slots[1, 1] = 100
    assert entry(steps, slots, room, *arrays, *[number.item() for number in numbers]) == 0
    assert counted[1] == 8
    for wrong in (arrays[0].astype(np.float64), arrays[0][:1][::-1][:0].reshape(0, 1), [1.0]):
        with pytest.raises(TypeError):
            entry(steps, slots, room, wrong, *arrays[1:], *[number.item() for number in numbers])


def test_what_calls_an_unknown_function_is_not_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(native.Unloadable, match="nowhere"):
        native.functions([native.Piece("loop", "loop_of_nowhere", ["nowhere_to_be_found"], b"")])
    monkeypatch.setattr(native, "address_of", lambda name: 0)
    source = store.Source(double, "loop", "void(float64[::1])", {})
    run, x = store.machine_code("unknown", lambda: [source], kept=False)["loop"], np.ones(2)
    assert not isinstance(run, types.BuiltinFunctionType)  # Numba calls it
    run(x)
    np.testing.assert_array_equal(x, [2, 2])


@pytest.mark.parametrize("place", [0, 1, 70, 80, -1])
def test_a_file_with_any_byte_changed_is_not_loaded(place: int) -> None:
    pieces = [
        native.Piece("one", "one_1", ["sin"], bytes(100)),
        native.Piece("two", "two_2", [], b"more", python=False),
    ]
    data = bytearray(native.packed(pieces))
    assert native.unpacked(bytes(data)) == pieces
    data[place] ^= 1
    with pytest.raises(native.Unloadable):
        native.unpacked(bytes(data))


PROGRAM = """
import sys
import numpy as np
import autodiff_lab as lab
x = lab.constant(np.linspace(-2, 2, 30, dtype="float32").reshape(3, 10))
labels = lab.constant([1, 2, 3])

@lab.function
def step(x, labels):
    with lab.GradientTape() as tape:
        tape.watch(x)
        y = lab.tanh(x) * lab.exp(x)
        loss = lab.reduce_sum(lab.nn.sparse_softmax_cross_entropy_with_logits(labels, y))
    return tape.gradient(loss, x)

@lab.function
def scalars(a):
    for _ in range(50):
        a = a + lab.sin(a) * 0.1
    return a

found = [step(x, labels) for _ in range(2)][1].numpy().sum(), scalars(lab.constant(1.0)).numpy()
print(*found, len(step.kernels), len(scalars.kernels), step.skipped, scalars.skipped, end=" ")
print("+".join(name for name in ("autodiff_lab.kernels.lowering.objects", "numba") if name in sys.modules) or "neither")
"""


def run(folder: Path, prelude: str = "") -> list[str]:
    """Run the program with a cache folder; give what it printed."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(prelude) + PROGRAM], capture_output=True, text=True, check=True,
        env=os.environ | {"AUTODIFF_LAB_CACHE": str(folder)},
    )  # fmt: skip
    return done.stdout.rsplit(maxsplit=1)


def test_the_second_process_imports_no_compiler_and_finds_the_same(tmp_path: Path) -> None:
    first, second = run(tmp_path), run(tmp_path)
    assert (first[1], second[1]) == ("autodiff_lab.kernels.lowering.objects", "neither")
    assert first[0] == second[0]
    assert {path.suffix for path in tmp_path.iterdir()} <= {".code", ".json"}


@pytest.mark.slow
def test_where_arrays_lie_otherwise_numba_does_the_work(tmp_path: Path) -> None:
    unknown = """
    from autodiff_lab.kernels.base import native
    native._layout_is_known = lambda: False
    """
    plain = run(tmp_path / "plain")
    for _ in range(2):
        told = run(tmp_path / "numba", unknown)
        assert told[0] == plain[0]
        assert told[1].endswith("numba")
    assert any(path.suffix == ".nbc" for path in (tmp_path / "numba").iterdir())


def test_no_module_of_loops_needs_numba_to_be_imported() -> None:
    names = [
        ".".join(["autodiff_lab", *path.relative_to(PACKAGE).with_suffix("").parts])
        for path in [*PACKAGE.glob("kernels/*/numba*.py"), *PACKAGE.glob("kernels/maths/*.py")]
        if not path.stem.startswith(("cuda", "__init__"))
    ]
    assert len(names) > 12
    code = f"import sys\nsys.modules['numba'] = None\nfor name in {names}: __import__(name)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_functions_outlive_the_module_that_loaded_them() -> None:
    """At the end of the interpreter modules are emptied in any order, and functions read their definitions after it."""
    code = textwrap.dedent("""
        import gc
        import numpy as np
        from autodiff_lab.kernels.base import native
        from autodiff_lab.kernels.softmax.numba import _softmax

        run = _softmax[np.dtype(np.float32)]
        vars(native).clear()
        gc.collect()
        filled = [bytearray(size) for size in range(1, 200) for _ in range(50)]
        print(type(run).__name__, run.__name__)
    """)
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=300)
    assert (ran.returncode, ran.stdout) == (0, "builtin_function_or_method loop\n"), ran.stderr
