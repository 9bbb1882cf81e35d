"""Checkpoints: what is saved, how it is matched, what arrives late, and which files are refused."""

import contextlib
import gc
import io
import json
import logging
import pickle
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab.errors import ConversionError, InvalidArgumentError, ShapeMismatch

layers, train = lab.keras.layers, lab.train
X = np.linspace(-1, 1, 24, dtype=np.float32).reshape(8, 3)


class Net(lab.keras.Model):
    """Two layers, the second in a list, and a scale that is not a layer."""

    def __init__(self) -> None:
        super().__init__()
        self.first = layers.Dense(4, activation="tanh")
        self.rest = [layers.Dense(1)]
        self.scale = lab.Variable(1.0)

    def call(self, x: Any) -> Any:
        return self.rest[0](self.first(x)) * self.scale


def trained(net: Any, optimizer: Any, steps: int = 3) -> None:
    for _ in range(steps):
        with lab.GradientTape() as tape:
            loss = lab.reduce_mean(net(X) ** 2)
        optimizer.apply_gradients(
            zip(tape.gradient(loss, net.trainable_variables), net.trainable_variables, strict=True)
        )


def saved(folder: Path) -> tuple[Net, Any, str]:
    net, optimizer = Net(), lab.optimizers.Adam(0.1)
    trained(net, optimizer)
    return net, optimizer, train.Checkpoint(net=net, optimizer=optimizer, step=lab.Variable(3)).save(folder / "ckpt")


def test_everything_comes_back(tmp_path: Path) -> None:
    net, optimizer, path = saved(tmp_path)
    other, second, step = Net(), lab.optimizers.Adam(0.5), lab.Variable(0)
    trained(other, second, 1)
    checkpoint = train.Checkpoint(net=other, optimizer=second, step=step)
    checkpoint.restore(path).assert_consumed().assert_nontrivial_match()
    assert int(step) == 3
    assert int(checkpoint.save_counter) == 1
    assert float(second.learning_rate) == pytest.approx(0.1)
    trained(net, optimizer)
    trained(other, second)
    for a, b in zip(net.variables, other.variables, strict=True):
        np.testing.assert_array_equal(a, b)
    assert checkpoint.save(tmp_path / "ckpt").endswith("ckpt-2")


def test_what_is_not_built_yet_gets_its_values_when_it_is(tmp_path: Path) -> None:
    net, optimizer, path = saved(tmp_path)
    other, second = Net(), lab.optimizers.Adam()
    status = train.Checkpoint(net=other, optimizer=second, step=lab.Variable(0)).restore(path)
    with pytest.raises(AssertionError, match=r"no object uses .*net/first/kernel.* yet"):
        status.assert_consumed()
    status.assert_existing_objects_matched()
    np.testing.assert_array_equal(other(X), net(X))
    with pytest.raises(AssertionError, match=r"optimizer/slots/\w+/net/first/kernel"):
        status.assert_consumed()
    trained(other, second)
    trained(net, optimizer)
    np.testing.assert_array_equal(other(X), net(X))
    status.assert_consumed()
    assert not any("_awaited" in vars(part) for part in (other, *other.submodules, second))


def test_a_checkpoint_without_a_reference_still_arrives(tmp_path: Path) -> None:
    net, _, path = saved(tmp_path)
    other = Net()
    train.Checkpoint(net=other).restore(path).expect_partial()
    np.testing.assert_array_equal(other(X), net(X))


def test_a_compiled_function_that_builds_the_layers_uses_the_values(tmp_path: Path) -> None:
    net, _, path = saved(tmp_path)
    other = Net()
    train.Checkpoint(net=other).restore(path).expect_partial()
    fast = lab.function(lambda x: other(x) * 1.0)
    for _ in range(3):
        np.testing.assert_allclose(fast(X), net(X), rtol=1e-5, atol=1e-6)
    assert fast.compiled


@pytest.mark.parametrize(
    "make",
    [
        lambda: layers.Bidirectional(layers.LSTM(2)), lambda: layers.GRU(3), layers.BatchNormalization,
        lambda: layers.TimeDistributed(layers.Dense(2)),
        lambda: lab.Sequential([layers.Dense(2), lab.Sequential([layers.Dense(3), layers.LayerNormalization()])]),
    ],
)  # fmt: skip
def test_layers_inside_layers_are_matched_and_restored_late(make: Callable[[], Any], tmp_path: Path) -> None:
    x = np.arange(24, dtype=np.float32).reshape(2, 4, 3) / 24
    layer, other = make(), make()
    expected = layer(x).numpy()
    for variable in layer.variables:
        variable.assign(variable * 0.5 + 0.25)
    changed = layer(x).numpy()
    assert not np.array_equal(expected, changed)
    path = train.Checkpoint(layer).write(tmp_path / "one")
    status = train.Checkpoint(other).read(path)
    np.testing.assert_array_equal(other(x), changed)
    status.assert_consumed()


