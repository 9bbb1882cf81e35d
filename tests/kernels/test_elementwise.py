"""Elementwise kernels as one loop: they agree with NumPy's, forward and backward, and run only where they should."""

import os
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab.engine import chains
from autodiff_lab.engine.op import REGISTRY
from autodiff_lab.kernels.base import choose, compiler, elementwise
from autodiff_lab.kernels.base.elementwise import LOOPS, Chain, Elementwise, in_one_pass
from tests.kernels.agreement import layouts
from tests.ops.samples import ops_of_the_catalogue

pytest.importorskip("numba", reason="loops need Numba")

ODD = [0, -0.0, 1, -1, 0.5, -0.5, 2, -2, np.inf, -np.inf, np.nan, 3, -3, 6, 1e-3, 1e-30, 88.5, -87.4, 95, -95, -120,
       700, -700, 1e4, -1e-5]  # fmt: skip
ULP = 12
"""Of results that functions make: those of the loop are within 5, NumPy's and SciPy's have errors too."""
CANCELLING = {"tanh_shrink", "sigmoid_cross_entropy", "gelu_tanh", "gelu", "normal_cdf", "mish", "xlogy", "xlog1py",
              "lgamma", "digamma", "trigamma"}  # fmt: skip
"""Ops that end in a difference or whose tails are products of large numbers: compared with an absolute tolerance."""
TAILS = {"erfc", "normal_cdf", "gelu", "digamma", "lgamma", "trigamma"}
"""Ops whose NumPy kernel rounds the argument of an exponential or a tangent, which costs it as many ulp."""
STEEP = {"erfcinv", "ndtri"}
"""Ops whose slope grows as e^(y²): it has the error of the result y many times over."""
NAMES = sorted(
    name for name in ops_of_the_catalogue() if REGISTRY[name].elementwise and chains.chain_of_op(REGISTRY[name])
    and REGISTRY[name].dtypes in {"floating", "same"} and "(" in str(REGISTRY[name].expression)
)  # fmt: skip


def numbers(dtype: str) -> np.ndarray[Any, Any]:
    """Odd numbers, and ordinary ones of both signs."""
    ordinary = np.random.default_rng(0).standard_normal(300) * 3
    return np.concatenate([ODD, ordinary]).astype(dtype)


def operands(name: str, dtype: str) -> list[np.ndarray[Any, Any]]:
    x = numbers(dtype)
    return [x, np.roll(x, 7)][: REGISTRY[name].arity or 1]


def in_mode(mode: str, name: str, arrays: list[Any]) -> tuple[Any, list[Any]]:
    """Give the value of an op and its gradients, with a cotangent that is not constant."""
    xs = [lab.constant(a) for a in arrays]
    cotangent = lab.constant(np.linspace(-1, 2, arrays[0].size).astype(arrays[0].dtype).reshape(arrays[0].shape))
    with lab.use_kernels(mode):
        with lab.GradientTape() as tape:
            tape.watch(xs)
            y = REGISTRY[name].apply(*xs)
        if REGISTRY[name].rules is None:
            return y.numpy(), []
        grads = tape.gradient(y, xs, output_gradients=cotangent)
        return y.numpy(), [g.numpy() for g in grads if g is not None]


def agree(name: str, ours: Any, reference: Any, slope: bool = False) -> None:
    """Compare; slopes take 1 - y of results that are near 1, so their errors are those of y."""
    assert (ours.dtype, ours.shape) == (reference.dtype, reference.shape), name
    eps, tiny = np.finfo(ours.dtype).eps, np.finfo(ours.dtype).tiny
    within = 40 * eps if name in CANCELLING else 8 * eps if slope else 4 * tiny
    rounds = 400 if name in STEEP and slope else 60 if name in TAILS else ULP
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(ours, reference, rtol=rounds * eps, atol=within, err_msg=name)


