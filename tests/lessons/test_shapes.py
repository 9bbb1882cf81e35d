"""Lesson 9: sums to a shape against their definition, how many pairs each wrong idea fails, and its regression."""

from pathlib import Path

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab import lessons
from autodiff_lab.errors import InvalidArgumentError, ShapeMismatch
from autodiff_lab.lessons.broadcasting import INPUT, axis_sets, fitting
from autodiff_lab.lessons.misfits import SPREADS, SUMS, slopes_of, spread, summed
from tests.lessons.play import play

FAILED = {
    "KEEPDIMS_LOST": 5510, "BROADCAST_KEPT": 5050, "MEAN_FOR_SUM": 4856, "FIRST_TAKEN": 4856, "LEFT_ALIGNED": 4792,
    "LEADING_ONLY": 4060, "ONE_AXIS": 2642, "ONES_ONLY": 2010, "OUTPUT_SHAPE": 5050, "SUMMED": 6821,
}  # fmt: skip
"""How many of the 6,821 pairs the first wrong function of a code fails."""


def test_a_sum_to_a_shape_is_the_transpose_of_broadcasting() -> None:
    rng = np.random.default_rng(0)
    for result, shape in fitting():
        g, x = rng.normal(size=result), rng.normal(size=shape)
        back = summed(g, shape)
        assert back.shape == shape
        assert np.vdot(g, np.broadcast_to(x, result)) == pytest.approx(np.vdot(back, x))


def test_the_spread_of_a_sum_is_its_transpose() -> None:
    rng = np.random.default_rng(0)
    for axes in axis_sets():
        for keepdims in (False, True):
            x = rng.normal(size=INPUT)
            y = x.sum(axis=axes, keepdims=keepdims)
            g = rng.normal(size=y.shape)
            assert np.vdot(g, y) == pytest.approx(np.vdot(spread(g, INPUT, axes, keepdims), x))


def test_the_engine_sums_to_every_shape_as_the_check_does() -> None:
    rng = np.random.default_rng(0)
    for result, shape in list(fitting())[::29]:
        x, g = lab.Variable(np.zeros(shape)), rng.normal(size=result)
        with lab.GradientTape() as tape:
            y = x + np.zeros(result)
        back = tape.gradient(y, x, output_gradients=lab.constant(g, dtype=lab.float64))
        assert back.shape == shape
        assert np.allclose(back.numpy(), summed(g, shape))


@pytest.mark.parametrize("code", FAILED)
def test_each_wrong_sum_fails_as_many_pairs_as_counted(code: str) -> None:
    wrong = next(way for name, way in SUMS if name == code)
    found = lessons.check_unbroadcast(wrong)
    assert found.code == code
    assert f"wrong for {FAILED[code]:,} of 6,821" in found.message


@pytest.mark.parametrize("number", range(len(SUMS)))
def test_every_wrong_sum_is_told_from_the_others(number: int) -> None:
    code, wrong = SUMS[number]
    assert lessons.check_unbroadcast(wrong).code == code


@pytest.mark.parametrize("number", range(len(SPREADS)))
def test_every_wrong_spread_is_told_from_the_others(number: int) -> None:
    code, wrong = SPREADS[number]
    assert lessons.check_sum_rule(wrong).code == code


def test_what_fails_for_every_pair_shows_no_idea() -> None:
    assert lessons.check_unbroadcast(lambda g, shape: g.sum(axis=17)).code == "RAISES"
    assert lessons.check_sum_rule(lambda g, shape, axes, keepdims: 1 / 0).code == "RAISES"