def test_functional_and_compiled_models_are_saved_with_their_optimizer(tmp_path: Path) -> None:
    def made() -> Any:
        inputs = lab.keras.Input((3,))
        hidden = layers.Dense(4, activation="relu")(inputs)
        model = lab.keras.Model(inputs, layers.Dense(1)(hidden))
        model.compile("adam", "mse")
        return model

    model, other = made(), made()
    model.fit(X, X[:, :1], epochs=2, verbose=0)
    path = train.Checkpoint(model=model).save(tmp_path / "model")
    status = train.Checkpoint(model=other).restore(path)
    np.testing.assert_array_equal(model.predict(X, verbose=0), other.predict(X, verbose=0))
    other.fit(X, X[:, :1], epochs=1, verbose=0, shuffle=False)
    model.fit(X, X[:, :1], epochs=1, verbose=0, shuffle=False)
    status.assert_consumed()
    assert int(other.optimizer.iterations) == int(model.optimizer.iterations) == 3
    np.testing.assert_allclose(model.predict(X, verbose=0), other.predict(X, verbose=0), rtol=1e-6)


def test_parts_of_a_checkpoint_can_be_restored_by_hand(tmp_path: Path) -> None:
    net, _, path = saved(tmp_path)
    bias = lab.Variable(lab.zeros(4))
    layer = train.Checkpoint(bias=bias)
    status = train.Checkpoint(net=train.Checkpoint(first=layer)).restore(path)
    np.testing.assert_array_equal(bias, net.first.bias)
    layer.kernel = lab.Variable(lab.zeros((3, 4)))
    np.testing.assert_array_equal(layer.kernel, net.first.kernel)
    status.assert_existing_objects_matched()
    with pytest.raises(AssertionError, match="net/rest/0/kernel"):
        status.assert_consumed()
    status.expect_partial()


def test_metrics_generators_and_structures_are_saved(tmp_path: Path) -> None:
    def made(seed: int) -> dict[str, Any]:
        return {
            "mean": lab.metrics.Mean(), "random": lab.random.Generator.from_seed(seed),
            "parts": {"a/b": [lab.Variable([1.0, 2.0])], "n": (lab.Variable(1), lab.Variable(2, dtype="int64"))},
            "half": lab.Variable([1.5, -2.0], dtype="bfloat16"),
        }  # fmt: skip

    first, second = made(1), made(2)
    first["mean"].update_state([1.0, 2.0])
    first["random"].normal((3,))
    first["parts"]["a/b"][0].assign([3.0, 4.0])
    first["half"].assign([0.5, 0.25])
    path = train.Checkpoint(**first).write(tmp_path / "all")
    train.Checkpoint(**second).read(path).assert_consumed()
    assert float(second["mean"].result()) == 1.5
    np.testing.assert_array_equal(first["random"].normal((5,)), second["random"].normal((5,)))
    assert second["parts"]["a/b"][0].numpy().tolist() == [3.0, 4.0]
    assert second["half"].numpy().tolist() == [0.5, 0.25]
    assert ("parts/a%2Fb/0", [2]) in train.list_variables(path)


def test_a_shared_layer_is_saved_once_and_found_by_either_path(tmp_path: Path) -> None:
    shared = layers.Dense(2)
    shared(X)
    path = train.Checkpoint(a=shared, b=shared).write(tmp_path / "shared")
    assert [name for name, _ in train.list_variables(path)] == ["a/kernel", "a/bias"]
    other = layers.Dense(2)
    other(X)
    train.Checkpoint(b=other).read(path).assert_consumed()
    np.testing.assert_array_equal(other.kernel, shared.kernel)


def test_the_file_is_numpy_s(tmp_path: Path) -> None:
    path = train.Checkpoint(w=lab.Variable([1.0, 2.0]), net=train.Checkpoint(b=lab.Variable(3))).write(tmp_path / "f")
    with np.load(f"{path}.npz", allow_pickle=False) as file:
        assert sorted(file.files) == ["checkpoint.json", "net/b", "w"]
        assert file["w"].tolist() == [1.0, 2.0]
        assert json.loads(file["checkpoint.json"])["version"] == 1


