"""The verdict of `check_gradient`: a disagreement with differences is not always a wrong rule."""

from collections.abc import Callable

import pytest

import autodiff_lab as lab
from autodiff_lab.testing import check_gradient


def scaled(factor: float) -> Callable[[object], object]:
    """Relu with a rule that is off by a factor."""

    @lab.custom_gradient
    def relu(x: object) -> object:
        return lab.nn.relu(x), lambda upstream: upstream * factor

    return relu


@pytest.mark.parametrize(
    ("function", "at", "verdict"),
    [
        (lab.square, 3.0, "agrees"),
        (lab.abs, 0.0, "agrees"),
        (lab.nn.relu, 0.0, "kink"),
        (lab.nn.relu6, 6.0, "kink"),
        (lab.nn.leaky_relu, 0.0, "kink"),
        (lambda x: lab.maximum(x, 1.0), 1.0, "kink"),
        (lambda x: lab.reduce_max(lab.stack([x, 2.0 * x])), 0.0, "agrees"),
        (lambda x: lab.nn.relu(x - 1e-7), 0.0, "precision"),
        (lambda x: 1e-3 * x + 1e12, 1.0, "precision"),
        (lambda x: lab.sin(1e6 * x), 0.3, "precision"),
        (lab.sqrt, 0.0, "not finite"),
        (scaled(5.0), 0.0, "wrong rule"),
        (scaled(5.0), 1.0, "wrong rule"),
        (scaled(1.001), 1.0, "wrong rule"),
        (scaled(float("nan")), 1.0, "not finite"),
    ],
)
def test_the_verdict_says_why_a_gradient_disagrees(function: Callable[..., object], at: float, verdict: str) -> None:
    """A kink, differences that are too rough, or a rule that is wrong; only agreement passes."""
    check = check_gradient(function, at)
    assert check.verdict == verdict, str(check)
    assert bool(check) == (verdict == "agrees")
    assert str(check).startswith("The gradient agrees" if check else f"{verdict}: ")


@pytest.mark.parametrize("module", ["widgets.base", "widgets.explorer"])
def test_what_is_missing_is_said_with_the_extra_that_brings_it(module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the packages of notebooks, importing what needs them says what to install."""
    import importlib
    import sys

    for name in [n for n in sys.modules if n.startswith(("autodiff_lab.lessons", "autodiff_lab.widgets"))]:
        monkeypatch.delitem(sys.modules, name)
    find = importlib.util.find_spec
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == "anywidget" else find(name))
    for name in ("anywidget", "ipywidgets"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(lab.errors.MissingPackage, match=r"pip install 'autodiff-lab\[lab\]'"):
        importlib.import_module(f"autodiff_lab.{module}")
