"""Random tensors: distributions, seeds, generators, gradients through scales and shifts, refusals."""

from typing import Any

import numpy as np
import pytest
import scipy.stats

import autodiff_lab as lab
from autodiff_lab.ops import random_drawing
from tests.refusals import refused

random, errors = lab.random, lab.errors
MANY = (20000,)


def follows(values: Any, distribution: Any) -> None:
    """Hold a sample against a distribution: Kolmogorov and Smirnov's distance, far beyond what chance would give."""
    distance = scipy.stats.kstest(np.asarray(values, np.float64), distribution.cdf).statistic
    assert distance < 2.5 / np.sqrt(len(values))


GENERATOR = random.Generator.from_seed(11)
CONTINUOUS: dict[str, tuple[Any, Any]] = {
    "normal": (lambda: random.normal(MANY, 1.0, 2.0), scipy.stats.norm(1, 2)),
    "truncated": (lambda: random.truncated_normal(MANY, 1.0, 2.0), scipy.stats.truncnorm(-2, 2, 1, 2)),
    "uniform": (lambda: random.uniform(MANY, -1.0, 3.0), scipy.stats.uniform(-1, 4)),
    "gamma": (lambda: random.gamma(MANY, 2.5, 0.5), scipy.stats.gamma(2.5, scale=2)),
    "stateless normal": (lambda: random.stateless_normal(MANY, (1, 2), 1.0, 2.0), scipy.stats.norm(1, 2)),
    "stateless truncated": (lambda: random.stateless_truncated_normal(MANY, (1, 2)), scipy.stats.truncnorm(-2, 2)),
    "stateless bounded": (
        lambda: random.stateless_parameterized_truncated_normal(MANY, (1, 2), 1.0, 2.0, 0.0, 2.0),
        scipy.stats.truncnorm(-0.5, 0.5, 1, 2),
    ),
    "stateless uniform": (lambda: random.stateless_uniform(MANY, (1, 2), 2.0, 3.0), scipy.stats.uniform(2, 1)),
    "stateless gamma": (lambda: random.stateless_gamma(MANY, (1, 2), 2.0), scipy.stats.gamma(2)),
    "generator's normal": (lambda: GENERATOR.normal(MANY), scipy.stats.norm()),
    "generator's truncated": (lambda: GENERATOR.truncated_normal(MANY), scipy.stats.truncnorm(-2, 2)),
    "generator's uniform": (lambda: GENERATOR.uniform(MANY), scipy.stats.uniform()),
}


@pytest.mark.parametrize("name", CONTINUOUS)
def test_numbers_follow_their_distribution(name: str) -> None:
    random.set_seed(7)
    draw, distribution = CONTINUOUS[name]
    follows(draw().numpy(), distribution)


def test_counts_and_classes_come_as_often_as_they_should() -> None:
    random.set_seed(1)
    counts = np.bincount(random.poisson(MANY, 2.0, dtype="int32").numpy(), minlength=12)[:6] / MANY[0]
    np.testing.assert_allclose(counts, scipy.stats.poisson(2).pmf(np.arange(6)), atol=0.015)
    classes = random.categorical(np.log([[0.2, 0.3, 0.5], [1e-9, 1.0, 1e-9]]), MANY[0]).numpy()
    np.testing.assert_allclose(np.bincount(classes[0]) / MANY[0], [0.2, 0.3, 0.5], atol=0.015)
    assert set(classes[1]) == {1}
    heads = random.Generator.from_seed(2).binomial(MANY, 10, 0.3).numpy()
    assert abs(heads.mean() - 3) < 0.05
    assert (heads.min(), heads.dtype) >= (0, np.int32)


