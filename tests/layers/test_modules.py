"""Modules find their variables; models count them; weights are saved and loaded completely or not at all."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab.engine import nest


class Line(lab.Module):
    def __init__(self) -> None:
        super().__init__()
        self.slope = lab.Variable(2.0, name="slope")
        self.fixed = lab.Variable(1.0, trainable=False, name="fixed")

    def __call__(self, x: Any) -> Any:
        return self.slope * x + self.fixed


class Nested(lab.Module):
    def __init__(self) -> None:
        super().__init__()
        self.lines = [Line(), {"deep": (Line(),)}]
        self.shared = self.lines[0]
        self.own = lab.Variable([1.0, 2.0], name="own")


def test_a_module_finds_its_variables_in_containers_each_once_and_in_order() -> None:
    module = Nested()
    assert [v.name for v in module.variables] == ["slope:0", "fixed:0", "slope:0", "fixed:0", "own:0"]
    assert len(module.trainable_variables) == 3
    assert len(module.submodules) == 2


def test_variables_are_found_without_taking_plain_containers_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs ask for them in every step of a training loop."""
    model = lab.Sequential([lab.layers.Dense(3), lab.layers.Dropout(0.1), lab.layers.Dense(2)])
    model(lab.ones((2, 4)))
    model.extra = (lab.constant([1.0, 2.0]), np.ones(3), lab.Variable(1.0), 5, "text", [])  # type: ignore[attr-defined]
    model.named = {"b": [], "a": lab.Variable(2.0)}  # type: ignore[attr-defined]
    taken: list[Any] = []
    flatten = nest.flatten
    monkeypatch.setattr(nest, "flatten", lambda value, *how: taken.append(value) or flatten(value, *how))
    assert [v.shape.as_list() for v in model.trainable_variables] == [[4, 3], [3], [3, 2], [2], [], []]
    assert taken == [model.named]  # type: ignore[attr-defined]


def test_one_gradient_call_serves_all_trainable_variables() -> None:
    line = Line()
    with lab.GradientTape() as tape:
        loss = line(3.0) ** 2
    assert tape.watched_variables() == line.trainable_variables
    assert [float(g) for g in tape.gradient(loss, line.trainable_variables)] == [42.0]


def test_a_module_with_a_cycle_is_walked_once() -> None:
    line = Line()
    line.parent = line
    assert len(line.variables) == 2


class Small(lab.keras.Model):
    def __init__(self) -> None:
        super().__init__(name="small")
        self.hidden = lab.layers.Dense(4, activation="relu")
        self.rest = [lab.layers.Dropout(0.5), lab.layers.Dense(1)]

    def call(self, x: Any, training: bool = False) -> Any:
        x = self.hidden(x)
        return self.rest[1](self.rest[0](x, training=training))


def test_a_model_lists_its_layers_and_counts_its_parameters() -> None:
    model, lines = Small(), []
    assert model(lab.ones((3, 2))).shape == (3, 1)
    assert [type(layer).__name__ for layer in model.layers] == ["Dense", "Dropout", "Dense"]
    assert model.count_params() == 2 * 4 + 4 + 4 + 1
    model.summary(print_fn=lines.append)
    assert lines[0].splitlines()[0] == "Model: small"
    assert lines[0].endswith("Parameters: 17 (68 B); trainable: 17; not trainable: 0")


def test_a_model_passes_training_on() -> None:
    lab.random.set_seed(0)
    model = Small()
    x = lab.ones((50, 2))
    np.testing.assert_array_equal(model(x), model(x))
    assert len(np.unique(model(x, training=True))) > 1


def made() -> Any:
    model = lab.Sequential([lab.layers.Dense(3, name="first"), lab.layers.Dense(1, name="last")])
    model(lab.ones((1, 2)))
    return model


def test_saved_weights_come_back_to_the_last_bit(tmp_path: Path) -> None:
    first, second = made(), made()
    first.save_weights(tmp_path / "weights.npz")
    second.load_weights(tmp_path / "weights.npz")
    for a, b in zip(first.variables, second.variables, strict=True):
        np.testing.assert_array_equal(a, b)
    assert [p.name for p in tmp_path.iterdir()] == ["weights.npz"], "no half-written file stays behind"


def test_a_file_is_data_and_holds_no_pickle(tmp_path: Path) -> None:
    made().save_weights(tmp_path / "weights.npz")
    with np.load(tmp_path / "weights.npz", allow_pickle=False) as file:
        assert [name.partition(" ")[2] for name in sorted(file.files)] == [
            "first/kernel:0", "first/bias:0", "last/kernel:0", "last/bias:0",
        ]  # fmt: skip


def test_a_file_that_does_not_fit_changes_nothing(tmp_path: Path) -> None:
    made().save_weights(tmp_path / "weights.npz")
    other = lab.Sequential([lab.layers.Dense(3), lab.layers.Dense(2)])
    other(lab.ones((1, 2)))
    before = [v.numpy() for v in other.variables]
    with pytest.raises(lab.errors.ShapeMismatch, match=r"last/kernel:0 is float32\[3, 1\].*Nothing was changed"):
        other.load_weights(tmp_path / "weights.npz")
    for v, old in zip(other.variables, before, strict=True):
        np.testing.assert_array_equal(v, old)
    with pytest.raises(lab.errors.ShapeMismatch, match="4 variables, the module 0"):
        lab.Sequential([lab.layers.Dense(3)]).load_weights(tmp_path / "weights.npz")


def test_a_file_with_a_pickle_is_refused_and_runs_nothing(tmp_path: Path) -> None:
    model = made()
    hostile = {f"{i:04d} x": np.array([print], dtype=object) for i in range(4)}
    np.savez(tmp_path / "weights.npz", **hostile)
    before = [v.numpy() for v in model.variables]
    with pytest.raises(lab.errors.ConversionError, match=r"damaged.*Nothing was changed"):
        model.load_weights(tmp_path / "weights.npz")
    for v, old in zip(model.variables, before, strict=True):
        np.testing.assert_array_equal(v, old)


@pytest.mark.parametrize("content", [b"", b"no archive", b"PK\x03\x04 cut off"])
def test_a_damaged_file_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "weights.npz").write_bytes(content)
    with pytest.raises(lab.errors.ConversionError, match=r"weights.npz is damaged"):
        made().load_weights(tmp_path / "weights.npz")


def test_a_missing_file_is_missing(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        made().load_weights(tmp_path / "weights.npz")


def test_weights_can_be_taken_out_and_put_back_as_arrays() -> None:
    first, second = made(), made()
    second.set_weights(first.get_weights())
    x = lab.ones((2, 2))
    np.testing.assert_array_equal(first(x), second(x))


def test_the_mirrored_gradient_has_the_names_of_the_attributes() -> None:
    gradient: Any = lab.gradient(lambda m: m(3.0))(Line())
    assert float(gradient.slope) == 3.0
    assert gradient.fixed is None
    layer = lab.layers.Dense(1, kernel_initializer="ones")
    value, backprop = layer.applied_for_backpropagation(lab.constant([[1.0, 2.0]]))
    by_layer, by_input = backprop(lab.ones((1, 1)))
    np.testing.assert_array_equal(value, [[3.0]])
    np.testing.assert_array_equal(by_layer.kernel, [[1.0], [2.0]])
    np.testing.assert_array_equal(by_input, [[1.0, 1.0]])
