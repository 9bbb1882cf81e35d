"""The wheel contains what an installed package needs: code, types, the widgets' scripts and styles, the lessons."""

import subprocess
import sys
import zipfile
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
