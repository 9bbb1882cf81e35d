"""LaTeX becomes MathML of a few known elements; names remain text."""

import sys
from xml.etree import ElementTree

import pytest

from autodiff_lab.draw.formula import fill, mathml, plain, template

HOSTILE = [
    "<script>alert(1)</script>",
    "</math><script>",
    "a & b",
    "\\frac{1}{2}",
    "$x$",
    '"onclick="',
    "\ue000",
    "{0}",
]


def text_of(markup: str) -> str:
    return "".join(ElementTree.fromstring(markup).itertext())


@pytest.mark.parametrize("name", HOSTILE)
def test_names_are_text(name: str) -> None:
    markup = mathml(r"\cos {0}", [name])
    assert text_of(markup) == f"cos{name}"
    assert {element.tag.rpartition("}")[2] for element in ElementTree.fromstring(markup).iter()} <= {
        "math", "mrow", "mi", "mspace"}  # fmt: skip


@pytest.mark.parametrize(
    "latex",
    [r"\text{<script>alert(1)</script>}", r"\href{javascript:alert(1)}{x}", r"\style{color:red}{x}", "<b>x</b>",
     r"\class{a}{x}", r"\color{red}{x}", r"\unknown{x}", "\x00"],
)  # fmt: skip
def test_latex_of_a_stranger_makes_no_other_elements_or_attributes(latex: str) -> None:
    made = template(latex)
    if not made.startswith("<"):
        return
    for element in ElementTree.fromstring(made).iter():
        assert element.tag.rpartition("}")[2] not in {"script", "a", "b", "img", "maction", "semantics"}
        assert not {"href", "style", "class", "id", "onclick"} & set(element.attrib)


def test_inputs_beyond_the_arity_are_literal() -> None:
    assert text_of(mathml(r"{0}^{2}", ["x"])) == "x2"
    assert text_of(mathml(r"\frac{{1}}{{{0}}}", ["x"])) == "1x"
    assert (
        text_of(mathml(r"\frac{{1}}{{{0}^2}} + {{0}}", ["x"])) == "1x2+0"
    )  # doubled braces hold a number, not an input


@pytest.mark.parametrize(
    "latex", ["{" * 3000 + "}" * 3000, "{" * 900 + "x" + "}" * 900, r"\frac{", "x_{", "", r"\left("]
)
def test_what_cannot_be_converted_is_shown_as_text(latex: str) -> None:
    made = template(latex)
    if made.startswith("<"):
        ElementTree.fromstring(made)
    else:
        assert "<" not in made


def test_without_the_converter_there_is_readable_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "latex2mathml.converter", None)
    template.cache_clear()
    try:
        assert mathml(r"1 - \tanh^2 {0}", ["x<y"]) == "1 - tanh^2 x&lt;y"
    finally:
        template.cache_clear()


def test_plain_text_reads_fractions_and_roots() -> None:
    assert fill(plain(r"\frac{1}{2 \sqrt{{0}}}", 1), ["x"]) == "(1)/(2 √(x))"


def test_a_function_is_parted_from_its_argument_and_powers_stay_whole() -> None:
    made = template(r"1 - \tanh^{2} {0}", 1)
    root = ElementTree.fromstring(made)
    (power,) = (element for element in root.iter() if element.tag.endswith("msup"))
    assert len(power) == 2, "a power has a base and an exponent, and nothing between them"
    assert any(element.tag.endswith("mspace") for element in root.iter())
