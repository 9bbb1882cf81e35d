"""Helpers for the tests of the explorer: what they read from a page, and how they navigate it."""

import re
from pathlib import Path
from typing import Any

from playwright.sync_api import Locator, Page

from autodiff_lab.draw.page import page as page_of
from autodiff_lab.recording import Recording

READ_STEP = """root => {
    const number = element => element && { short: element.textContent, full: element.dataset.full };
    const flows = [...root.querySelectorAll(".flow")].map(flow => ({
        position: Number(flow.dataset.position),
        incoming: number(flow.querySelector("[data-role=incoming]")),
        local: number(flow.querySelector("[data-role=local]")),
        outgoing: number(flow.querySelector("[data-role=outgoing]")),
        total: number(flow.querySelector("[data-role=total]")),
        gathering: flow.querySelector(".gathering").firstChild.textContent,
    }));
    return {
        step: Number(root.dataset.step),
        application: Number(root.dataset.application),
        counter: root.querySelector(".counter").textContent,
        live: root.querySelector(".live").textContent,
        inputs: [...root.querySelectorAll("dd.input .number")].map(number),
        outputs: [...root.querySelectorAll("dd.output .number")].map(number),
        flows,
    };
}"""
READ_BOXES = """root => Object.fromEntries([...root.querySelectorAll(".box")].map(box => [box.dataset.key, {
    label: box.querySelector(".label").textContent,
    value: box.querySelector(".value")?.textContent ?? "",
    gradient: box.querySelector(".gradient")?.textContent ?? "",
    arrived: box.querySelector(".arrived")?.textContent ?? "",
    time: box.dataset.time,
}]))"""


def save(recording: Recording, folder: Path, title: str | None = None) -> Path:
    """Write the page of a recording, and return where."""
    file = folder / "page.html"
    file.write_text(page_of(recording, title), encoding="utf-8")
    return file


def explorer(page: Page, at: int = 0) -> Locator:
    """The explorer on a page, when it is ready."""
    root = page.locator(".explorer").nth(at)
    root.wait_for()
    return root


def take_focus(root: Locator) -> None:
    """Give the keys to the explorer, as the tab key would."""
    root.locator(".graph").focus()


def read_step(root: Locator) -> dict[str, Any]:
    """What the card says of the current step."""
    return root.evaluate(READ_STEP)


def read_boxes(root: Locator) -> dict[str, dict[str, str]]:
    """What every node of the graph shows, by its key."""
    return root.evaluate(READ_BOXES)


def numbers(text: str) -> list[float]:
    """Every number in a text that people read, with its true minus signs."""
    return [float(found) for found in re.findall(r"nan|[-+]?inf|[-+]?\d+\.?\d*(?:e[-+]?\d+)?", text.replace("−", "-"))]