def test_a_function_that_is_wrong_for_one_shape_only_is_found() -> None:
    def almost(g: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
        return summed(g, shape) * (2.0 if shape == (3, 2, 1, 3) else 1.0)

    found = lessons.check_unbroadcast(almost)
    assert found.code == "OTHER"
    assert "(3, 2, 1, 3)" in found.message


def test_the_figures_of_the_regression_are_right() -> None:
    names = play("09")[""]
    y, train = names["y"], names["train"]
    right, without = train(y[:, None], 1), train(y, 1)
    assert tuple(without["error"].shape) == (100, 100)
    assert [f"{run['losses'][0]:.2f}" for run in (right, without)] == ["155.83", "155.83"]
    assert np.allclose(right["dw"].numpy()[:, 0], [-14.98, -0.82], atol=0.006)
    assert np.allclose(without["dw"].numpy()[:, 0], [1.28, -1.83], atol=0.006)
    right, without = train(y[:, None], 300), train(y, 300)
    assert np.allclose([*right["w"].numpy()[:, 0], right["b"].numpy()], [8.89, -1.83, 9.84], atol=0.006)
    assert np.allclose([*without["w"].numpy()[:, 0], without["b"].numpy()], [0.0, 0.0, y.mean()], atol=1e-3)
    assert right["losses"][-1] == pytest.approx(1.21, abs=0.006)
    assert without["losses"][-1] == pytest.approx(y.var(), rel=1e-4)


def test_the_slopes_of_a_loss_are_those_of_the_tape() -> None:
    rng = np.random.default_rng(0)
    w, b, X, y = rng.normal(size=(2, 1)), np.asarray(0.5), rng.normal(size=(7, 2)), rng.normal(size=7)
    variables = [lab.Variable(each) for each in (w, b)]
    with lab.GradientTape() as tape:
        loss = lab.reduce_mean((lab.constant(X) @ variables[0] + variables[1] - y[:, None]) ** 2.0)
    dw, db = tape.gradient(loss, variables)

    def value(w: np.ndarray, b: np.ndarray, X: np.ndarray, y: np.ndarray) -> float:
        return (((X @ w + b)[:, 0] - y) ** 2).mean()

    assert np.allclose(slopes_of(value, w, b, X, y), [*dw.numpy()[:, 0], db.numpy()])


@pytest.mark.parametrize("shapes", [((3, 1), (1, 4)), ((), (2, 3)), ((4,), (3, 4)), ((2,), (2,)), ((), ())])
def test_a_lens_sums_what_was_stretched(shapes: tuple[tuple[int, ...], tuple[int, ...]]) -> None:
    recording = lessons.shape_lens(*shapes).recording
    (sweep,) = recording.sweeps
    for key, shape in zip(sweep.results, shapes, strict=True):
        back = recording.tensors[key].snapshot.array
        assert np.array_equal(back, summed(np.ones(np.broadcast_shapes(*shapes)), shape))


@pytest.mark.parametrize(
    "bad", [None, "32", 3, (0,), (-1, 2), (True,), (1.5,), (2,) * 9, (1000, 1000, 1000), (float("nan"),), {2, 3}]
)
def test_what_is_not_a_shape_is_refused(bad: object) -> None:
    with pytest.raises(InvalidArgumentError, match=r"tuple of up to|too large"):
        lessons.shape_lens(bad, (1,))  # type: ignore[arg-type]
    with pytest.raises(InvalidArgumentError, match=r"tuple of up to|too large"):
        lessons.check_sums(summed, (1,), bad)  # type: ignore[arg-type]


def test_shapes_that_do_not_fit_or_are_too_many_cells_are_refused() -> None:
    with pytest.raises(ShapeMismatch):
        lessons.shape_lens((3,), (4,))
    with pytest.raises(InvalidArgumentError, match="at most 256"):
        lessons.shape_lens((100, 1), (1, 100))
    with pytest.raises(InvalidArgumentError, match="cannot be stretched"):
        lessons.check_sums(summed, (2,), (3,))


def test_a_drill_deals_ten_pairs_in_each_round_and_some_do_not_fit() -> None:
    drill = lessons.shape_drill(seed=9)
    assert drill.rounds == lessons.shape_drill(seed=np.int64(9)).rounds
    assert drill.rounds != lessons.shape_drill(seed=8).rounds
    for pairs in drill.rounds:
        assert len(pairs) == 10
        fits = [fit(tuple(pair["a"]), tuple(pair["b"])) for pair in pairs]
        assert fits.count(None) == 2
        summed_for = [len(pair[pair["to"]]) < len(result) or 1 in pair[pair["to"]]
                      for pair, result in zip(pairs, fits, strict=True) if result]  # fmt: skip
        assert summed_for.count(False) == 1, "only where both shapes are the same"


def fit(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...] | None:
    try:
        return np.broadcast_shapes(a, b)
    except ValueError:
        return None


@pytest.mark.parametrize("seed", [-1, 1.5, "9", True, float("nan"), [1]])
def test_what_is_not_a_seed_is_refused(seed: object) -> None:
    with pytest.raises(InvalidArgumentError, match="whole number"):
        lessons.shape_drill(seed)  # type: ignore[arg-type]


def test_a_drill_is_a_small_page_without_answers(tmp_path: Path) -> None:
    file = lessons.shape_drill(seed=9).to_html(tmp_path / "shapes.html")
    assert file.stat().st_size < 40_000
    assert "(3, 4, 5)" not in file.read_text(encoding="utf-8"), "the sum of the first pair"


@pytest.mark.parametrize("bad", [{}, {"a": [1.0]}, {"a": None}, {"a": [1.0, float("nan")]}, {"a": "12"},
                                 {name: [1.0, 2.0] for name in "abc"}])  # fmt: skip
def test_losses_that_cannot_be_drawn_are_refused(bad: dict[str, object]) -> None:
    with pytest.raises(InvalidArgumentError):
        lessons.loss_curves(**bad)  # type: ignore[arg-type]


def test_the_names_of_losses_are_escaped() -> None:
    picture = lessons.loss_curves(**{"<b>": [2.0, 1.0], "flat": [0.0, 0.0]})
    assert "<b>" not in picture.svg
    assert "&lt;b&gt;" in picture.svg