def test_whole_numbers_cover_their_range_and_no_more() -> None:
    for drawn in (
        random.uniform((1000,), -2, 3, lab.int32),
        random.stateless_uniform((1000,), (1, 2), -2, 3, lab.int32),
        random.Generator.from_seed(1).uniform((1000,), -2, 3, lab.int32),
    ):
        assert set(drawn.numpy().tolist()) == {-2, -1, 0, 1, 2}
    assert len(set(random.Generator.from_seed(1).uniform_full_int((9,), lab.uint8).numpy().tolist())) > 3


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_the_upper_end_is_never_reached_whatever_the_dtype(dtype: str) -> None:
    drawn = random.uniform((100000,), 0.0, 1.0, dtype)
    assert drawn.dtype == dtype
    assert np.all(drawn.numpy() < 1)
    assert np.all(drawn.numpy() >= 0)


class NearlyOne:
    """A source whose numbers are the largest below 1, which float32 rounds to 1."""

    def random(self, shape: tuple[int, ...]) -> Any:
        return np.full(shape, np.nextafter(1.0, 0.0))


@pytest.mark.parametrize("bounds", [(0, None), (0.0, 1.0), (-1.0, 1.0)])
def test_a_number_that_rounding_made_the_upper_end_is_the_one_before_it(bounds: tuple[float, float | None]) -> None:
    drawn = random_drawing.draw_uniform(NearlyOne(), (3,), *bounds, "float32", "uniform").numpy()  # type: ignore[arg-type]
    assert drawn.tolist() == [float(np.nextafter(np.float32(1), np.float32(0)))] * 3


def test_the_global_seed_repeats_everything_that_follows() -> None:
    def several() -> list[Any]:
        random.set_seed(1234)
        return [
            random.normal((3,)),
            random.uniform((3,), seed=5),
            random.uniform((3,), seed=5),
            random.gamma((2,), 1.0),
        ]

    first, again = several(), several()
    for a, b in zip(first, again, strict=True):
        np.testing.assert_array_equal(a, b)
    assert np.any(first[1].numpy() != first[2].numpy()), "an op with a seed draws further numbers"


def test_a_stateless_function_hangs_on_its_seed_alone() -> None:
    random.set_seed(1)
    first = random.stateless_normal((4,), (1, 2))
    random.set_seed(2)
    random.normal((3,))
    np.testing.assert_array_equal(first, random.stateless_normal((4,), lab.constant([1, 2])))
    assert np.all(first.numpy() != random.stateless_normal((4,), (2, 1)).numpy())
    np.testing.assert_array_equal(
        random.stateless_categorical([[0.0, 0.0]], 9, (3, -4)), random.stateless_categorical([[0.0, 0.0]], 9, (3, -4))
    )


def test_a_generator_goes_on_from_its_state_and_its_parts_differ() -> None:
    one = random.Generator.from_seed(3)
    one.normal((5,))
    state = one.state
    expected = one.normal((4,)).numpy()
    np.testing.assert_array_equal(random.Generator.from_state(state).normal((4,)), expected)
    one.reset(state)
    np.testing.assert_array_equal(one.normal((4,)), expected)
    one.reset_from_seed(3)
    first, second = one.split(2)
    assert np.all(first.normal((5,)).numpy() != second.normal((5,)).numpy())
    assert one.make_seeds(3).shape == (2, 3)
    free = [random.Generator.from_non_deterministic_state().normal((5,)).numpy() for _ in range(2)]
    assert np.all(free[0] != free[1])


def test_a_shuffled_tensor_has_the_same_rows_and_passes_gradients_back() -> None:
    x = lab.Variable(np.arange(12.0).reshape(6, 2))
    with lab.GradientTape() as tape:
        y = random.shuffle(x)
        loss = lab.reduce_sum(y * y)
    np.testing.assert_array_equal(np.sort(y.numpy(), 0), x)
    np.testing.assert_array_equal(lab.convert_to_tensor(tape.gradient(loss, x)), 2 * x.numpy())
    orders = {tuple(random.stateless_shuffle(lab.range(5), (i, 0)).numpy()) for i in range(20)}
    assert len(orders) > 10


