"""Cards in a browser, light and dark: the text is readable, tables lose nothing, inner models unfold."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.test_cards import SHOWN

READ = """() => {
    const bright = text => { const [r, g, b] = text.match(/[\\d.]+/g).map(Number).map(v => v / 255).map(
        v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
    const ground = bright(getComputedStyle(document.body).backgroundColor);
    return [...document.querySelectorAll(".lab-card p, .lab-card td, .lab-card th, .lab-card b, .lab-card span")]
        .map(element => { const ink = bright(getComputedStyle(element).color);
            return (Math.max(ink, ground) + 0.05) / (Math.min(ink, ground) + 0.05); });
}"""


@pytest.mark.slow(keep=1)
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("doctype", ["<!doctype html>", ""])
def test_cards_can_be_read(browser: Browser, theme: str, doctype: str, tmp_path: Path) -> None:
    cards = "".join(
        f'<div style="margin: 16px; break-inside: avoid">{make()._repr_html_()}</div>' for make in SHOWN.values()
    )
    paper = {"light": "#ffffff", "dark": "#0d1117"}[theme]
    file = tmp_path / "cards.html"
    body = f'<body data-theme="{theme}" style="background: {paper}; columns: 2">{cards}</body>'
    file.write_text(f'{doctype}<meta charset="utf-8">{body}', encoding="utf-8")
    page = browser.new_page(viewport={"width": 1300, "height": 1000})
    try:
        page.goto(file.as_uri())
        contrasts = page.evaluate(READ)
        assert len(contrasts) > 200
        assert min(contrasts) >= 4.5
        inner = page.get_by_text("batch_normalization")
        assert not inner.first.is_visible()
        page.get_by_text("features (Sequential)").click()
        assert inner.first.is_visible()
    finally:
        page.close()
