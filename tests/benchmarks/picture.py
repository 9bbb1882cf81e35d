"""The picture of the page: one row per case, time relative to PyTorch on a logarithmic axis, a mark per library."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.benchmarks.cases import IMPORT
from tests.benchmarks.figures import Figures, measured
from tests.tree import ROOT

FOLDER = ROOT / "docs" / "images"
BASE = "torch"
MARKS = {
    "autograd": ("autograd", "^", "muted"),
    "torch-compile": ("torch.compile", "X", "muted"),
    "jax": ("jax.jit", "D", "ink"),
    "lab": ("lab", "o", "forward"),
    "lab-function": ("lab.function", "s", "backward"),
}
"""Label, mark and colour; our own come last and so lie on top."""


def draw(figures: Figures) -> list[Path]:
    """Write the light picture and the dark one."""
    return [_one(figures, theme) for theme in ("light", "dark")]


def _one(figures: Figures, theme: str) -> Path:
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    from autodiff_lab import style

    with style.context(theme):
        colours = _colours(mpl.rcParams)
        rows = {name: measured(row) for name, row in figures["rows"].items() if BASE in measured(row)}
        figure, axes = plt.subplots(figsize=(6.4, 0.36 * len(rows) + 1.4))
        for place, row in enumerate(rows.values()):
            _row(axes, place, {peer: row[peer] / row[BASE] for peer in row}, colours)
        _frame(axes, list(rows), colours)
        _key(axes, colours)
        path = FOLDER / f"performance-{theme}.svg"
        figure.savefig(path, metadata={"Date": None, "Creator": None})
        plt.close(figure)
    # matplotlib ends lines with blanks, which no text file here has.
    path.write_text("\n".join(line.rstrip() for line in path.read_text("utf-8").splitlines()) + "\n", "utf-8")
    return path


def _colours(params: Any) -> dict[str, str]:
    cycle = [f"#{colour.removeprefix('#')}" for colour in params["axes.prop_cycle"].by_key()["color"]]
    return {"forward": cycle[0], "backward": cycle[1], "ink": cycle[2], "muted": cycle[3],
            "paper": params["figure.facecolor"]}  # fmt: skip


def _row(axes: Any, place: int, ratios: dict[str, float], colours: dict[str, str]) -> None:
    ours = [ratios[peer] for peer in ("lab", "lab-function") if peer in ratios]
    if len(ours) > 1:
        axes.plot(ours, [place] * 2, linestyle="-", linewidth=1.5, color=colours["forward"], alpha=0.45, zorder=2)
    for depth, (peer, (_, mark, colour)) in enumerate(MARKS.items()):
        if peer in ratios:
            filled = peer.startswith("lab")
            axes.plot(ratios[peer], place, mark, linestyle="none", color=colours[colour], zorder=3 + depth,
                      markersize=7.5 if filled else 6, markerfacecolor=colours[colour] if filled else colours["paper"],
                      markeredgecolor=colours["paper"] if filled else colours[colour],
                      markeredgewidth=0.8 if filled else 1.2)  # fmt: skip


def _frame(axes: Any, names: list[str], colours: dict[str, str]) -> None:
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    axes.set_xscale("log")
    axes.axvline(1, color=colours["ink"], linewidth=1.2, linestyle="-", zorder=1)
    axes.set_yticks(range(len(names)), ["import" if name == IMPORT else name for name in names])
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.xaxis.set_major_locator(FixedLocator([0.001, 0.01, 0.1, 1, 10, 100]))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: "PyTorch" if x == 1 else f"{x:g} ×"))
    axes.grid(visible=False, axis="y")
    axes.tick_params(axis="y", labelsize=9.5)
    axes.set_xlabel("CPU time as a multiple of eager PyTorch's; further left is faster")
    axes.spines["left"].set_visible(False)


def _key(axes: Any, colours: dict[str, str]) -> None:
    """Name the marks above the plot, each in its own colour."""
    handles, labels = [], []
    for peer, (label, mark, colour) in reversed(MARKS.items()):
        filled = peer.startswith("lab")
        handles += axes.plot([], [], mark, linestyle="none", color=colours[colour], markersize=7 if filled else 6,
                             markerfacecolor=colours[colour] if filled else colours["paper"],
                             markeredgewidth=0 if filled else 1.2)  # fmt: skip
        labels.append(label)
    key = axes.legend(handles, labels, loc="lower left", bbox_to_anchor=(-0.27, 1.0), ncols=5, handlelength=1,
                      columnspacing=1.2, handletextpad=0.4)  # fmt: skip
    for text, (_, _, colour) in zip(key.get_texts(), reversed(MARKS.values()), strict=True):
        text.set_color(colours[colour])
