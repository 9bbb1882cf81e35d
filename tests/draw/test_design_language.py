"""The design language says what is so: its colours, contrasts, sizes and list of widgets are those of the code."""

import re

from autodiff_lab.draw.assets import WIDGETS
from autodiff_lab.draw.lines import CUT, PENDING, cut
from autodiff_lab.draw.theme import DARK, FORCED, LIGHT, RADIUS, REGULAR, SMALL, STRONG
from tests.draw.test_theme import contrast
from tests.tree import ROOT
from tests.widgets.examples import kinds

TEXT = (ROOT / "docs" / "design-language.md").read_text(encoding="utf-8")
STYLES = {path: path.read_text(encoding="utf-8") for path in sorted(WIDGETS.rglob("*.css"))}
SHEETS = "\n".join(STYLES.values())


def test_colours_and_contrasts_are_those_of_the_theme() -> None:
    rows = re.findall(r"^\| `([\w-]+)` \| `(#\w+)` \| ([\d.]+) \| `(#\w+)` \| ([\d.]+) \|", TEXT, re.MULTILINE)
    told = [(role, light, dark) for role, light, _, dark, _ in rows]
    assert told == [(role, LIGHT[role], DARK[role]) for role in LIGHT]
    for role, _, light, _, dark in rows:
        assert [float(light), float(dark)] == [round(contrast(t[role], t["paper"]), 1) for t in (LIGHT, DARK)]


def test_every_role_that_a_style_sheet_names_is_in_the_table() -> None:
    used = set(re.findall(r"var\(--lab-([a-z-]+)", SHEETS)) - {"ui-font", "code-font"}
    assert used <= set(re.findall(r"^\| `([\w-]+)` \| `#", TEXT, re.MULTILINE))
    forced = set(re.findall(r"`([A-Z]\w+)`", TEXT.split("forces its own")[1].split("\n")[0] + TEXT))
    assert {colour for colour in FORCED.values() if colour != "Canvas"} <= forced


def test_sizes_weights_and_corners_are_those_of_the_style_sheets() -> None:
    sizes = {int(size) for size in re.findall(r"(?:font-size: |font: (?:\d+ )?)(\d+)px", SHEETS)}
    assert {SMALL, 14, 18} <= sizes <= {11, SMALL, 13, 14, 16, 18}
    weights = {int(weight) for weight in re.findall(r"(?:font-weight: |font: )(\d00)\b", SHEETS)}
    assert weights == {REGULAR, STRONG} == {int(weight) for weight in re.findall(r"\b([46]00)\b", TEXT)}
    assert f"a radius of {RADIUS} pixels" in TEXT
    assert set(re.findall(r"box-shadow: (\w+)", SHEETS)) <= {"none", "inset"}
    assert "linear-gradient" not in SHEETS


def test_motion_is_short_and_can_be_switched_off() -> None:
    for path, style in STYLES.items():
        moving = re.findall(r"transition: [^;]*\d+ms", style)
        assert not moving or "prefers-reduced-motion" in style, path
    assert "150 ms" in TEXT
    assert "duration: 150" in (WIDGETS / "explorer" / "motion.js").read_text(encoding="utf-8")


def test_marks_are_those_of_the_pictures() -> None:
    assert f"`{PENDING}`" in TEXT
    assert f"after 40 characters with `{CUT}`" in TEXT
    assert len(cut("n" * 100)) == 40
    assert cut("a\u202eb") == "a�b"


def test_every_widget_is_listed() -> None:
    assert set(re.findall(r"^\| `([A-Z]\w+)` \|", TEXT, re.MULTILINE)) == kinds()
