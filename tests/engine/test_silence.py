"""Values follow IEEE 754 silently: no exception, no warning, and NumPy's settings are left to the user."""

import subprocess
import sys
import warnings

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab.engine import silence
from autodiff_lab.engine.op import REGISTRY
from tests.ops.samples import samples

PROGRAM = """
import autodiff_lab as lab
import numpy as np
{before}
x = lab.constant([-1.0, 0.0, 3e38, float("nan"), float("inf")])
v = lab.Variable(3e38)
with lab.GradientTape(persistent=True) as tape:
    tape.watch(x)
    values = [lab.math.log(x), 1.0 / x, x * 10.0, lab.exp(x), lab.sqrt(x), x % 0.0, x / (x - x), lab.reduce_mean(x),
              lab.nn.softmax(x), lab.reduce_max(x), lab.reduce_sum(x), lab.nn.softplus(x), lab.math.log1p(x), x ** 0.5,
              lab.asin(x), lab.math.rsqrt(x), lab.cast(x, lab.float16), lab.constant(1e300), x * 1e300,
              lab.linalg.matvec([[1.0] * 5], x), lab.nn.softmax_cross_entropy(logits=[x], labels=[0])]
    scalar = lab.constant(0.0)
    values += [1.0 / scalar, lab.math.log(scalar - 1.0), lab.constant(3e38) * 10.0, lab.constant(1.0) // 0.0]
v.assign_add(3e38)
gradients = [tape.gradient(value, x) for value in values]
print(float(values[0][0]), float(values[1][1]), float(values[2][2]), v.numpy(), float(values[-3]), float(values[17]))
{after}
"""


def run(before: str = "", after: str = "", *options: str) -> subprocess.CompletedProcess[str]:
    code = PROGRAM.format(before=before, after=after)
    return subprocess.run([sys.executable, *options, "-c", code], capture_output=True, text=True, check=False)


@pytest.mark.slow(keep=1)
@pytest.mark.parametrize(
    ("before", "options"),
    [
        ("", ()),
        ("", ("-W", "default")),
        ("", ("-W", "error")),
        ("import warnings; warnings.simplefilter('error')", ()),
        ("np.seterr(all='raise')", ()),
    ],
)
def test_a_fresh_process_prints_nothing_about_nan_and_infinity(before: str, options: tuple[str, ...]) -> None:
    done = run(before, "", *options)
    assert done.stderr == ""
    assert done.stdout.split() == ["nan", "inf", "inf", "inf", "nan", "inf"]


def test_numpy_still_warns_about_the_users_own_code() -> None:
    done = run(after="assert np.geterr()['divide'] == 'warn'; np.float32(1) / np.float32(0)")
    assert "divide by zero" in done.stderr
    assert '"<string>"' in done.stderr or "<string>" in done.stderr


def test_the_engine_leaves_numpys_settings_alone() -> None:
    before = np.geterr()
    x = lab.Variable(0.0)
    with lab.GradientTape() as tape:
        y = 1.0 / x
    tape.gradient(y, x)
    assert np.geterr() == before


AWKWARD = [np.nan, np.inf, -np.inf, 0.0, -0.0, 3e38, -3e38, 1e-40, -1.0]


@pytest.mark.slow(keep=80)
@pytest.mark.parametrize("name", [n for n in sorted(REGISTRY) if REGISTRY[n].rules != "unregistered"])
def test_no_op_warns_whatever_the_numbers(name: str) -> None:
    """With the filter that the package sets, and every warning shown: none is left over, forward and backward."""
    for sample in samples(name):
        if not any(np.asarray(x).dtype.kind == "f" for x in sample.inputs):
            return
        rng = np.random.default_rng(0)
        inputs = [rng.choice(AWKWARD, np.shape(x)) if np.asarray(x).dtype.kind == "f" else x for x in sample.inputs]
        tensors = [lab.constant(np.asarray(x, np.float32) if np.asarray(x).dtype.kind == "f" else x) for x in inputs]
        sources = [tensors[k] for k in sample.differentiable]
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            warnings.filterwarnings(
                "ignore",
                message="(divide by zero|overflow|underflow|invalid value) encountered",
                category=RuntimeWarning,
                module=r"autodiff_lab\.",
            )
            try:
                with lab.GradientTape() as tape:
                    tape.watch(sources)
                    out = sample(*tensors)
                tape.gradient(out, sources)
            except lab.errors.InvalidArgumentError:
                continue  # a decomposition of such a matrix may be refused, in our words
        assert not caught, [str(w.message) + w.filename for w in caught]