@pytest.mark.slow(keep=40)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", NAMES)
def test_loops_agree_with_numpy(name: str, dtype: str) -> None:
    arrays = operands(name, dtype)
    (value, grads), (wanted, wanted_grads) = (in_mode(mode, name, arrays) for mode in ("numba", "numpy"))
    agree(name, value, wanted)
    assert len(grads) == len(wanted_grads)
    for ours, theirs in zip(grads, wanted_grads, strict=True):
        agree(name, ours, theirs, slope=True)


def test_the_ops_that_numpy_has_no_function_for_are_loops() -> None:
    wanted = {
        "sigmoid", "softplus", "silu", "gelu", "gelu_tanh", "elu", "selu", "erf", "erfc", "softsign", "mish",
        "sigmoid_cross_entropy", "log_sigmoid", "relu", "relu6", "hard_sigmoid", "hard_silu", "hard_tanh",
        "hard_shrink", "soft_shrink", "leaky_relu", "clip", "sign", "xlogy", "divide_no_nan",
    }  # fmt: skip
    slow = {"exp", "log1p", "sin", "tanh", "asin", "atan2", "cosh", "atanh"}  # without vectors on some processors
    assert wanted | slow <= set(LOOPS)
    assert not {"add", "multiply", "square", "sqrt", "abs", "maximum"} & set(LOOPS), "NumPy is as fast with these"


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", ["sin", "cos", "tan"])
def test_an_array_with_a_far_angle_is_the_reference_s(name: str, dtype: str) -> None:
    """In all of its elements, and in the rule, whichever of the threads meets it."""
    near = np.linspace(-3, 3, 200_000).astype(dtype)
    function = getattr(lab, name)
    for x in (near, np.append(near[:-1], near.dtype.type(1e12))):
        with lab.use_kernels("numpy"):
            wanted, slopes = _value_and_slope(function, x)
        with lab.use_kernels("numba"):
            found, ours = _value_and_slope(function, x)
        exact = x is not near
        np.testing.assert_allclose(found, wanted, rtol=0 if exact else 2e-5, atol=0 if exact else 1e-6)
        np.testing.assert_allclose(ours, slopes, rtol=0 if exact else 2e-5, atol=0 if exact else 1e-6)


def _value_and_slope(function: Any, array: Any) -> Any:
    x = lab.constant(array)
    with lab.GradientTape() as tape:
        tape.watch(x)
        y = function(x)
    return y.numpy(), tape.gradient(y, x).numpy()


@pytest.mark.parametrize("name", ["silu", "relu", "sigmoid_cross_entropy"])
def test_every_layout(name: str) -> None:
    base = np.random.default_rng(1).standard_normal((9, 40)).astype(np.float32)
    kernel = REGISTRY[name].kernel
    rest = [base[::-1].copy()] * ((REGISTRY[name].arity or 1) - 1)
    for what, array in layouts(base):
        with lab.use_kernels("numpy"):
            wanted = kernel(array, *rest)
        with lab.use_kernels("numba"):
            np.testing.assert_allclose(kernel(array, *rest), wanted, rtol=2e-6, atol=1e-6, err_msg=what)


def test_broadcasting_half_floats_integers_and_single_numbers_are_the_reference() -> None:
    kernel = REGISTRY["sigmoid_cross_entropy"].kernel
    x = np.linspace(-2, 2, 200, dtype=np.float32)
    with lab.use_kernels("numba"):
        for other in (x[:1], np.float32(0.5)):
            assert kernel(x, other).shape == x.shape
        assert kernel(x[:, None], x).shape == (200, 200)
        assert lab.sigmoid(lab.cast(x, "float16")).dtype == lab.float16
        assert lab.sigmoid(0.0).numpy() == 0.5
        with pytest.raises(lab.errors.InvalidArgumentError):
            lab.sigmoid(lab.constant(np.arange(200)))


def test_the_gradient_of_a_sum_is_one_number_for_the_loop() -> None:
    x = lab.constant(np.linspace(-3, 3, 500, dtype=np.float32))

    def slope() -> Any:
        with lab.GradientTape() as tape:
            tape.watch(x)
            loss = lab.reduce_sum(lab.nn.silu(x))
        return tape.gradient(loss, x).numpy()

    with lab.use_kernels("numpy"):
        wanted = slope()
    with lab.use_kernels("numba"):
        np.testing.assert_allclose(slope(), wanted, rtol=1e-5, atol=1e-6)
    assert "fsa" in LOOPS["silu, rule 0"].loops


