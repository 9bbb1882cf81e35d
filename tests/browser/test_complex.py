"""Complex numbers in the explorer: a sweep passes on conjugates, and the card says so where it meets the gradient."""

from pathlib import Path

import pytest
from playwright.sync_api import Locator

import autodiff_lab as lab
from tests.browser.conftest import OpenPage
from tests.browser.pages import explorer, save, take_focus


@pytest.fixture
def root(open_page: OpenPage, tmp_path: Path) -> Locator:
    c = lab.Variable(1 + 2j, name="c")
    with lab.record() as recording, lab.GradientTape() as tape:
        w = c * c
        m = lab.abs(w)
        assert complex(tape.gradient(m, c)) == 2 + 4j
    found = explorer(open_page(save(recording, tmp_path)).page)
    take_focus(found)
    found.page.keyboard.press("End")
    return found


def test_the_last_step_says_how_its_sum_becomes_the_gradient(root: Locator) -> None:
    assert root.locator("[data-role=total]").last.inner_text() == "2 − 4i"
    said = root.locator(".card .conjugates").inner_text()
    assert said.startswith("For complex numbers a sweep passes on conjugates")
    assert said.endswith("the gradient of c is the conjugate of its adjoint, 2 + 4i.")


def test_the_factor_of_abs_is_called_what_it_is(root: Locator) -> None:
    root.page.keyboard.press("ArrowLeft")
    assert root.locator("[data-role=local]").inner_text() == "−0.6 − 0.8i", "not sign w, which is −0.6 + 0.8i"
    assert root.locator(".factor .overline").text_content() == "signw"


def test_the_card_of_a_tensor_has_both(root: Locator) -> None:
    root.page.keyboard.press("/")
    root.page.keyboard.type("c")
    root.page.keyboard.press("Escape")
    words = root.locator(".card .values").inner_text().split("\n")
    assert words[words.index("adjoint") + 1] == "2 − 4i"
    assert words[words.index("gradient") + 1] == "2 + 4i"


def test_the_tip_writes_numbers_as_the_node_does(root: Locator) -> None:
    root.locator(".box .body").first.hover()
    assert root.locator(".inspector").inner_text().startswith("c: complex128 = 1 + 2i; adjoint 2 − 4i")
