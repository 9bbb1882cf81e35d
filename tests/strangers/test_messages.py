"""Error messages for mistakes: the op, its arguments, the line, something to try."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import autodiff_lab as lab

X, V, SGD = lab.ones((2, 3)), lab.Variable([1.0, 2.0]), lab.optimizers.SGD(0.1)


class Unmade(lab.layers.Layer):
    """A layer that does not call `__init__` of its base."""

    def __init__(self, weigh: bool = False) -> None:
        if weigh:
            self.add_weight("w", (2,))

    def call(self, x: lab.Tensor) -> lab.Tensor:
        return x


SAID: list[tuple[str, Callable[[], object], type[Exception], list[str]]] = [
    ("slice by floats", lambda: X[0.5:1], lab.errors.InvalidArgumentError, ["brackets", "0.5", "int(...)"]),
    ("index by a tensor", lambda: X[lab.constant([0, 1])], lab.errors.InvalidArgumentError, ["i32[2]", "lab.gather"]),
    ("number too long", lambda: X * 10**400, lab.errors.ConversionError, ["multiply", "401 digits", "float32", "Try"]),
    ("beyond 64 bits", lambda: lab.constant(2**70), lab.errors.ConversionError, ["64 bits", "1e30"]),
    ("an object", lambda: lab.constant(object()), lab.errors.ConversionError, ["an object", "Try"]),
    ("float of many", lambda: float(X), lab.errors.ConversionError, ["float", "(2, 3)", "Try"]),
    ("int of one in a list", lambda: int(lab.constant([1])), lab.errors.ConversionError, ["int", "(1,)", "x[0]"]),
    ("range of many", lambda: float(lab.Variable([1.0, 2.0])), TypeError, ["float", "(2,)"]),
    ("a word for a flag", lambda: lab.nn.gelu(X, approximate="none"), ValueError, ["approximate", "'none'"]),
    ("slope at 3", lambda: lab.gradient(lambda x: x * x)(3), TypeError, ["gradient", "int32", "3.0 instead of 3"]),
    ("curve at 3", lambda: lab.hessian(lab.reduce_sum)([1, 2]), TypeError, ["hessian", "int32", "lab.cast"]),
    ("along 1", lambda: lab.jvp(lab.square, [3], [1]), TypeError, ["jvp", "int32", "3.0 instead of 3"]),
    ("a bare primal", lambda: lab.jvp(lab.square, X, X), ValueError, ["jvp", "a list", "Try [x]"]),
    ("a bare primal", lambda: lab.vjp(lab.square, X, X), ValueError, ["vjp", "a list", "Try [x]"]),
    (
        "logits of a row first",
        lambda: lab.losses.SparseCategoricalCrossentropy(from_logits=True)([[1.0, 2.0]], [1]),
        ValueError,
        ["labels must have shape", "Labels come first"],
    ),
    (
        "logits first",
        lambda: lab.nn.sparse_softmax_cross_entropy_with_logits(X, [0, 1]),
        TypeError,
        ["labels must be integers", "come first, then logits"],
    ),
    ("cross", lambda: lab.linalg.cross(X, lab.ones((5, 3))), ValueError, ["(2, 3) and (5, 3)", "broadcast"]),
    ("eye", lambda: lab.eye(-1), lab.errors.InvalidArgumentError, ["negative", "-1"]),
    ("one hot", lambda: lab.one_hot([0], -3), lab.errors.InvalidArgumentError, ["one_hot: depth", "-3"]),
    ("concat", lambda: lab.concat([X, lab.ones((3, 2))], 0), ValueError, ["(2, 3) and (3, 2)", "Try"]),
    ("stack", lambda: lab.stack([X, X, lab.ones(2)]), ValueError, ["(2, 3), (2, 3) and (2,)", "Try"]),
    ("where", lambda: lab.where(X > 2.0, lab.ones(4), X), ValueError, ["where(bool[2,3], f32[4]", "Try"]),
    ("clip", lambda: lab.clip_by_value(X, lab.ones(7), 2.0), ValueError, ["(7,)", "do not broadcast", "Try"]),
    (
        "no zip",
        lambda: SGD.apply_gradients([V]),
        lab.errors.InvalidArgumentError,
        ["apply_gradients", "Variable", "zip("],
    ),
    ("no pairs", lambda: SGD.apply_gradients(V), lab.errors.InvalidArgumentError, ["apply_gradients", "Try"]),
    (
        "swapped",
        lambda: SGD.apply_gradients([(V, X)]),
        lab.errors.InvalidArgumentError,
        ["'Variable', 'Tensor'", "zip("],
    ),
    ("rate", lambda: lab.optimizers.SGD("fast"), lab.errors.InvalidArgumentError, ["learning_rate", "'fast'", "Try"]),
    ("no gradient", lambda: V - None, lab.errors.ConversionError, ["None", "gradient", "Try tape.explain("]),
    ("no step", lambda: V.assign_sub(None), lab.errors.ConversionError, ["None", "gradient", "Try tape.explain("]),
    ("digits", lambda: round(X, 2), TypeError, ["integers", "lab.round(x * 100) / 100"]),
    (
        "misspelt",
        lambda: lab.layers.Dense(units_=3),
        TypeError,
        ["Dense.__init__()", "'units_'", "Did you mean 'units'"],
    ),
    ("option", lambda: lab.layers.LSTM(3, return_sequence=True), TypeError, ["Did you mean 'return_sequences'"]),
    ("penalty", lambda: lab.layers.Dense(3, kernel_regularizr="l2"), TypeError, ["mean 'kernel_regularizer'"]),
    ("rate's name", lambda: lab.optimizers.SGD(learning_rte=1.0), TypeError, ["Did you mean 'learning_rate'"]),
    ("old name", lambda: lab.optimizers.SGD(lr=1.0), TypeError, ["'lr'. Try learning_rate."]),
    (
        "channels",
        lambda: lab.layers.MaxPool2D(data_format="channels_first"),
        NotImplementedError,
        ["MaxPool2D", "'channels_first'", "channels last", "lab.layers.Permute((2, 3, 1))"],
    ),
    (
        "interpolation",
        lambda: lab.layers.UpSampling2D(2, interpolation="linear"),
        lab.errors.InvalidArgumentError,
        ["UpSampling2D: interpolation", "'bilinear'", "got 'linear'"],
    ),
    ("units", lambda: lab.layers.Dense("a"), lab.errors.InvalidArgumentError, ["Dense: units", "'a'"]),
    ("imaginary", lambda: 1j * X, TypeError, ["multiply: 1j is complex", "float32", "lab.cast(x, lab.complex64)"]),
    ("imaginary beside integers", lambda: lab.range(3) / 2j, TypeError, ["2j", "int32", "lab.complex64"]),
    ("real beside complex", lambda: X + lab.complex(X, X), TypeError, ["Try lab.cast(x, lab.complex64)."]),
    ("integers beside floats", lambda: X * lab.range(3), TypeError, ["do not mix", "Try lab.cast(y, lab.float32)."]),
    ("text beside numbers", lambda: X + lab.constant("a"), TypeError, ["Try lab.strings.to_number(y)."]),
    ("a Hessian of two", lambda: lab.hessian(lambda x, y: x)(1.0, 2.0), ValueError, ["hessian", "2 arguments", "Try"]),
    ("a Hessian of a dict", lambda: lab.hessian(lambda d: d["a"])({"a": X}), ValueError, ["hessian", "a dict", "Try"]),
    ("a product of a dict", lambda: lab.hvp(lambda d: d["a"], {"a": X}, {"a": X}), ValueError, ["hvp", "lab.jvp("]),
    (
        "a vector to solve for",
        lambda: lab.linalg.solve(lab.eye(3), lab.ones(3)),
        ValueError,
        ["solve", "right-hand sides", "(3,)", "b[:, lab.newaxis]"],
    ),
    (
        "a mask of keys",
        lambda: lab.layers.MultiHeadAttention(1, 2)(
            lab.ones((2, 3, 4)), lab.ones((2, 5, 4)), attention_mask=lab.ones((2, 5))
        ),
        ValueError,
        ["attention_mask", "(2, 3, 5)", "(2, 5)", "mask[:, lab.newaxis"],
    ),
    ("a layer without its base", lambda: Unmade()(X), AttributeError, ["'Unmade'", "Try super().__init__()"]),
    ("a weight too early", lambda: Unmade(weigh=True), AttributeError, ["'Unmade'", "Try super().__init__()"]),
    ("place of the greatest of none", lambda: lab.argmax(lab.zeros((0, 3)), axis=0), ValueError, ["f32[0,3]", "Try"]),
]


@pytest.mark.parametrize(("mistake", "kind", "words"), [case[1:] for case in SAID], ids=[case[0] for case in SAID])
def test_the_text_says_what_it_got_and_what_to_try(
    mistake: Callable[[], object], kind: type[Exception], words: list[str]
) -> None:
    with pytest.raises(kind) as caught:
        mistake()
    text, position = str(caught.value), 0
    for word in words:
        position = text.find(word, position)
        assert position >= 0, f"{word!r} is missing, or too early, in: {text}"


def test_every_refusal_ends_with_the_users_line() -> None:
    with pytest.raises(lab.errors.LabError) as caught:
        lab.reduce_sum(X, axis=5)  # this line
    assert any(Path(__file__).name in note and "# this line" in note for note in caught.value.__notes__)


def test_a_line_that_the_text_names_is_not_named_twice() -> None:
    with pytest.raises(lab.errors.ShapeMismatch, match=Path(__file__).name) as caught:
        X + lab.ones(2)  # pyright: ignore[reportUnusedExpression]
    assert not hasattr(caught.value, "__notes__")


def test_the_note_stands_last_in_a_traceback(tmp_path: Path) -> None:
    script = tmp_path / "mistake.py"
    script.write_text("import autodiff_lab as lab\nx = lab.constant([[1, 2], [3]])\n")
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=False)
    assert done.stderr.splitlines()[-1].endswith("mistake.py, line 2: x = lab.constant([[1, 2], [3]])")


@pytest.mark.parametrize("kind", [lab.constant, lab.Variable])
def test_habits_from_elsewhere_are_answered_and_are_no_attributes(kind: Callable[..., lab.Tensor]) -> None:
    x = kind([1.0])
    for name, cure in [("backward", "tape.gradient"), ("mean", "lab.reduce_mean"), ("T", "lab.transpose")]:
        with pytest.raises(AttributeError, match=f"has no attribute '{name}'. Try .*{cure}"):
            getattr(x, name)
        assert not hasattr(x, name)
        assert name not in dir(x)
    assert "numpy" in dir(x)


def test_a_name_that_stands_elsewhere_or_is_not_needed_says_so() -> None:
    for name, cure in [("log", "lab.math.log"), ("inv", "lab.linalg.inv"), ("Session", "at once"), ("sum", "reduce_")]:
        with pytest.raises(AttributeError, match=f"has no attribute '{name}'. Try .*{cure}"):
            getattr(lab, name)


def test_a_misspelt_name_is_guessed_by_python(tmp_path: Path) -> None:
    script = tmp_path / "typo.py"
    script.write_text("import autodiff_lab as lab\nlab.reduce_summ([1.0])\n")
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=False)
    assert "Did you mean: 'reduce_sum'?" in done.stderr


def test_an_integer_beside_a_fraction_is_one() -> None:
    """In either order, as where one of them is a tensor."""
    for made in (lab.where([True, False], 1, 0.5), lab.where([False, True], 0.5, 1)):
        assert made.numpy().tolist() == [1.0, 0.5]
        assert made.dtype == lab.float32


@pytest.mark.parametrize(
    "name", ["math.logaddexp", "math.relu", "linalg.reduce_sum", "nn.concat", "random.permutation"]
)
def test_a_namespace_knows_what_the_others_have(name: str) -> None:
    home, _, missing = name.partition(".")
    with pytest.raises(AttributeError, match=f"has no attribute '{missing}'. Try lab"):
        getattr(getattr(lab, home), missing)