def test_gradients_reach_the_parameters_that_scale_and_shift() -> None:
    mean, deviation = lab.Variable([1.0, 2.0]), lab.Variable([0.5, 2.0])
    with lab.GradientTape() as tape:
        drawn = random.stateless_normal((3, 2), (1, 2), mean, deviation)
    noise = random.stateless_normal((3, 2), (1, 2)).numpy()
    by_mean, by_deviation = tape.gradient(drawn, [mean, deviation])
    np.testing.assert_allclose(by_mean, [3.0, 3.0])
    np.testing.assert_allclose(by_deviation, noise.sum(0), 1e-6)
    low = lab.Variable(1.0)
    with lab.GradientTape() as tape:
        drawn = random.uniform((5,), low, 3.0)
    np.testing.assert_allclose(tape.gradient(drawn, low), 5 - np.sum((drawn.numpy() - 1) / 2), 1e-5)
    rate = lab.Variable([2.0])
    with lab.GradientTape() as tape:
        drawn = random.gamma((4,), 1.5, rate)
    np.testing.assert_allclose(tape.gradient(drawn, rate), [-drawn.numpy().sum() / 2], 1e-5)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_gradients_reach_the_order_of_gamma_numbers(dtype: str) -> None:
    """Those of SciPy's quantiles, by central differences, from both tails; the numbers are what a seed gives."""
    orders = np.array([0.05, 0.7, 3.0, 40.0], dtype)
    alpha, rate = lab.Variable(orders), lab.Variable(2.0, dtype=dtype)
    random.set_seed(5)
    with lab.GradientTape(persistent=True) as tape:
        drawn = random.gamma((60,), alpha, rate, dtype)
        total = lab.reduce_sum(drawn)
    random.set_seed(5)
    plain = random.gamma((60,), orders, 2.0, dtype).numpy().astype(np.float64)
    close = 1e-5 if dtype == "float32" else 1e-11
    np.testing.assert_allclose(drawn, plain, close)
    below, above = scipy.stats.gamma.cdf(2 * plain, orders), scipy.stats.gamma.sf(2 * plain, orders)

    def quantiles(a: Any) -> Any:
        return np.where(below < 0.5, scipy.stats.gamma.ppf(below, a), scipy.stats.gamma.isf(above, a)) / 2

    step = 1e-5 * orders.astype(np.float64)
    rough = (quantiles(orders + step) - quantiles(orders - step)) / (2 * step)
    np.testing.assert_allclose(tape.gradient(total, alpha), rough.sum(0), 1e-5)
    np.testing.assert_allclose(tape.gradient(total, rate), -plain.sum() / 2, 1e-5)


@pytest.mark.parametrize("high", [2.0, float("inf")])
def test_gradients_reach_all_parameters_of_truncated_numbers(high: float) -> None:
    """Those of SciPy's quantiles, by central differences; an end at infinity has none."""
    at = np.array([0.3, 1.2, -1.0, high])
    given = [lab.Variable(value, dtype="float64") for value in at]
    with lab.GradientTape() as tape:
        drawn = random.stateless_parameterized_truncated_normal((7,), (1, 2), *given)
    plain = random.stateless_parameterized_truncated_normal((7,), (1, 2), *at).numpy()
    np.testing.assert_allclose(drawn, plain, 1e-12)

    def ends(mean: float, deviation: float, low: float, top: float) -> tuple[float, ...]:
        return (low - mean) / deviation, (top - mean) / deviation, mean, deviation

    shares = scipy.stats.truncnorm.cdf(plain, *ends(*at))

    def moved(place: int, by: float) -> float:
        return scipy.stats.truncnorm.ppf(shares, *ends(*(at + by * (np.arange(4) == place)))).sum()

    for place, got in enumerate(tape.gradient(drawn, given)):
        rough = (moved(place, 1e-5) - moved(place, -1e-5)) / 2e-5 if np.isfinite(at[place]) else 0.0
        np.testing.assert_allclose(got, rough, 1e-6)


