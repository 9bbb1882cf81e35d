"""What notebooks and prompts show of objects: no addresses, and cards in HTML that escape every name and stay small."""

import re
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab

HOSTILE = '<script>alert(1)</script>"&\x00'


def tape() -> lab.GradientTape:
    x = lab.Variable(3.0, name=HOSTILE)
    with lab.GradientTape(persistent=True) as made:
        _ = x * x
    return made


def model() -> Any:
    inner = lab.Sequential([lab.layers.Dense(8, activation="relu"), lab.layers.BatchNormalization()], name="features")
    return lab.Sequential([lab.keras.Input(shape=(5,)), inner, lab.layers.Dense(2, name=HOSTILE)], name=HOSTILE)


def functional() -> Any:
    inputs = lab.keras.Input((3,), name="first")
    return lab.keras.Model(inputs, lab.layers.Dense(2, name="second")(inputs), name=HOSTILE)


def metric() -> Any:
    mean = lab.metrics.Mean(name=HOSTILE)
    mean.update_state([1.0, 2.0])
    return mean


class Line(lab.Module):
    def __init__(self) -> None:
        super().__init__(name=HOSTILE)
        self.slope = lab.Variable(2.0, name=HOSTILE, trainable=False)


SHOWN = {
    "scalar": lambda: lab.constant(3.25), "row": lambda: lab.constant([1.0, -2.0, float("nan")]),
    "matrix": lambda: lab.Variable(np.arange(6.0).reshape(2, 3), name=HOSTILE), "cube": lambda: lab.ones((2, 3, 4)),
    "large": lambda: lab.zeros((2000, 3000)), "empty": lambda: lab.zeros((0, 3)),
    "text": lambda: lab.constant([HOSTILE, "b"]), "bools": lambda: lab.constant([True, False]),
    "complex": lambda: lab.constant([1 + 2j]), "half": lambda: lab.ones((2,), "bfloat16"), "tape": tape,
    "layer": lambda: lab.layers.Dense(3, name=HOSTILE), "built": lambda: model().layers[-1], "model": model,
    "functional": functional, "module": Line, "optimizer": lambda: lab.optimizers.Adam(0.1, name=HOSTILE),
    "metric": metric,
}  # fmt: skip


class Checked(HTMLParser):
    """Collects the text, and finds elements that are not closed."""

    def __init__(self, markup: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.text = ""
        self.feed(markup)
        assert not self.open

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        assert tag in {
            "div",
            "p",
            "b",
            "span",
            "table",
            "thead",
            "tbody",
            "tr",
            "th",
            "td",
            "style",
            "details",
            "summary",
        }
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] != "style":
            self.text += data + " "


def text_of(name: str) -> str:
    return Checked(SHOWN[name]()._repr_html_()).text


@pytest.mark.parametrize("name", SHOWN)
def test_a_card_is_sound_small_and_escapes_every_name(name: str) -> None:
    value = SHOWN[name]()
    markup = value._repr_html_()
    assert "\x00" not in markup
    assert "<script" not in markup
    assert len(markup) < 12_000
    Checked(markup)
    assert " at 0x" not in repr(value)
    assert " at 0x" not in markup


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("scalar", ["Tensor", "float32 · shape ()", "3.25"]),
        ("row", ["nan", "1 not finite", "smallest −2 · mean −0.5 · largest 1"]),
        ("matrix", ["Variable", "<script>", "float64 · shape (2, 3)", "largest 5"]),
        ("cube", ["shown: [0, :, :]"]),
        ("large", ["1,990 more rows · 2,988 more columns", "⋯"]),
        ("empty", ["no elements"]),
        ("tape", ["GradientTape", "1 op · watches <script>", "persistent"]),
        ("layer", ["Dense", "units=3", "not built yet"]),
        ("built", ["Variable", "(8, 2)", "16", "yes"]),
        ("model", ["Sequential", "Parameters: 98", "features (Sequential)", "batch_normalization", "(None, 8)"]),
        ("functional", ["Connected to", "first"]),
        ("module", ["Line", "no"]),
        ("optimizer", ["Adam", "0 steps taken · no state", "learning_rate"]),
        ("metric", ["Mean", "1.5"]),
    ],
)
def test_a_card_says_what_matters(name: str, words: list[str]) -> None:
    shown = text_of(name)
    for word in words:
        assert word in shown, shown


def test_the_card_of_a_large_tensor_costs_no_more_than_its_corners() -> None:
    assert len(SHOWN["large"]()._repr_html_()) < 2 * len(lab.zeros((10, 12))._repr_html_())


def test_a_used_tape_says_so() -> None:
    x = lab.Variable(2.0)
    with lab.GradientTape() as used:
        y = x * x
    assert repr(used) == "<GradientTape: 1 op, watches Variable, for one gradient>"
    used.gradient(y, x)
    assert repr(used) == "<GradientTape: used; it holds nothing any more>"


@pytest.mark.parametrize(
    "make",
    [
        lab.Module, lambda: lab.layers.Dense(2, activation=lab.tanh), lambda: lab.optimizers.SGD(0.1, momentum=0.9),
        lambda: lab.optimizers.schedules.ExponentialDecay(1.0, 10, 0.9), lambda: lab.losses.Huber(2.0),
        lab.metrics.AUC, lambda: lab.initializers.HeNormal(1), lambda: lab.regularizers.L2(0.1),
        lambda: lab.constraints.MaxNorm(2), lambda: lab.callbacks.EarlyStopping(patience=3),
        lab.callbacks.LambdaCallback, lambda: lab.train.Checkpoint(w=lab.Variable(1.0)),
        lambda: lab.random.Generator.from_seed(1), lambda: lab.TensorArray(lab.float32, 2), lab.Graph,
        lambda: lab.autodiff.ForwardAccumulator(lab.constant(1.0), lab.constant(1.0)), lab.GradientTape,
        lambda: lab.data.Dataset.range(3), lambda: lab.function(lambda x: x), lambda: lab.keras.datasets.iris,
        lambda: lab.keras.Sequential([lab.layers.Dense(2)]),
    ],
)  # fmt: skip
def test_no_object_prints_its_address(make: Any) -> None:
    shown = repr(make())
    assert " at 0x" not in shown
    assert re.match(r"<?[A-Z]\w*", shown)


def test_a_repr_is_how_the_object_is_made() -> None:
    assert repr(lab.optimizers.SGD(0.1, momentum=0.9)) == "SGD(learning_rate=0.1, momentum=0.9)"
    assert repr(lab.regularizers.L2(0.25)) == "L2(l2=0.25)"
    assert repr(lab.callbacks.EarlyStopping(patience=3)).startswith("EarlyStopping(monitor='val_loss'")
