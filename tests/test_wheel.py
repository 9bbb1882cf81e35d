"""The wheel contains what an installed package needs: code, types, the widgets' scripts and styles, the lessons."""

import ast
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from email.message import Message
from email.parser import Parser
from pathlib import Path

import pytest

from tests.tree import PACKAGE, ROOT, project_files

SHIPPED = {".py", ".js", ".css", ".json", ".typed"}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel with the back end of the environment."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def names(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def expected(folder: Path, inside: str, suffixes: set[str]) -> set[str]:
    return {
        f"{inside}/{path.relative_to(folder).as_posix()}"
        for path in project_files()
        if path.is_relative_to(folder) and path.suffix in suffixes
    }


def test_the_wheel_holds_every_module_script_and_style_sheet(names: set[str]) -> None:
    assert "autodiff_lab/py.typed" in names
    assert not expected(PACKAGE, "autodiff_lab", SHIPPED) - names


def test_the_lessons_travel_inside_the_package(names: set[str]) -> None:
    lessons = expected(ROOT / "notebooks", "autodiff_lab/_notebooks", {".ipynb", ".md"})
    assert lessons
    assert not lessons - names


def test_the_wheel_holds_nothing_else(names: set[str]) -> None:
    foreign = [name for name in names if not name.startswith(("autodiff_lab/", "autodiff_lab-"))]
    assert not foreign
    assert not [name for name in names if "__pycache__" in name or name.endswith((".pyc", ".test.js"))]


@pytest.fixture(scope="module")
def metadata(wheel: Path) -> Message:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        return Parser().parsestr(archive.read(name).decode())


def test_every_extra_that_is_suggested_exists(metadata: Message) -> None:
    """A message or a document that says ``pip install "autodiff-lab[...]"`` names extras of the wheel."""
    extras = metadata.get_all("Provides-Extra") or []
    found = {}
    for path in project_files():
        if path.suffix in {".py", ".md"} and not path.is_relative_to(ROOT / "tests"):
            for names in re.findall(
                r"(?:autodiff-lab|pip install \"\.)\[([a-z,-]+)\]", path.read_text(encoding="utf-8")
            ):
                found |= dict.fromkeys(names.split(","), path.name)
    assert {"lab", "jit", "cuda", "torch"} <= found.keys()
    assert not {name: file for name, file in found.items() if name not in extras}
    raised = [call.args[2] for call in calls_for_extras()]
    assert len(raised) > 5
    assert {extra.value for extra in raised if isinstance(extra, ast.Constant)} <= set(extras)


def test_the_core_needs_three_packages(metadata: Message) -> None:
    needed = [line for line in metadata.get_all("Requires-Dist") or [] if "extra ==" not in line]
    assert sorted(re.split("[<>=]", line)[0] for line in needed) == ["ml-dtypes", "numpy", "scipy"]


def calls_for_extras() -> Iterator[ast.Call]:
    """Yield the calls ``MissingPackage.of(what, package, extra, ...)`` of the package."""
    for path in project_files():
        if path.is_relative_to(PACKAGE) and path.suffix == ".py" and "MissingPackage.of(" in path.read_text():
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Call) and ast.unparse(node.func) == "MissingPackage.of":
                    yield node


def test_a_plain_jupyterlab_saves_widgets_with_their_notebooks(
    wheel: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Read the settings as JupyterLab's server does, from the folders that pip writes, beside those of others."""
    manager = pytest.importorskip("jupyter_server.services.config", reason="JupyterLab is not installed")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path)
    (data,) = tmp_path.glob("*.data/data/etc/jupyter")
    others = data / "labconfig" / "default_setting_overrides.json"
    others.write_text('{"other:plugin": {"a": 1}}', encoding="utf-8")
    monkeypatch.setenv("JUPYTER_CONFIG_PATH", str(data))
    found = manager.ConfigManager(config_dir_name="labconfig").get("default_setting_overrides")
    assert found["@jupyter-widgets/jupyterlab-manager:plugin"] == {"saveState": True}
    assert found["other:plugin"] == {"a": 1}
