"""The colour table: sufficient contrast, and the same roles everywhere."""

import re

import pytest

from autodiff_lab.draw.svg import _STYLE
from autodiff_lab.draw.theme import DARK, FORCED, LIGHT, TO_COME, css_variables


def luminance(colour: str) -> float:
    """Relative luminance of a colour, as WCAG 2 defines it."""
    channels = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    """Contrast ratio of two colours, from 1 to 21."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("table", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize("ground", ["paper", "panel"])
@pytest.mark.parametrize("role", ["ink", "muted", "forward", "backward", "cut"])
def test_text_has_contrast_on_every_ground(table: dict[str, str], ground: str, role: str) -> None:
    assert contrast(table[role], table[ground]) >= 4.5


def test_every_theme_has_the_same_roles() -> None:
    assert list(LIGHT) == list(DARK) == list(FORCED)


def test_the_style_sheet_names_only_roles_that_exist() -> None:
    used = set(re.findall(r"var\(--lab-([a-z-]+)\)", _STYLE))
    assert used <= {*LIGHT, "ui-font", "code-font"}
    assert not re.search(r"#[0-9a-f]{3,6}\b", _STYLE)
    assert f"opacity: {TO_COME}" in _STYLE


@pytest.mark.parametrize("theme", ["auto", "light", "dark"])
def test_a_printed_page_is_light(theme: str) -> None:
    assert css_variables(".lab-x", theme).splitlines()[-1].startswith("@media print")
    last = re.findall(r"@media print \{ \.lab-x \{ (.*?) \} \}", css_variables(".lab-x", theme))
    assert len(last) == 1
    assert f"--lab-paper: {LIGHT['paper']} !important;" in last[0]


def test_the_host_decides_before_the_system() -> None:
    style = css_variables(".lab-x")
    assert style.index("prefers-color-scheme") < style.index('[data-jp-theme-light="true"]')


def test_in_a_notebook_the_paper_is_that_of_the_notebook() -> None:
    """Another dark ground would be a slab on it; a file of its own has the paper of the table."""
    hosted, alone = css_variables(), css_variables(hosted=False)
    for table in (LIGHT, DARK):
        assert f"--lab-paper: var(--jp-layout-color0, {table['paper']})" in hosted
        assert f"--lab-paper: {table['paper']};" in hosted, "for hosts that say nothing"
    assert "--jp-layout" not in alone
