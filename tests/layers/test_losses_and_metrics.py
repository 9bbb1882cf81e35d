"""Losses and metrics against formulas in NumPy; different shapes are refused."""

import math
from typing import Any

import numpy as np
import pytest
import scipy.special

import autodiff_lab as lab

losses, metrics = lab.losses, lab.metrics
RNG = np.random.default_rng(0)
T, P = RNG.uniform(0.1, 0.9, (4, 3)), RNG.uniform(0.1, 0.9, (4, 3))
YES = RNG.integers(0, 2, (4, 3)).astype(float)
SHARES = RNG.dirichlet(np.ones(3), 4)
LOGITS = RNG.normal(size=(4, 3))
NUMBERS = np.array([0, 2, 1, 1])


def yes_no(t: Any, p: Any) -> Any:
    return -(t * np.log(p) + (1 - t) * np.log(1 - p)).mean()


def share_loss(t: Any, p: Any) -> Any:
    return -(t * np.log(p / p.sum(-1, keepdims=True))).sum(-1).mean()


TABLE: dict[str, tuple[Any, Any, Any, Any]] = {
    "squares": (losses.MeanSquaredError(), T, P, lambda t, p: ((t - p) ** 2).mean()),
    "absolute": (losses.MeanAbsoluteError(), T, P, lambda t, p: np.abs(t - p).mean()),
    "percentage": (losses.MeanAbsolutePercentageError(), T, P, lambda t, p: 100 * (np.abs(t - p) / t).mean()),
    "logarithms": (losses.MeanSquaredLogarithmicError(), T, P, lambda t, p: (np.log((1 + t) / (1 + p)) ** 2).mean()),
    "huber": (
        losses.Huber(0.2), T, P,
        lambda t, p: np.where(np.abs(t - p) < 0.2, (t - p) ** 2 / 2, 0.2 * (np.abs(t - p) - 0.1)).mean(),
    ),
    "log cosh": (losses.LogCosh(), T, 4 * P, lambda t, p: np.log(np.cosh(p - t)).mean()),
    "hinge": (losses.Hinge(), YES, LOGITS, lambda t, p: np.maximum(1 - (2 * t - 1) * p, 0).mean()),
    "squared hinge": (losses.SquaredHinge(), 2 * YES - 1, LOGITS, lambda t, p: (np.maximum(1 - t * p, 0) ** 2).mean()),
    "poisson": (losses.Poisson(), T, P, lambda t, p: (p - t * np.log(p)).mean()),
    "divergence": (losses.KLDivergence(), T, P, lambda t, p: (t * np.log(t / p)).sum(-1).mean()),
    "cosine": (
        losses.CosineSimilarity(), T, P,
        lambda t, p: -((t * p).sum(-1) / np.linalg.norm(t, axis=-1) / np.linalg.norm(p, axis=-1)).mean(),
    ),
    "yes and no": (losses.BinaryCrossentropy(), YES, P, yes_no),
    "yes and no, logits": (
        losses.BinaryCrossentropy(from_logits=True), YES, LOGITS, lambda t, x: yes_no(t, scipy.special.expit(x)),
    ),
    "yes and no, smoothed": (
        losses.BinaryCrossentropy(label_smoothing=0.2), YES, P, lambda t, p: yes_no(0.8 * t + 0.1, p),
    ),
    "shares": (losses.CategoricalCrossentropy(), SHARES, P, share_loss),
    "shares, logits": (
        losses.CategoricalCrossentropy(from_logits=True), SHARES, LOGITS,
        lambda t, x: share_loss(t, scipy.special.softmax(x, -1)),
    ),
    "shares, smoothed": (
        losses.CategoricalCrossentropy(label_smoothing=0.3), SHARES, P, lambda t, p: share_loss(0.7 * t + 0.1, p),
    ),
    "classes": (losses.SparseCategoricalCrossentropy(), NUMBERS, P, lambda t, p: share_loss(np.eye(3)[t], p)),
    "classes, logits": (
        losses.SparseCategoricalCrossentropy(from_logits=True), NUMBERS, LOGITS,
        lambda t, x: share_loss(np.eye(3)[t], scipy.special.softmax(x, -1)),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", TABLE)
def test_a_loss_has_the_value_of_its_formula(name: str) -> None:
    loss, t, p, expected = TABLE[name]
    np.testing.assert_allclose(loss(t, p), expected(t, p), 1e-6)


@pytest.mark.parametrize("name", TABLE)
def test_its_gradient_by_the_predictions_agrees_with_differences(name: str) -> None:
    loss, t, p, _ = TABLE[name]
    check = lab.testing.check_gradient(lambda x: loss(t, x), p)
    assert check, str(check)


def test_every_public_loss_is_in_the_table() -> None:
    assert {type(loss).__name__ for loss, *_ in TABLE.values()} == {
        name for name in losses.__all__ if isinstance(getattr(losses, name), type)
    } - {"Loss"}


def test_examples_weigh_as_they_are_told_and_the_losses_can_be_added_up_or_left_apart() -> None:
    each = ((T - P) ** 2).mean(-1)
    weights = np.array([1.0, 0.0, 2.0, 0.5])
    np.testing.assert_allclose(losses.MeanSquaredError()(T, P, weights), (each * weights).mean(), 1e-6)
    np.testing.assert_allclose(losses.MeanSquaredError(reduction="sum")(T, P), each.sum(), 1e-6)
    np.testing.assert_allclose(losses.MeanSquaredError(reduction="none")(T, P), each, 1e-6)
    with pytest.raises(lab.errors.InvalidArgumentError, match="reduction 'total'"):
        losses.MeanSquaredError(reduction="total")


def test_a_last_axis_of_one_may_be_missing_and_other_shapes_are_refused() -> None:
    """Four predictions in a column and four labels in a row would broadcast to sixteen differences."""
    loss = losses.MeanSquaredError()
    np.testing.assert_allclose(loss([1.0, 2.0], [[1.0], [4.0]]), 2.0)
    np.testing.assert_allclose(loss([[1.0], [2.0]], [1.0, 4.0]), 2.0)
    with pytest.raises(lab.errors.ShapeMismatch, match=r"equal shape, got \(3,\) and \(2,\)"):
        loss([1.0, 2.0, 3.0], [1.0, 2.0])
    with pytest.raises(lab.errors.ShapeMismatch, match=r"got \(4, 3\) and \(4,\)"):
        loss(T, P[:, 0].copy())


def test_the_difference_itself_broadcasts_as_arrays_do() -> None:
    """A column less a row is a matrix; a network that does so trains on all pairs, and that is not mended here."""
    prediction, label = lab.Variable(np.zeros((4, 1), np.float32)), lab.constant([0.0, 1.0, 1.0, 0.0])
    with lab.GradientTape() as tape:
        loss = lab.reduce_mean((prediction - label) ** 2)
    assert (prediction - label).shape == (4, 4)
    np.testing.assert_allclose(tape.gradient(loss, prediction), np.full((4, 1), -0.25), 1e-6)


def test_cross_entropy_of_zero_logits_is_the_logarithm_of_the_number_of_classes() -> None:
    logits = lab.Variable(np.zeros((10, 10), np.float32))
    with lab.GradientTape() as tape:
        loss = lab.nn.softmax_cross_entropy(logits=logits, labels=lab.range(0, 10, 1))
    np.testing.assert_allclose(loss, np.log(10), 1e-6)
    np.testing.assert_allclose(tape.gradient(loss, logits), (0.1 - np.eye(10)) / 10, 1e-6)


def test_probabilities_of_zero_give_a_finite_loss_and_gradient() -> None:
    for loss, t in ((losses.BinaryCrossentropy(), [[1.0, 0.0]]), (losses.CategoricalCrossentropy(), [[1.0, 0.0]])):
        p = lab.Variable([[0.0, 1.0]])
        with lab.GradientTape() as tape:
            value = loss(t, p)
        assert np.isfinite(float(value))
        assert np.all(np.isfinite(tape.gradient(value, p)))


METRICS: dict[str, tuple[Any, list[tuple[Any, Any]], float]] = {
    "accuracy": (metrics.Accuracy, [([1, 2, 3], [1, 2, 4]), ([1], [1])], 0.75),
    "classes": (metrics.SparseCategoricalAccuracy, [([0, 1], [[0.9, 0.1], [0.8, 0.2]]), ([[1]], [[0.0, 1.0]])], 2 / 3),
    "shares": (metrics.CategoricalAccuracy, [([[1, 0], [0, 1]], [[0.9, 0.1], [0.8, 0.2]])], 0.5),
    "yes and no": (metrics.BinaryAccuracy, [([1.0, 0.0, 1.0], [0.9, 0.6, 0.4])], 1 / 3),
    "squares": (metrics.MeanSquaredError, [([0.0, 0.0], [3.0, 1.0])], 5.0),
    "root": (metrics.RootMeanSquaredError, [([0.0], [3.0]), ([0.0], [4.0])], 12.5**0.5),
    "absolute": (metrics.MeanAbsoluteError, [([0.0, 0.0], [-3.0, 1.0])], 2.0),
}


@pytest.mark.parametrize("name", METRICS)
def test_a_metric_gathers_over_batches_and_forgets(name: str) -> None:
    cls, batches, expected = METRICS[name]
    metric = cls()
    for t, p in batches:
        metric.update_state(t, p)
    np.testing.assert_allclose(metric.result(), expected, 1e-6)
    metric.reset_state()
    assert float(metric.result()) == 0.0


def test_means_and_sums_weigh_as_they_are_told() -> None:
    mean, total = metrics.Mean(), metrics.Sum()
    mean.update_state([1.0, 3.0], sample_weight=[3.0, 1.0])
    mean.update_state(2.5)
    assert float(mean.result()) == pytest.approx((3 + 3 + 2.5) / 5)
    total.update_state([1.0, 3.0])
    assert float(total(2.0)) == 6.0


def test_a_metric_refuses_other_shapes() -> None:
    with pytest.raises(lab.errors.ShapeMismatch, match=r"equal shape, got \(2,\) and \(3,\)"):
        metrics.Accuracy()([1, 2], [1, 2, 3])
    with pytest.raises(lab.errors.ShapeMismatch, match="one more axis"):
        metrics.SparseCategoricalAccuracy()([1, 2], [1, 2])


WEIGHTS: dict[str, Any] = {
    "one": 2.0, "rows": [1.0, 0.0, 2.0, 1.0], "a column": [[1.0], [0.0], [2.0], [1.0]],
    "elements": np.arange(12.0).reshape(4, 3), "a row for all": [[1.0, 0.0, 2.0]],
}  # fmt: skip
VALUES: dict[str, Any] = {
    "Mean": lambda y, p: p,
    "BinaryAccuracy": lambda y, p: y == (p > 0.5),
    "RootMeanSquaredError": lambda y, p: (y - p) ** 2,
    "MeanSquaredError": lambda y, p: ((y - p) ** 2).mean(-1),
    "MeanAbsoluteError": lambda y, p: abs(y - p).mean(-1),
}


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("name", VALUES)
def test_weights_are_broadcast_over_predictions_of_rank_two(name: str, weights: str) -> None:
    rng = np.random.default_rng(3)
    y, p = rng.integers(0, 2, (4, 3)).astype(np.float32), rng.random((4, 3)).astype(np.float32)
    metric = getattr(metrics, name)()
    update, w, values = (p,) if name == "Mean" else (y, p), np.asarray(WEIGHTS[weights]), VALUES[name](y, p)
    if w.ndim > values.ndim and w.shape[-1] > 1:
        with pytest.raises(lab.errors.ShapeMismatch, match="weights of shape"):
            metric.update_state(*update, sample_weight=w)
        return
    metric.update_state(*update, sample_weight=w)
    values = values[:, None] if values.ndim < w.ndim else values.mean(tuple(range(w.ndim, values.ndim)))
    w = np.broadcast_to(w, values.shape)
    expected = (values * w).sum() / w.sum()
    assert float(metric.result()) == pytest.approx(expected**0.5 if name.startswith("Root") else expected, rel=1e-5)


def test_the_dtype_and_the_name_of_a_metric() -> None:
    assert [cls().name for cls in (metrics.Mean, metrics.BinaryAccuracy)] == ["mean", "binary_accuracy"]
    metric = metrics.BinaryAccuracy("mine", "float64", 0.7)
    assert (metric.name, metric([1.0, 0.0], [0.6, 0.6]).dtype, metric.threshold) == ("mine", lab.float64, 0.7)
    assert float(metric.result()) == 0.5


def test_a_tape_and_a_recording_do_not_hear_of_a_metric_and_a_compiled_function_holds_it() -> None:
    mean, v = metrics.Mean(), lab.Variable(2.0)
    with lab.record() as recording:
        y = v * 3.0
        mean.update_state(y)
        shown = float(mean.result())
    assert shown == 6.0
    assert [a.op for a in recording.applications] == ["multiply"]
    compiled = lab.function(lambda x: mean(x * 2.0))
    assert [float(compiled(lab.constant([x]))) for x in (0.0, 3.0, 3.0)] == [3.0, 4.0, 4.5]
    assert compiled.fallbacks == 0


@pytest.mark.parametrize("name", ["squares", "absolute", "huber", "log cosh", "poisson", "yes and no", "hinge"])
def test_a_mean_over_the_batch_is_one_mean_over_all_elements(name: str) -> None:
    loss, t, p, formula = TABLE[name]
    with lab.record() as recording:
        found = loss(t, lab.constant(p))
    assert [done.op for done in recording.applications].count("mean") == 1
    np.testing.assert_allclose(found, formula(t, p), 1e-5)
    each = type(loss).from_config({**loss.get_config(), "reduction": None})(t, p)
    assert each.shape == (4,)
    np.testing.assert_allclose(lab.reduce_mean(each), found, 1e-6)


@pytest.mark.parametrize("delta", [-1.0, math.nan, "1", None])
def test_a_huber_loss_bends_at_a_distance(delta: Any) -> None:
    with pytest.raises(lab.errors.InvalidArgumentError, match="Huber: delta must be a number, 0 or more"):
        losses.Huber(delta)


def test_a_huber_loss_that_never_bends_is_half_a_square() -> None:
    for f in (losses.huber, lab.function(losses.huber)):
        np.testing.assert_allclose(f(T, P, delta=math.inf), ((T - P) ** 2 / 2).mean(-1), 1e-5)
        np.testing.assert_array_equal(f(T, P, delta=0), [0.0] * len(T))


def test_a_loss_that_says_what_an_example_costs_is_asked() -> None:
    class Worst(losses.MeanSquaredError):
        def each(self, y_true: Any, y_pred: Any) -> Any:
            return lab.reduce_max(self.elements(y_true, y_pred), axis=-1)

    np.testing.assert_allclose(Worst()(T, P), ((T - P) ** 2).max(-1).mean(), 1e-5)
    assert losses.MeanSquaredError()(np.zeros((0, 3)), np.zeros((0, 3))).numpy() == 0.0
    with pytest.raises(lab.errors.InvalidArgumentError, match="axis"):
        losses.BinaryCrossentropy(axis=5)(T, P)
