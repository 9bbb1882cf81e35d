"""Every public name of the package is listed, resolves, and is documented with an example."""

import ast
import doctest
import importlib
import inspect
import io
import re
import typing
from pathlib import Path
from types import ModuleType

import pytest

import autodiff_lab
from tests.amputation import public
from tests.test_layers import NAMESPACES
from tests.tree import PACKAGE

# The modules whose names users type.
PUBLIC = ["autodiff_lab"] + [
    f"autodiff_lab.{name}"
    for name in (*NAMESPACES, "adapters", "extend", "teaching", "testing")
    if (PACKAGE / f"{name}.py").exists() or (PACKAGE / name / "__init__.py").exists()
]


def listed(module: ModuleType) -> list[str]:
    """Return the names in the module's `__all__` as its source, or its stub, spells them: as editors see them."""
    assert module.__file__ is not None
    stub = Path(module.__file__).with_suffix(".pyi")
    source = stub if stub.exists() else Path(module.__file__)
    for node in ast.parse(source.read_text(encoding="utf-8")).body:
        targets = (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        )
        if any(isinstance(target, ast.Name) and target.id == "__all__" for target in targets):
            assert isinstance(node, ast.Assign | ast.AnnAssign)
            assert node.value is not None
            return list(ast.literal_eval(node.value))
    pytest.fail(f"{module.__name__} has no literal __all__")


@pytest.mark.parametrize("name", public(PUBLIC))
def test_every_listed_name_resolves_and_is_listed_once(name: str) -> None:
    module = importlib.import_module(name)
    names = listed(module)
    assert sorted(names) == sorted(set(names))
    missing = [exported for exported in names if not hasattr(module, exported)]
    assert not missing


@pytest.mark.parametrize("name", public(PUBLIC))
def test_completion_offers_all_public_names_and_nothing_else(name: str) -> None:
    module = importlib.import_module(name)
    offered, names = {given for given in dir(module) if not given.startswith("_")}, set(listed(module))
    assert names <= offered
    others = [given for given in offered - names if not isinstance(getattr(module, given), ModuleType)]
    assert not others


@pytest.mark.parametrize("name", public(PUBLIC))
def test_every_public_callable_is_explained_with_an_example(name: str) -> None:
    module = importlib.import_module(name)
    silent: list[str] = []
    for exported in listed(module):
        value = getattr(module, exported)
        is_error = isinstance(value, type) and issubclass(value, BaseException)
        is_alias = typing.get_origin(value) is not None  # `Union[...]` has no docstring but that of `typing`
        if isinstance(value, ModuleType) or not callable(value) or is_error or is_alias:
            continue
        if ">>>" not in (inspect.getdoc(value) or ""):
            silent.append(exported)
    assert not silent, f"{name}: these have no example in their docstring: {silent}"


@pytest.mark.slow(keep=5)
@pytest.mark.parametrize("name", public(PUBLIC))
def test_the_example_of_every_public_function_runs(name: str) -> None:
    """Prove that examples of ops run too: pytest finds only functions written with `def` where it looks."""
    module = importlib.import_module(name)
    said = io.StringIO()
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    for exported in listed(module):
        value = getattr(module, exported)
        if isinstance(value, ModuleType | type) or not callable(value):
            continue
        example = doctest.DocTestParser().get_doctest(
            inspect.getdoc(value) or "", {}, f"{name}.{exported}", module.__file__, 0
        )
        runner.run(example, out=said.write)
    assert not runner.failures, said.getvalue()


def test_no_module_of_the_package_imports_a_star() -> None:
    texts = {path: path.read_text(encoding="utf-8") for path in sorted(PACKAGE.rglob("*.py"))}
    stars = [
        f"{path.relative_to(PACKAGE)}:{node.lineno}"
        for path, text in texts.items()
        if re.search(r"import[\s\\]*\*", text)  # parsing all takes seconds; a comment may say this too
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.ImportFrom) and any(alias.name == "*" for alias in node.names)
    ]
    assert not stars


def test_every_public_name_of_the_package_is_listed() -> None:
    imported = {
        name
        for name, value in vars(autodiff_lab).items()
        if not name.startswith("_")
        and not isinstance(value, ModuleType)
        and getattr(value, "__module__", "").startswith("autodiff_lab")
    }
    assert imported <= set(listed(autodiff_lab))
