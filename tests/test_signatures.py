"""Functions that TensorFlow also has take its parameters in its order, with our own only after them."""

import inspect
import tomllib
from typing import Any

import pytest

import autodiff_lab as lab
from tests.amputation import public
from tests.tree import ROOT

TABLE = tomllib.loads((ROOT / "tests" / "data" / "tensorflow_signatures.toml").read_text(encoding="utf-8"))
_KEYWORDS = "TensorFlow declares **kwargs; the keywords it documents are spelled out here"
DIFFERENT = {
    "RaggedTensor": "made by its class methods, as in TensorFlow; the constructor is internal there too",
    "constant_initializer": "support_partition speaks of partitioned variables, which only version 1 had",
    "einsum": _KEYWORDS, "linalg.einsum": _KEYWORDS, "meshgrid": _KEYWORDS, "print": _KEYWORDS,
    "sparse.split": "the tensor to split is needed, though TensorFlow's signature has None for it",
}  # fmt: skip
"""Names that are called otherwise here, and why."""


def found(name: str) -> Any:
    value: Any = lab
    for part in name.split("."):
        value = getattr(value, part)
    return value


def parameters(name: str) -> dict[str, inspect.Parameter]:
    own = inspect.signature(found(name)).parameters
    marks = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    return {marks.get(p.kind, "") + p.name: p for p in own.values() if p.name not in ("self", "cls")}


@pytest.fixture(scope="module", autouse=True)
def _methods() -> None:
    """Methods of variables are there once an op that needs them is: before, stand-ins are."""
    lab.Variable([1.0]).scatter_nd_update([[0]], [2.0])


@pytest.mark.extras
def test_a_name_is_listed_as_different_only_where_it_is() -> None:
    for name in DIFFERENT:
        with pytest.raises(AssertionError):
            called_as_in_tensorflow(name)


@pytest.mark.parametrize("name", public(name for name in TABLE if name not in DIFFERENT))
def test_it_is_called_as_in_tensorflow(name: str) -> None:
    called_as_in_tensorflow(name)


def called_as_in_tensorflow(name: str) -> None:
    asked = [word.rstrip("=") for word in TABLE[name].split()]
    optional = {word.rstrip("=") for word in TABLE[name].split() if word.endswith("=")}
    ours = parameters(name)
    assert list(ours)[: len(asked)] == asked
    for at, (word, parameter) in enumerate(ours.items()):
        if parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            needed = parameter.default is parameter.empty
            assert not (needed and (word in optional or at >= len(asked))), f"{name}: {word} has no default"


@pytest.mark.extras
def test_the_table_is_of_names_that_are_here() -> None:
    assert len(TABLE) > 600
    assert set(DIFFERENT) <= set(TABLE)
    for name in TABLE:
        assert callable(found(name)), name
