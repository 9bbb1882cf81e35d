"""PNG and PDF of pictures: size, colours, letters, and what is said where one cannot be written."""

import io
import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from autodiff_lab.draw.export import pdf, png, resolve
from autodiff_lab.draw.theme import DARK, LIGHT
from autodiff_lab.errors import InvalidArgumentError, MissingPackage
from autodiff_lab.recording.recording import Recording
from tests.draw import handmade

image = pytest.importorskip("matplotlib.image", reason="matplotlib, which reads PNGs, is not installed")
pytest.importorskip("resvg_py", reason="resvg_py, which writes PNGs, is not installed")
SIZE = re.compile(r'width="([\d.]+)" height="([\d.]+)"')


def pixels(data: bytes) -> NDArray[Any]:
    """The pixels of a PNG: integers from 0 to 255, of shape (height, width, 3)."""
    return np.round(255 * image.imread(io.BytesIO(data), format="png")[..., :3]).astype(int)


def size(svg: str) -> tuple[float, float]:
    ((width, height),) = SIZE.findall(svg[: svg.index(">")])
    return float(width), float(height)


def rgb(colour: str) -> NDArray[Any]:
    return np.array([int(colour[n : n + 2], 16) for n in (1, 3, 5)])


def share(drawn: NDArray[Any], colour: str) -> float:
    """The share of pixels that have exactly this colour."""
    return float((drawn == rgb(colour)).all(axis=-1).mean())


@pytest.mark.parametrize(("theme", "colours"), [("light", LIGHT), ("dark", DARK)])
def test_a_png_has_the_size_and_the_colours_of_its_picture(theme: str, colours: Mapping[str, str]) -> None:
    svg = handmade.sine().to_svg()
    width, height = size(svg)
    drawn = pixels(png(svg, theme, scale=2))
    assert drawn.shape[:2] == pytest.approx((2 * height, 2 * width), abs=2)
    assert share(drawn, colours["paper"]) > 0.5
    for role in ("forward", "backward", "ink"):
        assert share(drawn, colours[role]) > 1e-4, role


def test_a_png_has_letters() -> None:
    """A renderer that finds no font leaves texts out, and nothing else."""
    svg = handmade.sine().to_svg()
    bare = re.sub(r"<text.*?</text>", "", svg)
    assert (pixels(png(svg)) != pixels(png(bare))).any(axis=-1).sum() > 500


@pytest.mark.parametrize("scale", [0, -1, float("nan"), float("inf")])
def test_a_scale_is_a_positive_number(scale: float) -> None:
    with pytest.raises(InvalidArgumentError, match="scale must be a positive number"):
        png(handmade.sine().to_svg(), scale=scale)


def test_a_png_that_is_too_large_says_which_scale_is_not() -> None:
    svg = handmade.sine().to_svg()
    with pytest.raises(InvalidArgumentError, match=r"pixels is too large. Try scale=[\d.]+ or less") as raised:
        png(svg, scale=1000)
    (most,) = map(float, re.findall(r"scale=([\d.]+)", str(raised.value)))
    width, height = size(svg)
    assert 0.9e8 < width * height * most**2 <= 1e8


@pytest.mark.parametrize("theme", ["auto", "blue", None])
def test_a_file_has_one_theme(theme: str) -> None:
    with pytest.raises(InvalidArgumentError, match="theme must be 'light' or 'dark'"):
        resolve(handmade.sine().to_svg(), theme)


def test_what_is_not_a_picture_of_ours_is_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="a width and a height"):
        png("<svg/>")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_nothing_is_left_that_only_browsers_understand(theme: str) -> None:
    flat = resolve(handmade.sine().to_svg(), theme)
    assert "var(" not in flat
    assert "@media" not in flat


@pytest.mark.parametrize(
    "name", ["<b>&\"'", "\u05d0\u05d1", "\N{SNAKE}", "x" * 10_000, "]]>", "var(--lab-ink)", "</style>"]
)
def test_any_name_can_be_drawn(name: str, tmp_path: Path) -> None:
    import autodiff_lab as lab

    with lab.record(title=name) as recording:
        lab.exp(lab.constant(1.0, name=name), name=name)
    recording.to_png(tmp_path / "picture.png", scale=0.5)
    assert pixels((tmp_path / "picture.png").read_bytes()).size


def test_a_pdf_is_one_page_of_the_size_of_the_picture(tmp_path: Path) -> None:
    pytest.importorskip("typst", reason="typst, which writes PDFs, is not installed")
    handmade.sine().to_pdf(tmp_path / "picture.pdf", theme="dark")
    data = (tmp_path / "picture.pdf").read_bytes()
    assert data.startswith(b"%PDF")
    ((left, bottom, right, top),) = re.findall(rb"/MediaBox\s*\[([\d.]+) ([\d.]+) ([\d.]+) ([\d.]+)\]", data)
    width, height = size(handmade.sine().to_svg())
    assert float(right) - float(left) == pytest.approx(0.75 * width, abs=1)
    assert float(top) - float(bottom) == pytest.approx(0.75 * height, abs=1)


@pytest.mark.parametrize("write", [png, pdf])
def test_an_empty_picture_is_refused(write: Callable[[str], bytes]) -> None:
    pytest.importorskip("typst", reason="typst, which writes PDFs, is not installed")
    with pytest.raises(InvalidArgumentError, match="empty: nothing was recorded"):
        write(Recording({}, {}, ()).to_svg())


@pytest.mark.parametrize(("write", "package", "extra"), [(png, "resvg_py", "lab"), (pdf, "typst", "pdf")])
def test_a_missing_library_is_named(
    monkeypatch: pytest.MonkeyPatch, write: Callable[[str], bytes], package: str, extra: str
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingPackage, match=rf"needs {package}, which is not installed. .*autodiff-lab\[{extra}\]"):
        write(handmade.sine().to_svg())


def test_a_file_that_cannot_be_written_leaves_the_old_one(tmp_path: Path) -> None:
    old = tmp_path / "picture.png"
    old.write_bytes(b"old")
    with pytest.raises(InvalidArgumentError):
        handmade.sine().to_png(old, scale=-1)
    assert old.read_bytes() == b"old"
    with pytest.raises(OSError):
        handmade.sine().to_png(tmp_path / "no folder" / "picture.png")
