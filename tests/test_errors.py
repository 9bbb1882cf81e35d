"""Every class of `lab.errors` is documented by a program that raises it and the corrected program."""

import builtins
import inspect
import re
import tempfile
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

import autodiff_lab as lab
from autodiff_lab import errors
from tests.test_documents import examples
from tests.tree import ROOT

PAGE = (ROOT / "docs" / "errors.md").read_text(encoding="utf-8")
SECTIONS = {title: body for title, _, body in (part.partition("\n") for part in PAGE.split("\n## ")[1:])}
# Aliases, such as TensorFlow's name for the common base, are not classes of their own.
CLASSES = {
    name: cls
    for name, cls in vars(errors).items()
    if inspect.isclass(cls) and issubclass(cls, errors.LabError) and cls.__name__ == name
}
# The common base is raised by nobody.
DOCUMENTED = sorted(set(CLASSES) - {"LabError"})


def test_the_page_has_a_section_for_every_class_and_for_no_other() -> None:
    """LookupError is documented too: it is what TensorFlow code catches."""
    assert set(SECTIONS) == {*DOCUMENTED, "LookupError"}


@pytest.mark.parametrize("name", DOCUMENTED)
def test_a_section_shows_the_failing_program_and_then_the_mended_one(name: str) -> None:
    """That both run as shown is proven where all documents run."""
    failing, *others = [example.code for example in examples(SECTIONS[name])]
    assert f"\nautodiff_lab.errors.{name}: " in failing
    assert others
    assert all("Traceback" not in code for code in others)


def built_ins(cls: type) -> set[str]:
    """The built-in exceptions by which a class can be caught, but for those that catch everything."""
    return {c.__name__ for c in cls.__mro__ if c.__module__ == builtins.__name__} - {
        "Exception",
        "BaseException",
        "object",
    }


@pytest.mark.parametrize("name", DOCUMENTED)
def test_a_class_is_exactly_the_errors_that_its_section_names(name: str) -> None:
    """The first sentence of a section lists them; a class of ours that is named stands for what it is itself."""
    cls = CLASSES[name]
    opening = SECTIONS[name].strip().partition(":")[0]
    named = re.findall(r"`(\w+)`", opening)
    promised: set[str] = set()
    for word in named:
        base = CLASSES.get(word) or getattr(builtins, word)
        assert issubclass(cls, base), f"{name} is said to be a {word}"
        promised |= built_ins(base)
    assert built_ins(cls) == promised


@pytest.mark.parametrize("name", DOCUMENTED)
def test_the_family_tree_in_the_module_shows_every_class(name: str) -> None:
    assert re.search(rf"── {name}\b", errors.__doc__ or "")
    assert (CLASSES[name].__doc__ or "").strip().endswith(".")


MESSAGES: dict[str, tuple[Any, str]] = {
    "gather": (lambda: lab.gather(lab.ones(4), [-1]), "Negative indices do not count from the end: try index % length"),
    "searchsorted": (lambda: lab.searchsorted(lab.constant([0.0, 1.0]), lab.ones((4, 6))), "lab.reshape(values, [-1])"),
    "cholesky": (lambda: lab.linalg.cholesky(-lab.eye(3)), "cholesky: the matrix is not positive definite. Try"),
    "inv": (lambda: lab.linalg.inv(lab.zeros((2, 2))), "inv: the matrix is singular. Try"),
    "eigh": (lambda: lab.linalg.eigh(lab.fill((3, 3), float("nan"))), "Try lab.debugging.check_numerics."),
    "svd": (lambda: lab.linalg.svd(lab.fill((3, 3), float("nan"))), "Try lab.debugging.check_numerics."),
    "padding": (lambda: lab.nn.conv2d(lab.ones((1, 4, 4, 1)), lab.ones((3, 3, 1, 1)), 1, 1), "Try [(1, 1), (1, 1)]."),
    "a shape in pieces": (lambda: lab.reshape(lab.ones(6), 6, 1), "name must be a string, got 1. A shape"),  # type: ignore[arg-type]
    "tensors in pieces": (lambda: lab.concat(lab.ones(2), lab.ones(2)), "Try lab.concat([x, y], axis)."),  # type: ignore[arg-type]
    "stacked in pieces": (lambda: lab.stack(lab.ones(2), lab.ones(2)), "Try lab.stack([x, y], axis)."),  # type: ignore[arg-type]
    "no return": (lambda: lab.gradient(lambda x: None)(3.0), "<lambda> returned None. Does it end without return?"),
    "brackets": (lambda: lab.ones(3)[np.array([0, 1])], "lab.gather_nd for one for each axis"),
}


@pytest.mark.parametrize("name", MESSAGES)
def test_errors_about_values_and_positions_say_what_to_try(name: str) -> None:
    run, words = MESSAGES[name]
    with pytest.raises(lab.errors.LabError) as raised:
        run()
    assert words in str(raised.value)
    assert (raised.type is lab.errors.ShapeMismatch) == (name == "searchsorted")


def test_a_tape_that_was_spent_in_a_notebook_names_the_cell_and_not_its_file() -> None:
    cell = "with lab.GradientTape() as tape:\n    y = x * x\ntape.gradient(y, x)\ntape.gradient(y, x)\n"
    code = compile(cell, f"{tempfile.gettempdir()}/ipykernel_77/123.py", "exec")  # as IPython names one
    with pytest.raises(lab.errors.TapeSpent, match=r"It was used up at a notebook cell, line 3\.") as raised:
        exec(code, {"lab": lab, "x": lab.Variable(2.0)})
    assert "ipykernel" not in str(raised.value)


@pytest.fixture
def shell() -> Iterator[InteractiveShell]:
    yield InteractiveShell.instance(colors="nocolor")
    InteractiveShell.clear_instance()


@pytest.mark.parametrize(
    ("cell", "says"),
    [
        ("lab.explore(lab.sin, 4, 1)", "BadInterval: expected lo below hi"),
        ("lab.explore(lambda x: None, 0, 1)", "InvalidArgumentError: "),
        ("lab.ones((2, 3)) @ lab.ones((2, 3))", "ShapeMismatch: "),
    ],
)
def test_a_notebook_shows_the_users_lines_and_the_sentence(cell: str, says: str, shell: InteractiveShell) -> None:
    """No line of the package stands between them, unless the user asks for all."""
    shell.run_cell("import autodiff_lab as lab").raise_error()

    def shown() -> str:
        with capture_output() as captured:
            shell.run_cell(f"def called():\n    return {cell}\ncalled()", store_history=True)
        return captured.stdout

    brief = shown()
    assert says in brief
    assert brief.count(f"return {cell}") >= 2, "the call and the note below the message"
    assert "called()" in brief
    assert "File " not in brief
    shell.run_line_magic("xmode", "Verbose")
    assert "autodiff_lab" in shown().replace("import autodiff_lab", "")
    assert "File " in shown()