REFUSALS: dict[str, tuple[Any, str]] = {
    "whole numbers without an end": (lambda: random.uniform((2,), dtype="int32"), "an integer dtype requires maxval"),
    "an end below the beginning": (lambda: random.uniform((2,), 3, 3, "int32"), "minval 3 must be below maxval 3"),
    "numbers beyond the dtype": (lambda: random.uniform((2,), 0, 1000, "int8"), "within int8"),
    "normal whole numbers": (lambda: random.normal((2,), dtype="int32"), "normal: dtype must be floating"),
    "a mean of another shape": (lambda: random.normal((2,), [1.0, 2.0, 3.0]), r"normal.*\(3,\)"),
    "a deviation that broadcasts beyond": (lambda: random.normal((2,), 0.0, lab.ones((3, 2))), r"normal.*\(3, 2\)"),
    "a mean that is text": (lambda: random.normal((2,), "a"), "normal: parameters must be numbers"),
    "a shape below 0": (lambda: random.normal((-1,)), "must not be negative"),
    "one number as seed": (lambda: random.stateless_normal((2,), 1), "stateless_normal: seed must be two integers"),
    "a seed with a point": (lambda: random.set_seed(1.5), "set_seed"),
    "a seed below 0": (lambda: random.normal((2,), seed=-1), "non-negative"),
    "a shape parameter of 0": (lambda: random.gamma((2,), 0.0), "gamma: alpha must be positive"),
    "a rate below 0": (lambda: random.poisson((2,), -1.0), "poisson: rates"),
    "logits of one row": (lambda: random.categorical([0.0, 1.0], 2), r"expected logits \(batch, classes\)"),
    "logits of whole numbers": (lambda: random.categorical([[0, 1]], 2), "categorical: logits must be floating"),
    "two numbers of samples": (lambda: random.categorical([[0.0, 1.0]], [2, 3]), "num_samples must be an integer"),
    "alpha and beta that do not fit": (
        lambda: random.gamma((), lab.ones([2, 3]), lab.ones([2, 2])), r"\(2, 3\) and \(2, 2\) do not broadcast",
    ),
    "a number to shuffle": (lambda: random.shuffle(1.0), "shuffle"),
    "a state of another length": (lambda: random.Generator.from_state([1, 2]), "13 integers"),
    "a share beyond 1": (lambda: random.Generator.from_seed(1).binomial((2,), 3, 1.5), "between 0 and 1"),
    "bounds the wrong way round": (
        lambda: random.stateless_parameterized_truncated_normal((2,), (1, 2), 0.0, 1.0, 1.0, 0.0), "minvals",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSALS)
def test_what_does_not_fit_is_refused_by_name(name: str) -> None:
    call, words = REFUSALS[name]
    with refused(errors.InvalidArgumentError, words):
        call()


def test_what_tensors_scale_or_weigh_is_drawn_in_every_call_of_a_program() -> None:
    logits, means = lab.Variable([[0.1, 2.0, 0.3], [1.0, 0.0, 1.0]]), lab.Variable([1.0, 2.0, 3.0])
    deviation = lab.Variable(0.5)

    def draw() -> list[Any]:
        with lab.GradientTape() as tape:
            drawn = [
                lab.random.normal([4, 3], mean=means, stddev=deviation),
                lab.random.uniform([3], means, means + 2.0),
                lab.random.uniform([3], maxval=deviation),
                lab.random.truncated_normal([2, 3], means, deviation),
            ]
            loss = lab.add_n([lab.reduce_sum(one**2) for one in drawn])
        classes = [lab.random.categorical(logits, 5), lab.random.categorical(logits, 2, dtype="int32")]
        return [*drawn, *classes, *tape.gradient(loss, [means, deviation])]

    compiled = lab.function(draw)
    for seed in range(4):
        lab.random.set_seed(seed)
        wanted = draw()
        lab.random.set_seed(seed)
        for one, other in zip(compiled(), wanted, strict=True):
            assert one.dtype == other.dtype
            np.testing.assert_allclose(one.numpy(), other.numpy(), 1e-5)
        means.assign_add([1.0, 0.5, -0.5])
        logits.assign(-logits)
    assert compiled.fallbacks == 0
    with pytest.raises(lab.errors.ShapeMismatch, match="normal: the parameters broadcast"):
        lab.function(lambda m: lab.random.normal([2], mean=m))(lab.zeros([3, 2]))
