"""`watch_training`: what it measures is right, it disturbs nothing, it stays cheap, and bad input loses nothing."""

import math
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab.draw.training import Parameter, Sample, Units, account, heights, norms, suspects, thinned
from autodiff_lab.exploring.training import TrainingWatch

LAYERS = lab.keras.layers
X = np.random.default_rng(0).standard_normal((32, 4)).astype(np.float32)
Y = X.sum(axis=1, keepdims=True)


def made(*layers: Any, seed: int = 3) -> Any:
    lab.random.set_seed(seed)
    model = lab.Sequential([*(layers or (LAYERS.Dense(8, activation="relu"),)), LAYERS.Dense(1)])
    model.build((None, 4))
    return model


def trained(model: Any, steps: int, watch: TrainingWatch | None = None, rate: float = 0.05) -> list[Any]:
    """Train as a user would; return the gradients of every step."""
    optimizer, seen = lab.optimizers.SGD(rate), []
    for _ in range(steps):
        with lab.GradientTape() as tape:
            loss = lab.reduce_mean((model(X) - Y) ** 2)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        seen.append([g.numpy() for g in gradients])
        if watch is not None:
            watch.step(loss)
    return seen


def test_norms_are_those_of_the_gradients_the_weights_and_the_changes() -> None:
    model = made()
    before = [v.numpy() for v in model.trainable_variables]
    with lab.watch_training(model, every=1) as watch:
        gradients = trained(model, 3, watch)
    assert [sample.step for sample in watch.samples] == [1, 3]  # the second is timed plainly
    first = watch.samples[0]
    assert [p.name for p in first.parameters] == [v.name.removesuffix(":0") for v in model.trainable_variables]
    for parameter, weight, gradient in zip(first.parameters, before, gradients[0], strict=True):
        assert parameter.weight == pytest.approx(np.linalg.norm(weight))
        assert parameter.gradient == pytest.approx(np.linalg.norm(gradient), rel=1e-6)
        if parameter.weight:
            change = 0.05 * np.linalg.norm(gradient) / np.linalg.norm(weight)
            assert parameter.change == pytest.approx(change, rel=1e-4)


def test_watching_changes_no_number() -> None:
    plain, watched = made(), made()
    trained(plain, 12)
    with lab.watch_training(watched, every=3) as watch:
        trained(watched, 12, watch)
    for one, other in zip(plain.trainable_variables, watched.trainable_variables, strict=True):
        np.testing.assert_array_equal(one.numpy(), other.numpy())
    assert len(watch.losses) == 12


def test_dead_units_are_counted_for_the_whole_batch() -> None:
    model = made()
    kernel, bias = model.layers[0].trainable_variables
    kernel.assign(lab.zeros_like(kernel))
    bias.assign([-1.0, -1.0, -1.0, 1.0, 1.0, 1.0, 1.0, 1.0])
    with lab.watch_training(model, every=1) as watch:
        trained(model, 1, watch, rate=0.0)
    (units,) = watch.samples[0].units
    assert (units.count, units.dead) == (8, 3)


def test_fit_takes_it_as_a_callback() -> None:
    model = made()
    model.compile("sgd", "mse")
    watch = lab.watch_training(every=2)
    history = model.fit(X, Y, epochs=3, batch_size=8, verbose=0, callbacks=[watch])
    assert len(watch.losses) == 12 == watch.steps
    assert watch.samples[0].parameters[0].gradient
    assert history.history["loss"]


def test_the_recording_of_a_step_can_be_stepped_through() -> None:
    model = made()
    with lab.watch_training(model, every=1) as watch:
        trained(model, 9, watch)
    recording = watch.recording()
    assert recording.title == f"step {watch.recorded[-1]}"
    assert len(recording.sweeps) == 1
    assert "loss" in recording.to_text()  # the user's names
    assert len(watch.recorded) <= 5
    with pytest.raises(lab.errors.NotInRecording, match=r"Step 2 is not among .*: .*\. Try watch_training"):
        watch.recording(2)


def test_the_first_step_that_went_wrong_is_kept() -> None:
    model = made()
    with lab.watch_training(model, every=1) as watch:
        trained(model, 4, watch)
        model.trainable_variables[0].assign(lab.fill(model.trainable_variables[0].shape, math.nan))
        trained(model, 30, watch)
    wrong = next(step for step, loss in enumerate(watch.losses, 1) if math.isnan(loss))
    assert wrong == 5
    assert watch.recording().title in ("step 5", "step 6")
    assert suspects(watch.samples[-1])[0].name == "loss"


def test_a_block_that_raises_ends_cleanly() -> None:
    model = made()
    watch = lab.watch_training(model)

    def interrupted() -> None:
        with watch:
            trained(model, 1, watch)
            raise RuntimeError("mine")

    with pytest.raises(RuntimeError, match="mine"):
        interrupted()
    seen: list[Any] = []
    with lab.events.observing(seen.append):
        lab.exp(lab.constant(1.0))
    assert len(watch.samples) == 1
    assert lab.events.listener.sinks_now() == ()


def test_an_outer_recording_sees_the_same_as_without() -> None:
    def ops(watching: bool) -> int:
        model = made()
        with lab.record() as recording:
            if watching:
                with lab.watch_training(model, every=1) as watch:
                    trained(model, 1, watch)
            else:
                trained(model, 1)
        return len(recording.applications)

    assert ops(True) == ops(False)


