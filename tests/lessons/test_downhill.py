"""Lesson 12: golf is played by the rule of its factors, in a page without a kernel too, and bad valleys are refused."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from traitlets import TraitError

import autodiff_lab as lab
from autodiff_lab import lessons
from autodiff_lab.errors import InvalidArgumentError, LabError, NotCallable


def test_the_strokes_of_the_lesson() -> None:
    """Each fixed length with the number of strokes that it needs; from 0.2 on the ball never arrives."""
    green = lessons.golf().green
    needed = {0.05: 173, 0.1: 85, 0.15: 55, 2 / 11: 45, 0.19: 74, 0.2: None, 0.21: None}
    assert {h: green.count(h) for h in needed} == needed
    assert min(count for h in np.arange(0.01, 0.2, 0.001) if (count := green.count(float(h)))) == 45
    assert green.height(green.path([0.2] * 200)[-1]) == pytest.approx(5)
    assert green.height(green.path([0.21] * 200)[-1]) == pytest.approx(1.8e17, rel=0.05)
    assert [green.height(place) for place in green.path([1.0, 0.1])] == [55.0, 405.0, 0.0]
    away, downhill = np.array([-10.0, -1.0]), np.array([-10.0, -10.0])
    cosine = away @ downhill / np.linalg.norm(away) / np.linalg.norm(downhill)
    assert np.degrees(np.arccos(cosine)) == pytest.approx(39.3, abs=0.05)


def test_a_game_counts_keeps_its_best_and_ends_in_the_hole() -> None:
    game = lessons.golf()
    for h in (0.1, 0.05, 0.9):
        game.play(h)
    assert not game.is_over
    game.strokes = [0.1, 1.0]
    assert (game.is_over, game.best) == (True, 2)
    game.play(0.3)
    assert game.strokes == [0.1, 1.0]
    game.strokes = []
    assert (game.is_over, game.best) == (False, 2)


@pytest.mark.parametrize("bad", [np.nan, np.inf, "long", None, True])
def test_a_stroke_is_a_finite_number(bad: Any) -> None:
    game = lessons.golf()
    with pytest.raises(InvalidArgumentError, match="a stroke is a finite number"):
        game.play(bad)
    with pytest.raises((TraitError, TypeError, ValueError)):
        game.strokes = [0.1, bad, "x"]
    assert game.strokes == []


def test_every_dealt_valley_can_be_holed_in_two() -> None:
    for seed in range(40):
        game = lessons.deal_valley(seed)
        low, high = game.green.curvatures
        game.strokes = [1 / high, 1 / low]
        assert game.is_over
        assert game.green.count(1 / high) != 1


def test_any_quadratic_with_a_lowest_point_is_a_valley() -> None:
    game = lessons.golf(lambda p: (p[0] - 1) ** 2 + p[0] * p[1] + 3 * p[1] ** 2 + 7, start=(4, 2))
    slope = lab.gradient(lambda p: (p[0] - 1) ** 2 + p[0] * p[1] + 3 * p[1] ** 2)(
        lab.constant(game.green.hole, dtype=lab.float64)
    )
    np.testing.assert_allclose(slope.numpy(), 0, atol=1e-9)
    game.strokes = [1 / k for k in game.green.curvatures]
    assert game.is_over


@pytest.mark.filterwarnings("ignore:The derivative of")
@pytest.mark.parametrize(
    ("f", "words"),
    [
        (3, "expected a function"),
        (lambda p: None, "returned None"),
        (lambda p: "low", "returned text"),
        (lambda p: p, "must return one number"),
        (lambda p: p[0] ** 3 + p[1] ** 2, "quadratics with one lowest point"),
        (lambda p: p[0] * p[1], "quadratics with one lowest point"),
        (lambda p: p[0] * np.nan, "quadratics with one lowest point"),
        (lambda p: 1 / 0, "division by zero"),
    ],
)
def test_what_is_no_valley_is_refused(f: Any, words: str) -> None:
    with pytest.raises((InvalidArgumentError, NotCallable), match=words):
        lessons.golf(f)


@pytest.mark.parametrize("start", [None, "tee", (1, 2, 3), (np.nan, 0)])
def test_a_start_is_two_finite_numbers(start: Any) -> None:
    with pytest.raises(LabError, match=r"two (finite )?numbers"):
        lessons.golf(start=start)


def test_the_page_of_a_game_needs_no_kernel(tmp_path: Path) -> None:
    game = lessons.golf(name="<b>hill</b>")
    game.play(0.1)
    text = game.to_html(tmp_path / "golf.html").read_text(encoding="utf-8")
    assert len(text.encode()) < 160_000
    assert "<b>hill" not in text
    assert "stroke 1: 0.1 to (9, 0), f = 40.5" in text


def deep(activation: str) -> lessons.Health:
    images, labels, _, _ = lessons.digits()
    lab.random.set_seed(0)
    layers = [lab.layers.Dense(32, activation=activation) for _ in range(10)]
    return lessons.health(lab.keras.Sequential([*layers, lab.layers.Dense(10)]), (images[:256], labels[:256]))


def test_ten_sigmoids_let_a_millionth_through_and_tanh_most_of_it() -> None:
    sigmoids, tanhs = (list(deep(name).gradients.values()) for name in ("sigmoid", "tanh"))
    assert len(sigmoids) == 11
    assert 3e5 < sigmoids[-1] / sigmoids[0] < 3e6
    assert sorted(sigmoids) == sigmoids
    assert 0.5 < tanhs[-1] / tanhs[0] < 2


def test_health_is_that_of_a_tape_and_names_what_is_dead() -> None:
    images, labels, _, _ = lessons.digits()
    hidden = lab.layers.Dense(32, activation="relu", bias_initializer=lab.initializers.Constant(-50.0))
    model = lab.keras.Sequential([hidden, lab.layers.Dense(10)])
    found = lessons.health(model, (images[:64], labels[:64]))
    with lab.GradientTape() as tape:
        logits = model(lab.constant(images[:64]))
        loss = lab.reduce_mean(lab.nn.sparse_softmax_cross_entropy_with_logits(labels=labels[:64], logits=logits))
    norms = [float(lab.norm(gradient)) for gradient in tape.gradient(loss, model.trainable_variables)[::2]]
    assert list(found.gradients.values()) == pytest.approx(norms)
    assert norms[0] == 0
    assert "32 of 32 units dead" in found.account()
    assert "all 32 units are 0 for every example" in found.account()
    assert found.picture().startswith("<svg")


@pytest.mark.parametrize(
    ("model", "batch", "words"),
    [
        (3, ([[1.0]], [0]), "expected a model, got int"),
        (lambda x: x, ([[1.0]], [0]), "expected a model, a layer or variables"),
        (lab.layers.Dense(3), None, "inputs and labels as a pair"),
        (lab.layers.Dense(3), ([[1.0]], "a"), "labels must be integers"),
    ],
)
def test_health_refuses_what_is_no_model_or_no_batch(model: Any, batch: Any, words: str) -> None:
    with pytest.raises(LabError, match=words):
        lessons.health(model, batch)


def test_a_loss_of_health_is_one_number() -> None:
    with pytest.raises(InvalidArgumentError, match="one number"):
        lessons.health(lab.layers.Dense(3), ([[1.0]], [0]), loss=lambda labels, logits: logits)


def test_the_recipes_of_the_lesson_die_and_one_line_revives_them() -> None:
    from autodiff_lab.lessons.reviving import BURNT, FROZEN

    for recipe in (BURNT, FROZEN):
        assert lessons.train_digits(**recipe).alive < 0.2 * 32
        assert lessons.train_digits(**recipe).accuracy < 0.3
    for changed in ({**BURNT, "step": 0.5}, {**FROZEN, "bias": 0.0}, {**FROZEN, "activation": lab.nn.leaky_relu}):
        revived = lessons.train_digits(**changed)
        assert revived.alive >= 0.8 * 32
        assert revived.accuracy > 0.87


def test_the_figures_of_the_rule() -> None:
    assert f"{0.25**10:.1e} {1.1**100:,.0f} {0.9**100:.1e}" == "9.5e-07 13,781 2.7e-05"
    assert 6 * np.exp(-18) == pytest.approx(9.1e-8, rel=0.01)
    z, slope = 0.0, 1.0
    for _ in range(10):
        z = 1 / (1 + np.exp(-z))
        slope *= z * (1 - z)
    assert slope == pytest.approx(3.9e-7, rel=0.02)


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("elsewhere", [None, float("inf")])
def test_a_distance_that_is_right_but_for_its_sign_is_told_so(sign: float, elsewhere: float | None) -> None:
    def distance(slope: float, curvature: float) -> float:
        step = sign * slope / curvature
        return step if curvature > 0 or elsewhere is None else elsewhere

    found = lessons.check("12.6", distance)
    assert not found.passed
    assert found.message.startswith("The number is right but for its sign")
    assert "abs()" in found.next_hint
