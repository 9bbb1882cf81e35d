"""Whole models in files: what comes back, what cannot be written, and damaged files."""

import random
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab.errors import ConversionError, InvalidArgumentError, LabError
from tests.refusals import refused
from tests.training.programs import branched, dense, keras, table

X, Y = table()
load = keras.models.load_model


class Own(keras.Model):
    """A subclass whose constructor takes plain values."""

    def __init__(self, units: int, activation: Any = None, **more: Any) -> None:
        super().__init__(**more)
        self.inner, self.last = lab.layers.Dense(units, activation), lab.layers.Dense(1)

    def call(self, x: Any) -> Any:
        return self.last(self.inner(x))


def ready(model: Any, *inputs: Any) -> Any:
    model(*inputs)
    return model


def images() -> Any:
    return lab.Sequential([
        keras.Input((8, 8, 1)), lab.layers.Rescaling(1 / 16), lab.layers.Conv2D(3, (3, 3), padding="same"),
        lab.layers.BatchNormalization(), lab.layers.MaxPooling2D((2, 2)), lab.layers.Flatten(),
        lab.layers.Dropout(0.5), lab.layers.Dense(2, kernel_regularizer=keras.regularizers.L2(0.1)),
    ])  # fmt: skip


def words() -> Any:
    x = keras.Input((None,), dtype="int32")
    y = lab.layers.Bidirectional(lab.layers.LSTM(3, return_sequences=True))(lab.layers.Embedding(9, 4)(x))
    y = lab.layers.MultiHeadAttention(2, 3)(y, y)
    return keras.Model(x, lab.reduce_mean(y * 2.0, axis=1)[:, :3])


