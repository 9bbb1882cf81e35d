"""How tensors, variables and tapes show themselves in notebooks: as cards, which are drawn far from the engine."""

from __future__ import annotations

from typing import Any


def install(*kinds: type) -> None:
    """Give classes the method that notebooks call, and those without a text of their own one without an address."""
    for kind in kinds:
        kind._repr_html_ = _html  # pyright: ignore[reportAttributeAccessIssue]
        if kind.__repr__ is object.__repr__:
            kind.__repr__ = _text  # pyright: ignore[reportAttributeAccessIssue]


def _html(value: Any) -> str:
    from autodiff_lab.exploring.cards import html_of

    return html_of(value)


def _text(value: Any) -> str:
    from autodiff_lab.exploring.cards import tape_facts

    return f"<{type(value).__name__}: {', '.join(tape_facts(value))}>"