def test_nothing_changes_if_a_shape_differs(tmp_path: Path) -> None:
    path = train.Checkpoint(a=lab.Variable([1.0]), b=lab.Variable([1.0, 2.0])).write(tmp_path / "f")
    a, b = lab.Variable([0.0]), lab.Variable([0.0, 0.0, 0.0])
    with pytest.raises(ShapeMismatch, match=r"restore: b is float32\[2\] in .*f.npz, but float32\[3\] here"):
        train.Checkpoint(a=a, b=b).read(path)
    assert a.numpy() == [0.0]
    with pytest.raises(ShapeMismatch, match=r"float32\[1\] in .*, but float64\[1\]"):
        train.Checkpoint(a=lab.Variable([0.0], dtype="float64")).read(path)
    late = layers.Dense(5)
    net, _, path = saved(tmp_path)
    status = train.Checkpoint(net=train.Checkpoint(first=late)).read(path).expect_partial()
    with pytest.raises(ShapeMismatch, match=r"net/first/kernel is float32\[3, 4\]"):
        late(X)
    assert net.built
    assert "restored" in repr(status)


@pytest.mark.slow
def test_what_is_left_over_is_logged_unless_it_was_expected(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = train.Checkpoint(a=lab.Variable(1.0), b=lab.Variable(2.0)).write(tmp_path / "f")
    with caplog.at_level(logging.WARNING, "autodiff_lab"):
        status = train.Checkpoint(a=lab.Variable(0.0)).read(path)
        status.expect_partial()
        del status
        gc.collect()
        assert not caplog.records
        status = train.Checkpoint(a=lab.Variable(0.0)).read(path)
        del status
        gc.collect()
    (record,) = caplog.records
    assert record.getMessage().startswith("restore: b is in ")
    assert "expect_partial()" in record.getMessage()


def test_a_layer_that_waits_for_values_can_be_pickled(tmp_path: Path) -> None:
    net, _, path = saved(tmp_path)
    other = Net()
    status = train.Checkpoint(net=other).restore(path).expect_partial()
    again = pickle.loads(pickle.dumps(other.first))  # noqa: S301
    np.testing.assert_array_equal(again(X).shape, (8, 4))
    np.testing.assert_array_equal(other(X), net(X))
    assert status is not None


@pytest.mark.parametrize("value", [3, 2.5, "text", iter([1]), np.ones(2), [], lab.constant(1.0)])
def test_what_cannot_be_saved_is_refused(value: Any) -> None:
    with pytest.raises(InvalidArgumentError, match=r"Checkpoint: step is a \w+, which has nothing to save. Try var"):
        train.Checkpoint(step=value)


def test_strings_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConversionError, match="words holds strings"):
        train.Checkpoint(words=lab.Variable(["a"])).write(tmp_path / "f")
    assert list(tmp_path.iterdir()) == []


def test_no_path_means_nothing_to_restore(tmp_path: Path) -> None:
    w = lab.Variable(1.0)
    status = train.Checkpoint(w=w).restore(train.latest_checkpoint(tmp_path))
    assert float(w) == 1.0
    with pytest.raises(AssertionError, match="there was no checkpoint"):
        status.assert_consumed()
    with pytest.raises(FileNotFoundError):
        train.Checkpoint(w=w).restore(tmp_path / "missing")


# --- damaged and hostile files --------------------------------------------------------------------------------------


def rewritten(path: Path, change: Callable[[dict[str, bytes]], Any], compression: int = zipfile.ZIP_STORED) -> None:
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    change(parts)
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, data in parts.items():
            archive.writestr(name, data)


def pickled() -> bytes:
    stream = io.BytesIO()
    np.save(stream, np.array([{"a": 1}], dtype=object), allow_pickle=True)
    return stream.getvalue()


HUGE = (
    b"\x93NUMPY\x01\x00v\x00"
    + b"{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999,), }".ljust(117)
    + b"\n"
)


@pytest.mark.parametrize(
    "change",
    [
        lambda parts: parts.pop("checkpoint.json"),
        lambda parts: parts.update({"checkpoint.json": b"{"}),
        lambda parts: parts.update({"checkpoint.json": b"[" * 100_000}),
        lambda parts: parts.update({"checkpoint.json": b'{"format": "autodiff_lab checkpoint", "version": 2}'}),
        lambda parts: parts.update(
            {"checkpoint.json": b'{"format": "autodiff_lab checkpoint", "version": 1, "also": {"a": 3}}'}
        ),
        lambda parts: parts.update({"w.npy": b""}),
        lambda parts: parts.update({"w.npy": parts["w.npy"][:-1]}),
        lambda parts: parts.update({"w.npy": parts["w.npy"] + b"0"}),
        lambda parts: parts.update({"w.npy": pickled()}),
        lambda parts: parts.update({"w.npy": HUGE}),
    ],
)
def test_damaged_files_are_refused_by_name(change: Callable[[dict[str, bytes]], Any], tmp_path: Path) -> None:
    w = lab.Variable([1.0, 2.0])
    path = train.Checkpoint(w=w).write(tmp_path / "f")
    w.assign([0.0, 0.0])
    rewritten(Path(f"{path}.npz"), change)
    with pytest.raises(ConversionError, match=r"restore: .*f.npz is damaged, or is not a checkpoint"):
        train.Checkpoint(w=w).read(path)
    assert w.numpy().tolist() == [0.0, 0.0]


