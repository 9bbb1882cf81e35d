"""What Keras, TensorFlow and PyTorch have and this package does not is answered with what to use instead."""

import importlib
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import autodiff_lab as lab
from autodiff_lab import absent

ANSWERED = [(module, name) for module, names in absent.TABLES.items() for name in names]
NAMES_IN_ANSWERS = re.compile(r"\b(?:lab|keras)(?:\.[a-zA-Z_]\w*)+")


@pytest.mark.parametrize(("module", "name"), ANSWERED)
def test_a_name_that_is_absent_says_what_to_use(module: str, name: str) -> None:
    namespace = importlib.import_module(module)
    with pytest.raises(AttributeError) as raised:
        getattr(namespace, name)
    assert str(raised.value).startswith(f"module '{module}' has no attribute '{name}'. Try ")
    assert str(raised.value).endswith(".")
    assert not hasattr(namespace, name)
    assert name not in namespace.__all__
    for line in (f"from {module} import {name}", f"import {module}.{name}.deeper"):
        with pytest.raises(ImportError, match=re.escape(f"'{module}' has no '{name}'. Try ")):
            exec(line)


@pytest.mark.parametrize(
    "table", [*absent.TABLES.values(), absent.MODULES, absent.STEPPERS, absent.TAPES, absent.TENSORS]
)
def test_what_an_answer_names_exists(table: dict[str, str]) -> None:
    for answer in table.values():
        for dotted in NAMES_IN_ANSWERS.findall(answer):
            value: Any = lab
            for part in dotted.split(".")[1:] if dotted.startswith("lab") else dotted.split("."):
                value = getattr(value, part)  # raises with the name that does not exist


@pytest.mark.parametrize(
    ("made", "table"),
    [
        (lab.Module, absent.MODULES), (lambda: lab.layers.Dense(1), absent.MODULES),
        (lambda: lab.Sequential([lab.layers.Dense(1)]), absent.MODULES), (lab.optimizers.Adam, absent.STEPPERS),
        (lambda: lab.constant(1.0), absent.TENSORS), (lab.GradientTape, absent.TAPES),
    ],
)  # fmt: skip
def test_methods_of_other_frameworks_are_answered(made: Any, table: dict[str, str]) -> None:
    value = made()
    for name, cure in table.items():
        with pytest.raises(AttributeError, match=re.escape(f"has no attribute '{name}'. Try {cure}.")):
            getattr(value, name)
        assert not hasattr(value, name)
        assert name not in dir(value)
        if isinstance(value, lab.Tensor):
            with pytest.raises(AttributeError, match=re.escape(f"has no attribute '{name}'. Try {cure}.")):
                setattr(value, name, True)


def test_a_wrong_argument_of_a_method_of_a_tape_names_the_tape() -> None:
    tape: Any = lab.GradientTape()
    for name in ("gradient", "jacobian", "explain", "steps", "watch"):
        with pytest.raises(TypeError, match=re.escape(f"GradientTape.{name}() got an unexpected keyword argument 'k'")):
            getattr(tape, name)(lab.constant(1.0), k=1)


def test_a_class_of_the_user_may_have_the_names() -> None:
    class Mine(lab.keras.Model):
        def __init__(self) -> None:
            super().__init__()
            self.train = "a set"

        def forward(self, x: Any) -> Any:
            return x

    model = Mine()
    assert model.forward(model.train) == "a set"
    assert "train" in vars(model)


@pytest.mark.slow(keep=1)
@pytest.mark.parametrize("line", ["lab.keras.layers.Dens", "lab.keras.Sequentail", "lab.data.Datset", "lab.nn.relv"])
def test_a_misspelt_name_is_guessed_by_python(line: str, tmp_path: Path) -> None:
    script = tmp_path / "typo.py"
    script.write_text(f"import autodiff_lab as lab\n{line}\n")
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=False)
    assert done.stderr.count("Did you mean: '") == 1
    assert "Try" not in done.stderr


@pytest.mark.parametrize(("ask", "meant"), [(lambda: lab.reduce_sums, "reduce_sum"), (lambda: lab.nn.relv, "relu")])
def test_a_misspelt_name_is_guessed_in_notebooks_too(ask: Callable[[], Any], meant: str) -> None:
    """They show the message and not what a terminal adds to it."""
    with pytest.raises(AttributeError, match=rf"Did you mean: '{meant}'\?$"):
        ask()


@pytest.mark.parametrize("line", ["from autodiff_lab.nn import relv", "import autodiff_lab.nothing_such"])
def test_an_unknown_import_has_the_error_of_python(line: str) -> None:
    with pytest.raises(ImportError, match=r"cannot import name 'relv'|No module named 'autodiff_lab\.nothing_such'"):
        exec(line)


def test_arguments_under_their_former_names_are_refused_with_the_present_one() -> None:
    with pytest.raises(
        TypeError, match=r"Adam.__init__\(\) got an unexpected keyword argument 'lr'. Try learning_rate"
    ):
        lab.optimizers.Adam(lr=0.1)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match=r"SGD.__init__\(\) got an .* 'momentun'. Did you mean 'momentum'\?$"):
        lab.optimizers.SGD(momentun=0.1)  # type: ignore[call-arg]


def test_the_back_end_of_keras_has_what_programs_call() -> None:
    backend = lab.keras.backend
    backend.clear_session()
    assert lab.layers.Dense(1).name == "dense"
    assert (backend.epsilon(), backend.floatx(), backend.image_data_format()) == (1e-7, "float32", "channels_last")
    with pytest.raises(AttributeError, match=r"Try lab\.exp\."):
        backend.exp  # noqa: B018


def test_the_learning_rate_can_be_assigned_to() -> None:
    optimizer = lab.optimizers.SGD(lab.optimizers.schedules.ExponentialDecay(1.0, 1, 0.5))
    v = lab.Variable(1.0)
    optimizer.apply_gradients([(lab.constant(0.0), v)])
    assert optimizer.learning_rate == optimizer.lr == optimizer.learning_rate.numpy() == 0.5
    optimizer.learning_rate.assign(0.25)
    optimizer.apply_gradients([(lab.constant(1.0), v)])
    assert float(v) == 0.75
    optimizer.lr = 0.5
    assert optimizer.learning_rate == 0.5
    rate = lab.Variable(0.1)
    other = lab.optimizers.SGD(rate)
    assert other.learning_rate.assign(0.125) == 0.125
    assert float(rate) == 0.125


def test_names_that_python_asks_for_load_nothing() -> None:
    """As `inspect` and completion look for them in every module."""
    program = (
        "import sys; import autodiff_lab as lab; lab.linalg; before = set(sys.modules)\n"
        "assert not hasattr(lab.linalg, '__wrapped__') and not hasattr(lab.linalg, '_repr_html_')\n"
        "assert set(sys.modules) == before, sorted(set(sys.modules) - before)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