NOT_A_NUMBER_STAYS = [n for n in sorted(REGISTRY) if REGISTRY[n].elementwise and REGISTRY[n].rules is not None]
FLAT = {"below", "not_below", "not_zero", "positive", "log_where_positive", "reciprocal_where_positive"}


@pytest.mark.parametrize("name", [n for n in NOT_A_NUMBER_STAYS if n not in FLAT])
def test_nan_goes_in_and_nan_comes_out(name: str) -> None:
    op = REGISTRY[name]
    sample = next(iter(samples(name)))
    for k in range(op.arity or 1):
        inputs = [lab.constant(np.float32(np.nan if i == k else 1.5)) for i in range(op.arity or 1)]
        if name == "pow" and k == 1:
            inputs[0] = lab.constant(2.5)
        assert np.isnan(float(sample(*inputs)))


def test_ties_share_the_gradient_of_a_maximum_and_go_to_the_first_of_two() -> None:
    x = lab.constant([1.0, 3.0, 3.0])
    y = lab.constant(3.0)
    with lab.GradientTape(persistent=True) as tape:
        tape.watch([x, y])
        largest, both, least = lab.reduce_max(x), lab.maximum(x, y), lab.minimum(x, y)
    assert tape.gradient(largest, x).numpy().tolist() == [0.0, 0.5, 0.5]
    by_x, by_y = tape.gradient(both, [x, y])
    assert (by_x.numpy().tolist(), float(by_y)) == ([0.0, 1.0, 1.0], 1.0)
    by_x, by_y = tape.gradient(least, [x, y])
    assert (by_x.numpy().tolist(), float(by_y)) == ([1.0, 1.0, 1.0], 0.0)


@pytest.mark.parametrize(
    ("function", "at", "expected"),
    [
        (lab.nn.relu, 0.0, 0.0),
        (lab.abs, 0.0, 0.0),
        (lab.sqrt, 0.0, np.inf),
        (lambda x: x**0.0, 0.0, 0.0),
        (lambda x: x**1.0, 0.0, 1.0),
        (lambda x: lab.pow(0.0, x), 2.0, 0.0),
        (lab.math.log, 0.0, np.inf),
        (lambda x: lab.where(x > 0.0, lab.sqrt(x), 0.0), 0.0, np.nan),
    ],
)
def test_slopes_at_the_edge_of_a_domain(function: object, at: float, expected: float) -> None:
    x = lab.constant(at)
    with lab.GradientTape() as tape:
        tape.watch(x)
        y = function(x)
    np.testing.assert_equal(float(tape.gradient(y, x)), expected)


def test_every_derivative_of_a_power_of_whole_order_exists_at_zero() -> None:
    x = lab.constant(0.0)

    def derivative(function: object, order: int) -> object:
        if order == 0:
            return function(x)
        with lab.GradientTape() as tape:
            tape.watch(x)
            y = derivative(function, order - 1)
        return tape.gradient(y, x)

    found = [float(derivative(lambda t: t**3.0, order)) for order in range(5)]
    assert found == [0.0, 0.0, 0.0, 6.0, 0.0]


@pytest.mark.parametrize("known", [True, False])
def test_a_quiet_call_leaves_numpys_settings_as_they_were(known: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where NumPy keeps its settings elsewhere than expected, `numpy.errstate` does the same."""
    if known:
        assert silence._SILENCE is not None, "NumPy keeps its settings in another place: calls are slower now"
    else:
        monkeypatch.setattr(silence, "_SILENCE", None)

    def divided(x: float, by: float, then: type[Exception] | None = None) -> float:
        value = np.float64(x) / np.float64(by)
        if then is not None:
            raise then
        return value

    with np.errstate(divide="raise", over="warn", invalid="print"):
        before = np.geterr()
        assert silence.quietly(divided, 1.0, by=0.0) == np.inf
        assert np.geterr() == before
        with pytest.raises(LookupError):
            silence.quietly(divided, 1.0, 0.0, then=LookupError)
        assert np.geterr() == before
        with pytest.raises(FloatingPointError):
            divided(1.0, 0.0)