def test_stacked_cotangents_and_second_order_agree() -> None:
    x = lab.constant(np.linspace(-2, 2, 100))
    found = {}
    for mode in ("numpy", "numba"):
        with lab.use_kernels(mode):
            with lab.GradientTape(persistent=True) as outer:
                outer.watch(x)
                with lab.GradientTape() as inner:
                    inner.watch(x)
                    y = lab.nn.gelu(x) * lab.sigmoid(x)
                slope = inner.gradient(y, x)
            found[mode] = (outer.gradient(slope, x).numpy(), outer.jacobian(slope, x).numpy())
    for ours, theirs in zip(found["numba"], found["numpy"], strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-11, atol=1e-13)


def test_a_recording_shows_the_ops_of_the_rule() -> None:
    with lab.use_kernels("numba"):
        x = lab.constant(np.linspace(-2, 2, 100))
        with lab.record() as recording:
            with lab.GradientTape() as tape:
                tape.watch(x)
                y = lab.tanh(x)
            tape.gradient(y, x)
    assert "tanh: %0 += " in recording.to_text(lines=False)


def test_a_rule_that_is_replaced_is_the_one_that_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    x = lab.constant(np.linspace(-2, 2, 100))
    with lab.use_kernels("numba"):
        monkeypatch.setattr(REGISTRY["sigmoid"], "rules", (lambda ops, g, out, x: g * 7.0,))
        with lab.GradientTape() as tape:
            tape.watch(x)
            y = lab.sigmoid(x)
        assert set(tape.gradient(y, x).numpy()) == {7.0}


