"""Colours, fonts and sizes of every picture and widget, as data.

One table for the static pictures, the plots and the widgets.  `css_variables` writes it as custom properties
(``--lab-ink`` and so on), with the dark values where the host or the system asks for them, so that a style sheet names
roles and never colours. Colour is never the only cue: the table of roles says what else carries the meaning.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

LIGHT: Mapping[str, str] = {
    "ink": "#1f2328",
    "muted": "#59636e",
    "hairline": "#d1d9e0",
    "paper": "#ffffff",
    "panel": "#f6f8fa",
    "forward": "#0072b2",
    "backward": "#b24700",
    "now": "#f2c500",
    "cut": "#a4133c",
}
"""Roles on a light ground.  `forward` lines are solid, `backward` ones dashed, `cut` comes with a slash and a word."""

DARK: Mapping[str, str] = {
    "ink": "#e6edf3",
    "muted": "#9198a1",
    "hairline": "#3d444d",
    "paper": "#0d1117",
    "panel": "#151b23",
    "forward": "#56b4e9",
    "backward": "#f0883e",
    "now": "#f2c500",
    "cut": "#ff6b8a",
}
"""The same roles on a dark ground."""

FORCED: Mapping[str, str] = {
    "ink": "CanvasText",
    "muted": "CanvasText",
    "hairline": "CanvasText",
    "paper": "Canvas",
    "panel": "Canvas",
    "forward": "CanvasText",
    "backward": "LinkText",
    "now": "Highlight",
    "cut": "CanvasText",
}
"""System colours, for systems that force their own (high contrast)."""

UI_FONT = "var(--jp-ui-font-family, system-ui), -apple-system, 'Segoe UI', 'Noto Sans', 'DejaVu Sans', sans-serif"
"""Labels and sentences: the host's font first."""
CODE_FONT = "var(--jp-code-font-family, ui-monospace), Menlo, Consolas, 'DejaVu Sans Mono', monospace"
"""Numbers, shapes and code: the host's code font first."""

SMALL, BODY, LARGE = 12, 14, 18
"""The three sizes of text, in pixels."""
REGULAR, STRONG = 400, 600
"""The two weights of text."""
RADIUS = 6
"""Corners of boxes, in pixels."""
TO_COME = 0.45
"""Opacity of what has not happened yet."""

DARK_HOSTS = (
    '[data-jp-theme-light="false"]', '[data-vscode-theme-kind*="dark"]', '[theme="dark"]', '[data-theme="dark"]',
)  # fmt: skip
"""How JupyterLab, VS Code, Colab and documentation themes indicate that they are dark."""
LIGHT_HOSTS = (
    '[data-jp-theme-light="true"]', '[data-vscode-theme-kind*="light"]', '[theme="light"]', '[data-theme="light"]',
)  # fmt: skip


def colours(theme: str) -> Mapping[str, str]:
    """Return the table of one theme.

    Parameters
    ----------
    theme : str
        ``"light"`` or ``"dark"``.

    Examples
    --------
    >>> colours("dark")["forward"]
    '#56b4e9'
    """
    return {"light": LIGHT, "dark": DARK}[theme]


def css_variables(selector: str = ":root", theme: str = "auto", hosted: bool = True) -> str:
    """Return custom properties for every role, fonts included, as rules for one selector.

    Parameters
    ----------
    selector : str
        Where the properties hold, for example ``".lab-explorer"``.
    theme : str
        ``"light"``, ``"dark"``, or ``"auto"``: what the notebook says, else what the system prefers.
    hosted : bool
        Whether there may be a notebook that says so.

    Returns
    -------
    str
        Style sheet text; a printed page is light in every case.

    Raises
    ------
    ValueError
        For another theme.

    Examples
    --------
    >>> print(css_variables(".lab-figure", "dark").splitlines()[0][:42])
    .lab-figure { --lab-ink: #e6edf3; --lab-mu
    """
    if theme not in ("auto", "light", "dark"):
        raise ValueError(f"expected 'auto', 'light' or 'dark' as theme, got {theme!r}.")
    fonts = f"--lab-ui-font: {UI_FONT}; --lab-code-font: {CODE_FONT};"
    first = colours("light" if theme == "auto" else theme)
    rules = [f"{selector} {{ {_properties(first)} {fonts} }}"]
    if theme == "auto":
        rules.append(f"@media (prefers-color-scheme: dark) {{ {selector} {{ {_properties(DARK)} }} }}")
    if theme == "auto" and hosted:
        rules.append(f"{_inside(LIGHT_HOSTS, selector)} {{ {_properties(_on_host(LIGHT))} }}")
        rules.append(f"{_inside(DARK_HOSTS, selector)} {{ {_properties(_on_host(DARK))} }}")
    rules.append(f"@media (forced-colors: active) {{ {selector} {{ {_important(FORCED)} }} }}")
    rules.append(f"@media print {{ {selector} {{ {_important(LIGHT)} }} }}")
    return "\n".join(rules) + "\n"


def _on_host(table: Mapping[str, str]) -> Mapping[str, str]:
    """Return the table with the paper of the notebook around, on which another one would be a slab."""
    return {**table, "paper": f"var(--jp-layout-color0, {table['paper']})"}


def _properties(table: Mapping[str, str]) -> str:
    return " ".join(f"--lab-{role}: {colour};" for role, colour in table.items())


def _important(table: Mapping[str, str]) -> str:
    """Return properties that also override those of a host."""
    return _properties(table).replace(";", " !important;")


def _inside(hosts: tuple[str, ...], selector: str) -> str:
    return ", ".join(f"{host} {selector}" for host in hosts)