@pytest.mark.parametrize(
    "loss",
    ["1", None, [1.0, 2.0], np.zeros((2, 2)), 1j, object()],
    ids=["str", "None", "list", "array", "complex", "object"],
)
def test_a_loss_is_one_number(loss: Any) -> None:
    with lab.watch_training([lab.Variable(1.0)]) as watch:
        with pytest.raises(lab.errors.InvalidArgumentError, match="the loss must be one number"):
            watch.step(loss)
        watch.step(lab.constant([[2.0]]))
        watch.step(np.float32(1.0))
        watch.step(3)
    assert watch.losses == [2.0, 1.0, 3.0]


@pytest.mark.parametrize("model", [3, "model", [1.0], [], made, lab.constant(1.0)], ids=range(6))
def test_what_has_no_variables_is_refused(model: Any) -> None:
    with pytest.raises(lab.errors.InvalidArgumentError, match="expected a model, a layer or variables"):
        lab.watch_training(model)


@pytest.mark.parametrize("every", [0, -1, 1.5, "10", True, None])
def test_the_interval_is_a_positive_integer(every: Any) -> None:
    with pytest.raises(lab.errors.InvalidArgumentError, match="every must be a positive integer"):
        lab.watch_training([lab.Variable(1.0)], every=every)


def test_observing_becomes_rare_where_it_is_dear(
    monkeypatch: pytest.MonkeyPatch, figure: Callable[[str, str], None]
) -> None:
    """With a clock of our own: a plain step takes 1 s, an observed one 6 s."""
    watch = lab.watch_training([lab.Variable(1.0)], every=10)
    now = [0.0]
    monkeypatch.setattr(time, "perf_counter", lambda: now[0])
    with watch:
        for _ in range(400):
            now[0] += 6.0 if watch._block is not None else 1.0
            watch.step(1.0)
    extra = 5 * len(watch.samples) / 400
    figure("watching a training whose observed steps take six times as long", f"{100 * extra:.0f} % more time")
    assert 0.05 < extra < 0.13  # the first one is observed before anything is known


def test_suspects_come_in_the_order_of_their_weight() -> None:
    rows = (
        Parameter("a", 1.0, 1e-9, 1e-9), Parameter("b", 1.0, None), Parameter("c", 1.0, math.nan),
        Parameter("d", 1.0, 0.0), Parameter("e", 1.0, 1.0, 0.5), Parameter("f", 1.0, 1.0, 0.01),
        Parameter("g", 1e-3, 1.0, 0.5),
        Parameter("h", 1.0, 1e-8, 1e-9), Parameter("i", math.inf, 1.0),
    )  # fmt: skip
    found = suspects(Sample(1, math.nan, rows, (Units("u", 4, 4), Units("v", 4, 3), Units("w", 4, 2))))
    assert [suspect.name for suspect in found if not suspect.words.startswith("it changes by only")] == [
        "loss", "i", "c", "u", "b", "d", "a and 1 more", "v", "e",
    ]  # fmt: skip
    assert not suspects(Sample(1, 1.0, rows[5:7], (Units("w", 4, 2),)))


def test_axes_hold_what_is_drawn_and_are_some_where_nothing_is() -> None:
    flat = heights([2.0, 2.0])
    assert flat.lo < 2 < flat.hi
    assert not flat.log
    wide = heights([100.0, 1.0, math.nan])
    assert wide.log
    assert 0 < wide.lo < 1
    assert wide.hi > 100
    assert heights([]).hi > heights([math.inf]).lo
    axis = norms([Sample(1, 1.0, (Parameter("a", 5.0, 1e-6), Parameter("b", 200.0), Parameter("c", 0.0, math.nan)))])
    assert (axis.lo, axis.hi, axis.log) == (1e-6, 1e3, True)
    assert norms([]).hi > norms([]).lo
    assert norms([Sample(1, 1.0, (Parameter("a", 1.0, 1.0),))]).hi > 1


@pytest.mark.parametrize("losses", [[], [1.0], [1.0] * 1000, [math.nan] * 1000, [math.inf, *range(5000)]], ids=len)
def test_thinned_losses_keep_ends_and_extremes(losses: Sequence[float]) -> None:
    steps, values = thinned(losses)
    assert len(steps) == len(values) <= 420
    assert all(values[i] == losses[step - 1] or math.isnan(values[i]) for i, step in enumerate(steps))
    finite = [loss for loss in losses if math.isfinite(loss)]
    if finite:
        assert min(finite) in values
        assert max(finite) in values
    if losses:
        assert (steps[0], steps[-1]) == (1, len(losses))
    assert account(losses, None)


def test_the_view_holds_no_more_than_it_shows() -> None:
    pytest.importorskip("anywidget", reason="anywidget is not installed")
    import json

    from autodiff_lab.widgets.training import TrainingView

    rows = tuple(Parameter(f"layer_{n}/kernel", 1.0, 0.1, 0.001) for n in range(1000))
    samples = [Sample(step, 1.0, rows) for step in range(1, 2000, 10)]
    view = TrainingView()
    view.tell([math.inf, *np.ones(100_000)], samples, (1, 11), steps=100_000, left=3700.0)
    facts: dict[str, Any] = view.facts or {}
    assert len(json.dumps(facts, allow_nan=False)) < 1_500_000
    assert len(facts["samples"]) <= 60
    assert facts["samples"][-1]["step"] == samples[-1].step
    assert facts["samples"][-1]["more"] == 800
    assert "1 h 1 min left" in facts["status"]
    assert (view.picture() or "").startswith("<svg")
    assert "observed" not in view.account()