@pytest.fixture
def doubled(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> Any:
    """A kernel that doubles, in mode auto, with an empty cache."""
    monkeypatch.setitem(choose._state, "mode", "auto")
    monkeypatch.setenv("AUTODIFF_LAB_CACHE", str(tmp_path))
    monkeypatch.setattr(elementwise, "LOOPS", dict(LOOPS))
    return in_one_pass("doubled", lambda x: x + x, lambda: Chain(("r = v0 + v0",), "r"), 1)


def test_a_loop_is_asked_for_once_when_numpy_has_worked_enough(doubled: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    monkeypatch.setattr(elementwise, "ask", asked.append)
    monkeypatch.setattr(elementwise, "active", lambda: False)
    monkeypatch.setattr(elementwise, "WORTH_A_LOOK", 1 << 62)
    large = np.ones(elementwise.WORTH_COMPILING // 4, np.float32)
    for _ in range(3):
        doubled(large)
    for _ in range(5000):
        doubled(large[: elementwise.COUNTED - 1])  # small arrays do not justify compiling
    assert asked == []
    for _ in range(4):
        doubled(large)
    assert len(asked) == 1
    asked[0]()
    assert list(elementwise.LOOPS["doubled"].loops) == ["f"]
    assert (doubled(large) == 2).all()


def test_a_loop_that_is_kept_is_loaded_once_the_background_runs(doubled: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    monkeypatch.setattr(elementwise, "ask", asked.append)
    monkeypatch.setattr(elementwise, "active", lambda: True)
    kernel, few = elementwise.LOOPS["doubled"], np.ones(elementwise.COUNTED, np.float32)
    for _ in range(3):
        doubled(few)
    assert len(asked) == 1
    asked[0]()
    assert not kernel.loops  # nothing is kept yet, and a look compiles nothing
    kernel.prepare("f")
    kernel.loops.pop("f")
    asked[0]()
    assert list(kernel.loops) == ["f"]


def test_a_loop_that_is_kept_starts_the_background_later(doubled: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    monkeypatch.setattr(elementwise, "ask", asked.append)
    monkeypatch.setattr(elementwise, "active", lambda: False)
    part = np.ones(elementwise.WORTH_A_LOOK // 4, np.float32)
    for calls in range(1, 9):
        doubled(part)
        assert len(asked) == (calls >= 4)
    asked[0]()
    assert not elementwise.LOOPS["doubled"].loops


def test_a_loop_that_cannot_be_compiled_leaves_the_work_to_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(elementwise, "LOOPS", {})
    kernel = Elementwise("odd", np.positive, lambda: Chain(("r = no_such_function(v0)",), "r"))
    with lab.use_kernels("numba"):
        assert kernel.fast((np.ones(100, np.float32),)) is None
    assert "no_such_function" in kernel.failures["f"]


def test_mode_numpy_compiles_nothing(doubled: Any) -> None:
    with lab.use_kernels("numpy"):
        for _ in range(9):
            doubled(np.ones(elementwise.WORTH_COMPILING, np.float32))
        compiler.wait()
    assert not elementwise.LOOPS["doubled"].loops


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_counts_again(doubled: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = elementwise.LOOPS["doubled"]
    monkeypatch.setattr(elementwise, "ask", lambda job: None)
    doubled(np.ones(elementwise.WORTH_COMPILING, np.float32))
    assert kernel._work
    child = os.fork()
    if child == 0:
        os._exit(1 if kernel._work else 0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_a_rule_that_asks_for_more_than_arithmetic_has_no_chain() -> None:
    rules: list[Any] = [
        lambda ops, g, out, x: g * x if x > 0 else g + x * x,
        lambda ops, g, out, x: g * x.sum() * x,
        lambda ops, g, out, x: ops.sum(g * x * x, axes=(0,), keepdims=False),
        lambda ops, g, out, x: g * x,
        lambda ops, g, out, x: g * np.float64(2) * x,
    ]
    assert [chains.chain_of_rule(rule, 1) for rule in rules] == [None] * len(rules)


def test_a_sweep_asks_for_loops_of_large_cotangents_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    rule: Any = REGISTRY["tanh"].rules[0]  # type: ignore[index]
    met: list[int] = []

    def run(ops: Any, g: Any, out: Any, x: Any) -> Any:
        met.append(g.size)
        return rule(ops, g, out, x)

    run.fewest = 500  # type: ignore[attr-defined]
    monkeypatch.setitem(chains.FASTER, rule, run)
    for mode, wanted in (("auto", [900]), ("numba", [100, 900])):
        met.clear()
        for size in (10, 100, 900):
            x = lab.constant(np.ones(size, np.float32))
            with lab.use_kernels(mode), lab.GradientTape() as tape:
                tape.watch(x)
                y = lab.tanh(x)
            with lab.use_kernels(mode):
                tape.gradient(y, x)
        assert met == wanted


def test_arrays_too_small_for_any_loop_are_refused_at_a_glance(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = elementwise.Elementwise("glanced at", np.tanh, lambda: None)
    monkeypatch.setitem(elementwise.IN_USE, "mode", "auto")
    monkeypatch.setattr(elementwise, "_arranged", lambda arrays: pytest.fail("looked at the arrays"))
    kernel.least[np.dtype(np.float32)] = 5000
    small = np.ones(4096, np.float32)
    assert kernel.fast((small, small)) is None
    del elementwise.LOOPS["glanced at"]


@pytest.mark.parametrize("name", ["exp", "sin", "sigmoid", "atan2"])
def test_an_op_whose_loop_is_there_can_be_compiled(name: str) -> None:
    """What a loop holds must not look to `lab.function` like state of the user's."""
    kernel: Any = REGISTRY[name].apply
    given = [lab.constant(np.linspace(0.1, 0.9, 300, dtype=np.float32))] * (REGISTRY[name].arity or 1)
    with lab.use_kernels("numba"):
        kernel(*given)
    with lab.use_kernels("auto"):
        kernel(*given)
        made = lab.function(lambda *xs: kernel(*xs) * 2.0)
        made.compile(*given)
        made(*given)
    assert LOOPS[name].least
    assert made.fallbacks == 0