KINDS: dict[str, tuple[Callable[[], Any], Any]] = {
    "sequential": (dense, X),
    "built by data": (lambda: ready(lab.Sequential([lab.layers.Dense(3, lab.nn.relu)]), X), X),
    "images": (images, np.ones((2, 8, 8, 1), np.float32)),
    "graph": (branched, [X, np.ones((48, 2), np.float32)]),
    "words": (words, np.array([[1, 2, 3], [4, 5, 6]])),
    "subclass": (lambda: ready(Own(3, activation="tanh", name="mine"), X), X),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_model_comes_back_with_its_numbers(kind: str, tmp_path: Path) -> None:
    make, x = KINDS[kind]
    model = make()
    model.save(tmp_path / "model.keras")
    again = load(tmp_path / "model.keras", custom_objects={"Own": Own})
    for mine, yours in zip(lab.nest.flatten(model(x)), lab.nest.flatten(again(x)), strict=True):
        np.testing.assert_array_equal(mine.numpy(), yours.numpy())
    assert (again.name, type(again)) == (model.name, type(model))
    if kind not in ("subclass", "words"):  # in which layers make others, that number themselves
        assert [v.name for v in again.variables] == [v.name for v in model.variables]
    assert [float(loss) for loss in again.losses] == [float(loss) for loss in model.losses]


def test_training_goes_on_where_it_stopped(tmp_path: Path) -> None:
    def made() -> Any:
        model = dense()
        rate = lab.optimizers.schedules.ExponentialDecay(0.1, 10, 0.5)
        model.compile(lab.optimizers.Adam(rate), "sparse_categorical_crossentropy", metrics=["accuracy"])
        return model

    whole, first = made(), made()
    wanted = whole.fit(X, Y, epochs=4, shuffle=False, verbose=0).history["loss"]
    first.layers[0].trainable = True
    first.fit(X, Y, epochs=2, shuffle=False, verbose=0)
    first.save(tmp_path / "half.keras")
    again = load(tmp_path / "half.keras")
    assert again.fit(X, Y, epochs=2, shuffle=False, verbose=0).history["loss"] == wanted[2:]
    assert load(tmp_path / "half.keras", compile=False).optimizer is None


@pytest.mark.parametrize("frozen", ["before", "between", "thawed"])
def test_the_state_of_an_optimizer_belongs_to_its_variables(frozen: str, tmp_path: Path) -> None:
    model = dense()
    model.layers[0].trainable = frozen == "between"
    model.compile("adam", "sparse_categorical_crossentropy")
    if frozen != "before":  # no step has been taken yet
        model.fit(X, Y, verbose=0)
    model.layers[0].trainable = frozen == "thawed"
    model.save(tmp_path / "model.keras")
    again = load(tmp_path / "model.keras")
    for mine, yours in zip(model.optimizer.variables, again.optimizer.variables, strict=True):
        np.testing.assert_array_equal(mine.numpy(), yours.numpy())
    assert again.fit(X, Y, shuffle=False, verbose=0).history == model.fit(X, Y, shuffle=False, verbose=0).history


def test_frozen_layers_stay_frozen(tmp_path: Path) -> None:
    model = dense()
    model.layers[0].trainable = False
    model.save(tmp_path / "model.keras")
    assert len(load(tmp_path / "model.keras").trainable_variables) == 2


def test_what_cannot_be_written_is_named_and_the_file_stays(tmp_path: Path) -> None:
    path = tmp_path / "model.keras"
    dense().save(path)
    before = path.read_bytes()
    with refused(ConversionError, r"<function .*lambda.* cannot be written. Try a class of your own"):
        lab.Sequential([keras.Input((4,)), lab.layers.Lambda(lambda x: x + 1)]).save(path)
    with refused(ConversionError, "cannot be written"):
        lab.Sequential([keras.Input((4,)), lambda x: x + 1]).save(path)
    with pytest.raises(FileExistsError, match="overwrite=True"):
        dense().save(path, overwrite=False)
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["model.keras"]


def test_an_unknown_class_is_asked_for(tmp_path: Path) -> None:
    ready(Own(2), X).save(tmp_path / "own.keras")
    with refused(InvalidArgumentError, r"the class 'Own'. Try load_model\(path, custom_objects=\{'Own': Own\}\)"):
        load(tmp_path / "own.keras")


def test_a_file_names_functions_of_this_package_only(tmp_path: Path) -> None:
    path = tmp_path / "model.keras"
    words().save(path)
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    for other in (b'"py_function"', b'"load_recording"', b'"print"'):
        with zipfile.ZipFile(path, "w") as archive:
            for name, data in parts.items():
                archive.writestr(name, data.replace(b'"reduce_mean"', other))
        with refused(ConversionError, "is damaged.* is not an op"):
            load(path)


def test_damaged_files_are_refused(tmp_path: Path, figure: Callable[[str, str], None]) -> None:
    path, rng, told = tmp_path / "model.keras", random.Random(0), 0
    branched().save(path)
    whole = path.read_bytes()
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    for number in range(120):
        if number % 3:
            text = bytearray(parts["model.json"])
            for _ in range(rng.randint(1, 3)):
                text[rng.randrange(len(text))] = rng.choice(b'[]{}",:0123456789-xn')
            with zipfile.ZipFile(path, "w") as archive:
                for name, data in {**parts, "model.json": bytes(text)}.items():
                    archive.writestr(name, data)
        else:
            path.write_bytes(whole[: rng.randrange(len(whole))])
        try:
            load(path)
        except LabError:
            told += 1
    assert told > 60
    figure("damaged model files", f"{told} of 120 refused by name, the others read")


@pytest.mark.parametrize(("call", "name", "instead"), [
    ("save", "m.h5", "m.keras"), ("save_weights", "m.weights.h5", "m.npz"), ("save_weights", "m.hdf5", "m.npz"),
])  # fmt: skip
def test_a_name_of_hdf5_gets_a_warning_at_the_line_of_the_user_and_is_read_again(
    call: str, name: str, instead: str, tmp_path: Path
) -> None:
    model = ready(Own(3), X)
    with pytest.warns(UserWarning, match=f"{call}: {name} is .*, not HDF5.* Try '{instead}'") as caught:
        getattr(model, call)(tmp_path / name)
    assert caught[0].filename == __file__
    if call == "save":
        again = load(tmp_path / name, {"Own": Own})
    else:
        again = ready(Own(3), X)
        again.load_weights(tmp_path / name)
    np.testing.assert_array_equal(again(X), model(X))


def test_a_file_of_keras_is_named_as_such(tmp_path: Path) -> None:
    model, path = ready(Own(3), X), tmp_path / "theirs.weights.h5"
    path.write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(100))
    for read, word in ((model.load_weights, "load_weights"), (load, "load_model")):
        with refused(ConversionError, f"{word}: .* is an HDF5 file, as Keras writes them.*set_weights"):
            read(path)
