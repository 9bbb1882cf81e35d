"""Formulas of the site as MathML, which browsers draw without a script or a font from elsewhere."""

from html import escape
from typing import Any

from docutils.nodes import SkipNode
from latex2mathml.converter import convert


def mathml(latex: str, display: str) -> str:
    """Return a formula as MathML; its LaTeX is what a screen reader without MathML gets.

    >>> mathml("x^2", "inline")[:62]
    '<math alttext="x^2" xmlns="http://www.w3.org/1998/Math/MathML"'
    """
    return convert(latex, display=display).replace("<math ", f'<math alttext="{escape(latex)}" ', 1)


def _inline(translator: Any, node: Any) -> None:
    translator.body.append(mathml(node.astext(), "inline"))
    raise SkipNode


def _block(translator: Any, node: Any) -> None:
    translator.body.append(f'<div class="formula" tabindex="0">{mathml(node.astext(), "block")}</div>')
    raise SkipNode


def setup(app: Any) -> None:
    """Make this the way in which pages show formulas."""
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
