"""Pictures as PNG and PDF: an SVG of this package without what only browsers understand, rendered by a library.

Our style sheets name colours as custom properties, so that one picture follows the theme of its host.  `resolve` puts
the values of one theme in their places, and drops the rules for other hosts.
"""

from __future__ import annotations

import math
import re
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from autodiff_lab.draw.theme import CODE_FONT, UI_FONT, colours
from autodiff_lab.errors import InvalidArgumentError, MissingPackage

LARGEST = 100_000_000
"""Pixels of the largest PNG: 400 MB while it is drawn."""
_USED = re.compile(r"var\((--[\w-]+)(?:,\s*([^()]*))?\)")
_AT_RULE = re.compile(r"@(?:media|supports)[^{]*\{(?:[^{}]*\{[^{}]*\})*[^{}]*\}")
_STYLE = re.compile(r"<style>(.*?)</style>", re.DOTALL)
_SIZE = re.compile(r'<svg[^>]*? width="([\d.]+)"[^>]*? height="([\d.]+)"')


def resolve(svg: str, theme: str = "light") -> str:
    """Return a picture in the colours of one theme, with the style sheets that any SVG renderer reads.

    Parameters
    ----------
    svg : str
        A picture of this package, of any theme.
    theme : str
        ``"light"`` or ``"dark"``.

    Examples
    --------
    >>> picture = '<svg><style>.a { fill: var(--lab-ink); } @media print { .a { fill: red; } }</style></svg>'
    >>> resolve(picture)
    '<svg><style>.a { fill: #1f2328; } </style></svg>'
    """
    if theme not in ("light", "dark"):
        raise InvalidArgumentError(
            f"theme must be 'light' or 'dark', since a file cannot follow its viewer; got {theme!r}."
        )
    values = {f"--lab-{role}": colour for role, colour in colours(theme).items()}
    values |= {"--lab-ui-font": UI_FONT, "--lab-code-font": CODE_FONT}

    def styled(found: re.Match[str]) -> str:
        return f"<style>{_filled(_AT_RULE.sub('', found[1]), values)}</style>"

    return _filled(_STYLE.sub(styled, svg), values)


def _filled(text: str, values: dict[str, str]) -> str:
    """Replace custom properties by their values, or by what is to be used where there is none."""
    while (replaced := _USED.sub(lambda use: values.get(use[1], use[2] or "inherit"), text)) != text:
        text = replaced
    return text


def png(svg: str, theme: str = "light", scale: float = 2.0) -> bytes:
    """Return a picture as a PNG.

    Parameters
    ----------
    svg : str
        A picture of this package.
    theme : str
        ``"light"`` or ``"dark"``.
    scale : float
        Pixels of the result for each pixel of the picture.

    Raises
    ------
    MissingPackage
        Without resvg_py, which comes with ``autodiff-lab[lab]``.
    InvalidArgumentError
        If the picture is empty, `scale` is not a positive number, or there would be over 100 million pixels.
    """
    try:
        import resvg_py
    except ImportError as error:
        raise MissingPackage.of("A PNG", "resvg_py", "lab") from error
    width, height = _size(svg)
    if not (scale > 0 and math.isfinite(scale)):
        raise InvalidArgumentError(f"scale must be a positive number, got {scale!r}.")
    if width * height * scale**2 > LARGEST:
        most = math.floor(10 * math.sqrt(LARGEST / (width * height))) / 10
        raise InvalidArgumentError(
            f"A PNG of {width * scale:,.0f} x {height * scale:,.0f} pixels is too large. "
            f"Try scale={most:g} or less, or an SVG, which has no pixels."
        )
    fonts = _fonts()
    options: dict[str, Any] = {"zoom": scale, "background": colours(theme)["paper"]}
    if fonts:
        options |= {"font_dirs": fonts, "sans_serif_family": "DejaVu Sans", "monospace_family": "DejaVu Sans Mono"}
    return bytes(resvg_py.svg_to_bytes(svg_string=resolve(svg, theme), **options))


def pdf(svg: str, theme: str = "light") -> bytes:
    """Return a picture as a PDF of one page of its size, with lines and letters, not pixels.

    Parameters
    ----------
    svg : str
        A picture of this package.
    theme : str
        ``"light"`` or ``"dark"``.

    Raises
    ------
    MissingPackage
        Without typst, which comes with ``autodiff-lab[pdf]``.
    InvalidArgumentError
        If the picture is empty.
    """
    try:
        import typst
    except ImportError as error:
        raise MissingPackage.of("A PDF", "typst", "pdf") from error
    _size(svg)
    flat, paper = resolve(svg, theme), colours(theme)["paper"]
    page = (
        f'#set page(width: auto, height: auto, margin: 0pt, fill: rgb("{paper}"))\n'
        '#image(bytes(sys.inputs.picture), format: "svg")\n'
    )
    options: dict[str, Any] = {"format": "pdf", "sys_inputs": {"picture": flat}, "font_paths": _fonts()}
    return typst.compile(page.encode(), **options)


def _size(svg: str) -> tuple[float, float]:
    """Return width and height in pixels."""
    found = _SIZE.search(svg)
    if found is None:
        raise InvalidArgumentError("Expected a picture of this package, an SVG with a width and a height in pixels.")
    width, height = map(float, found.groups())
    if not (width and height):
        raise InvalidArgumentError("The picture is empty: nothing was recorded. Try an SVG, which may be empty.")
    return width, height


def _fonts() -> list[str]:
    """Return the folder of the fonts that matplotlib brings, so that a machine without fonts draws letters too."""
    found = find_spec("matplotlib")
    folder = Path(found.origin).parent / "mpl-data" / "fonts" / "ttf" if found and found.origin else None
    return [str(folder)] if folder and folder.is_dir() else []
