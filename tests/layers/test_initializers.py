"""Initializers: the documented distributions, by name, repeatable, serialized and read back."""

from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from tests.refusals import refused

initializers = lab.initializers
SHAPE = (300, 200)


@pytest.mark.parametrize(
    ("made", "mean", "deviation"),
    [
        (initializers.RandomNormal(1.0, 0.5), 1.0, 0.5),
        (initializers.RandomUniform(-1.0, 3.0), 1.0, 4 / 12**0.5),
        (initializers.TruncatedNormal(0.0, 1.0), 0.0, 0.8796),
        (initializers.VarianceScaling(2.0, "fan_in"), 0.0, (2 / 300) ** 0.5),
        (initializers.VarianceScaling(1.0, "fan_out", "uniform"), 0.0, (1 / 200) ** 0.5),
        (initializers.VarianceScaling(1.0, "fan_avg", "untruncated_normal"), 0.0, (1 / 250) ** 0.5),
        (initializers.get("he_normal"), 0.0, (2 / 300) ** 0.5),
        (initializers.get("glorot_uniform"), 0.0, (2 / 500) ** 0.5),
        (initializers.get("lecun_normal"), 0.0, (1 / 300) ** 0.5),
    ],
)
def test_random_weights_have_the_mean_and_deviation_they_should(made: Any, mean: float, deviation: float) -> None:
    lab.random.set_seed(0)
    drawn = made(SHAPE).numpy().astype(np.float64)
    assert abs(drawn.mean() - mean) < 0.03 * max(1.0, abs(mean)) * deviation + 0.02 * deviation
    assert abs(drawn.std() - deviation) < 0.02 * deviation


def test_truncated_numbers_stay_within_two_deviations() -> None:
    drawn = initializers.TruncatedNormal(5.0, 0.1)((5000,)).numpy()
    assert np.all(np.abs(drawn - 5) <= 0.2 + 1e-6)


def test_orthogonal_rows_or_columns_are_orthonormal_times_the_gain() -> None:
    for shape in ((5, 3), (3, 5), (2, 2, 3)):
        q = initializers.Orthogonal(2.0)(shape).numpy().reshape(-1, shape[-1])
        product = q.T @ q if q.shape[0] >= q.shape[1] else q @ q.T
        np.testing.assert_allclose(product, 4 * np.eye(len(product)), atol=1e-5)
    with pytest.raises(lab.errors.InvalidArgumentError, match="at least 2 axes"):
        initializers.Orthogonal()((3,))


def test_an_initializer_with_a_seed_repeats_itself_and_one_without_follows_the_global_seed() -> None:
    seeded, free = initializers.TruncatedNormal(seed=4), initializers.RandomUniform()
    np.testing.assert_array_equal(seeded((9,)), seeded((9,)))
    assert np.any(free((9,)).numpy() != free((9,)).numpy())
    lab.random.set_seed(2)
    first = free((9,)).numpy()
    lab.random.set_seed(2)
    np.testing.assert_array_equal(first, free((9,)))


@pytest.mark.parametrize(
    "made",
    [
        initializers.Zeros(), initializers.Ones(), initializers.Constant(3.0), initializers.Identity(2.0),
        initializers.RandomNormal(1.0, 2.0, seed=1), initializers.RandomUniform(0.0, 2.0, seed=1),
        initializers.TruncatedNormal(seed=1), initializers.VarianceScaling(2.0, "fan_avg", "uniform", seed=1),
        initializers.Orthogonal(seed=1),
    ],
)  # fmt: skip
def test_what_is_written_down_makes_the_same_weights(made: Any) -> None:
    again = initializers.deserialize(initializers.serialize(made))
    np.testing.assert_array_equal(made((3, 3)), again((3, 3)))


def test_nothing_but_an_initializer_is_made_from_a_dict() -> None:
    for config, words in (
        ({"class_name": "print"}, "unknown class_name 'print'"),
        ({"class_name": "Zeros", "config": {"x": 1}}, "no setting 'x'"),
        ("nothing", "unknown initializer 'nothing'"),
    ):
        with refused(lab.errors.InvalidArgumentError, words):
            initializers.deserialize(config)


def test_a_list_fills_a_shape_of_as_many_numbers() -> None:
    np.testing.assert_array_equal(lab.constant_initializer([1, 2, 3, 4])((2, 2)), [[1, 2], [3, 4]])
    np.testing.assert_array_equal(lab.initializers.Constant([[1.0, 2.0]])((2, 2)), [[1, 2], [1, 2]])
    with pytest.raises(lab.errors.ShapeMismatch, match="3 values"):
        lab.initializers.Constant([1, 2, 3])((2, 2))


@pytest.mark.parametrize("shape", [(), (3,), (2, 3, 4)])
def test_only_a_matrix_is_an_identity(shape: tuple[int, ...]) -> None:
    with pytest.raises(lab.errors.ShapeMismatch, match="matrix"):
        lab.initializers.Identity()(shape)


@pytest.mark.parametrize("name", ["glorot_uniform", "he_normal"])
def test_the_initializers_in_lower_case_have_settings_too(name: str) -> None:
    made = getattr(lab.initializers, name)(seed=3)
    assert made.get_config() == {"seed": 3}
    np.testing.assert_array_equal(type(made).from_config({"seed": 3})((2, 3)), made((2, 3)))
    again = lab.initializers.deserialize(lab.initializers.serialize(made))
    np.testing.assert_array_equal(again((2, 3)), made((2, 3)))


@pytest.mark.parametrize("name", sorted({n for n in initializers.__all__ if n[0].isupper()} - {"Initializer"}))
def test_a_shape_or_dtype_that_does_not_fit_is_refused(name: str) -> None:
    make = getattr(initializers, name)()
    for shape in ("x", None, (-1, 2), (2.5, 2), (None, 2), [[2]]):
        with pytest.raises(lab.errors.LabError, match=f"{type(make).__name__}: "):
            make(shape)
    for dtype in ("string", *(("int32", "bool") if make.draws else ())):
        with pytest.raises(lab.errors.DtypeMismatch, match=f"cannot make values of dtype {dtype}"):
            make((2, 2), dtype)
    assert make((2, 2), None).dtype.name == "float32"


def test_names_are_those_of_classes_in_both_spellings() -> None:
    for name in ("GlorotNormal", "GlorotUniform", "HeNormal", "HeUniform", "LecunNormal", "LecunUniform"):
        kind = getattr(initializers, name)
        snake = name[:-7].lower() + "_" + name[-7:].lower() if name.endswith("Uniform") else ""
        for word in (name, snake or name[:-6].lower() + "_normal"):
            assert type(initializers.get(word)) is kind
        again = initializers.get(initializers.serialize(kind(seed=3)))
        np.testing.assert_array_equal(again((3, 4)), kind(seed=3)((3, 4)))


def test_an_unknown_distribution_is_refused() -> None:
    with pytest.raises(lab.errors.InvalidArgumentError, match="unknown distribution 'gauss'"):
        initializers.VarianceScaling(distribution="gauss")
