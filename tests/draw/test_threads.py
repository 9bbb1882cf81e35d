"""The map from threads to elements: it shows what the kernel did, and the pictures in the docs are current."""

import os
import re
from xml.etree import ElementTree

import numpy as np
import pytest

from autodiff_lab.lessons import Launch, cuda, launch
from tests.tree import ROOT

IMAGES = ROOT / "docs" / "images"


def neighbours(x: np.ndarray, y: np.ndarray) -> None:
    """Give neighbouring threads neighbouring elements."""
    i = cuda.grid(1)
    if i < x.size:
        y[i] = 2.0 * x[i]


def apart(x: np.ndarray, y: np.ndarray) -> None:
    """Give the threads of a block elements that lie apart."""
    i = cuda.threadIdx.x * cuda.gridDim.x + cuda.blockIdx.x
    if i < x.size:
        y[i] = 2.0 * x[i]


def launched(kernel: object) -> Launch:
    """Run one of them on 20 numbers, in blocks of 8."""
    return launch(kernel, 3, 8, x=np.arange(20.0), y=np.zeros(20))  # pyright: ignore[reportArgumentType]


def test_every_touch_is_a_line_and_every_thread_a_box() -> None:
    """24 threads, 20 elements twice, 20 lines each way; 4 threads are dashed."""
    picture = launched(neighbours).svg
    assert picture.count('class="lab-touch"') == 20
    assert picture.count('class="lab-touch lab-writes"') == 20
    assert len(re.findall(r'class="lab-thread[^"]*"', picture)) == 24
    assert picture.count("lab-thread lab-idle") == 4
    assert picture.count('class="lab-element"') == 40
    ElementTree.fromstring(picture)


def test_lines_cross_where_access_is_not_coalesced() -> None:
    """The ends of the lines are in the order of the threads in one picture only."""

    def ends(picture: str) -> list[float]:
        found = re.findall(r'class="lab-touch" d="M([\d.]+),[\d.]+L([\d.]+)', picture)
        return [float(end) for _, end in sorted((float(begin), float(end)) for begin, end in found)]

    straight, crossed = ends(launched(neighbours).svg), ends(launched(apart).svg)
    assert straight == sorted(straight)
    assert crossed != sorted(crossed)


def test_large_launches_are_told_and_not_drawn() -> None:
    """Beyond 64 elements lines would be a grey field."""
    done = launch(neighbours, 13, 8, x=np.ones(100), y=np.zeros(100))
    assert "lab-touch" not in done.svg.partition("</style>")[2]
    assert "13 × 8 = 104 threads, 4 of them with nothing to do" in done.account


@pytest.mark.parametrize("kernel", [neighbours, apart])
def test_the_pictures_of_the_page_are_what_is_drawn_now(kernel: object) -> None:
    """Run with RENEW_PICTURES=1 to write them again."""
    path = IMAGES / f"threads_{kernel.__name__}.svg"  # type: ignore[attr-defined]
    picture = launched(kernel).svg + "\n"
    if os.environ.get("RENEW_PICTURES"):
        path.write_text(picture, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == picture