def test_a_compressed_file_is_refused_and_so_is_every_changed_byte(tmp_path: Path) -> None:
    w = lab.Variable(np.arange(8, dtype=np.float32))
    path = train.Checkpoint(w=w).write(tmp_path / "f")
    file = Path(f"{path}.npz")
    whole = file.read_bytes()
    rewritten(file, lambda parts: None, zipfile.ZIP_DEFLATED)
    with pytest.raises(ConversionError, match="compressed"):
        train.Checkpoint(w=w).read(path)
    for n in range(0, len(whole), 3):
        file.write_bytes(whole[:n] + bytes([whole[n] ^ 255]) + whole[n + 1 :])
        with contextlib.suppress(ConversionError):
            train.Checkpoint(w=w).read(path).expect_partial()
        assert w.numpy().tolist() == list(range(8))
        file.write_bytes(whole[:n])
        with pytest.raises(ConversionError):
            train.Checkpoint(w=w).read(path)


# --- folders --------------------------------------------------------------------------------------------------------


def test_a_manager_keeps_the_newest_files(tmp_path: Path) -> None:
    w = lab.Variable(0)
    manager = train.CheckpointManager(train.Checkpoint(w=w), tmp_path / "new" / "folder", max_to_keep=3)
    assert manager.latest_checkpoint is None
    assert manager.restore_or_initialize() is None
    for _ in range(5):
        w.assign_add(1)
        manager.save()
    assert [Path(path).name for path in manager.checkpoints] == ["ckpt-3", "ckpt-4", "ckpt-5"]
    assert sorted(p.name for p in Path(manager.directory).iterdir()) == [
        "checkpoint.json", "ckpt-3.npz", "ckpt-4.npz", "ckpt-5.npz",
    ]  # fmt: skip
    w.assign(0)
    again = train.CheckpointManager(train.Checkpoint(w=w), manager.directory, max_to_keep=3)
    assert again.restore_or_initialize() == manager.latest_checkpoint
    assert int(w) == 5
    assert str(again.save()).endswith("ckpt-6")
    assert str(again.save(checkpoint_number=40)).endswith("ckpt-40")


def test_a_manager_saves_at_intervals_and_keeps_some_for_good(tmp_path: Path) -> None:
    step = lab.Variable(0)
    begun: list[int] = []
    manager = train.CheckpointManager(
        train.Checkpoint(step=step), tmp_path, max_to_keep=1, step_counter=step, checkpoint_interval=2,
        init_fn=lambda: begun.append(1), keep_checkpoint_every_n_hours=0.0, checkpoint_name="run",
    )  # fmt: skip
    assert manager.restore_or_initialize() is None
    assert begun == [1]
    found = []
    for _ in range(5):
        step.assign_add(1)
        found.append(manager.save())
    assert [path is None for path in found] == [False, True, False, True, False]
    assert str(manager.save(check_interval=False)).endswith("run-4")
    assert (tmp_path / "run-1.npz").exists()


@pytest.mark.parametrize(
    "state", ["{", "[]", '{"all": ["../other"]}', '{"all": [3]}', '{"all": "ckpt-1"}', "[" * 99_999]
)
def test_a_damaged_list_of_checkpoints_is_refused_by_name(state: str, tmp_path: Path) -> None:
    (tmp_path / "checkpoint.json").write_text(state)
    with pytest.raises(ConversionError, match=r"checkpoint\.json is damaged"):
        train.latest_checkpoint(tmp_path)


@pytest.mark.parametrize(
    "wrong", [{"max_to_keep": 0}, {"checkpoint_interval": 2}, {"checkpoint_name": "a/b"}, {"checkpoint_name": ""}]
)
def test_a_manager_refuses_what_makes_no_sense(wrong: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(InvalidArgumentError, match="CheckpointManager: "):
        train.CheckpointManager(train.Checkpoint(w=lab.Variable(1)), tmp_path, **{"max_to_keep": 1, **wrong})
