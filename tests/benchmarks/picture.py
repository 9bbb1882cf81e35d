"""The picture of the page: a line per program and a mark per size, for both ratios; furthest behind at the top."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.benchmarks import standing
from tests.benchmarks.figures import Figures
from tests.benchmarks.programs import PROGRAMS
from tests.tree import ROOT

FOLDER = ROOT / "docs" / "images"
SIZES = {"small": ("small", 4.0), "middle": ("middle", 6.0), "large": ("large", 8.5), "": ("single case", 6.0)}
"""Label of a mark and its size."""
PANELS = {"lab.function": "lab.function / best compiled", "lab": "lab / PyTorch"}


def draw(figures: Figures) -> list[Path]:
    """Write the light picture and the dark one."""
    return [_one(figures, theme) for theme in ("light", "dark")]


def lines(figures: Figures) -> dict[str, dict[str, str]]:
    """The rows of each line of the picture by their size: those of a program share one."""
    found: dict[str, dict[str, str]] = {}
    for name in standing.ordered(figures):
        program = PROGRAMS.get(name)
        found.setdefault(program.program if program else name, {})[program.scale if program else ""] = name
    return found


def _one(figures: Figures, theme: str) -> Path:
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    from autodiff_lab import style

    with style.context(theme):
        colours = _colours(mpl.rcParams)
        rows = lines(figures)
        figure, panels = plt.subplots(1, 2, sharey=True, figsize=(7.4, 0.2 * len(rows) + 1.3))
        for axes, (mode, title), colour in zip(panels, PANELS.items(), ("backward", "forward"), strict=True):
            for place, sizes in enumerate(rows.values()):
                ratios = {size: standing.RATIOS[mode](figures["rows"][name]) for size, name in sizes.items()}
                _row(axes, place, {size: one for size, one in ratios.items() if one}, colours, colour)
            _frame(axes, list(rows), title, colours)
        _key(panels[0], colours)
        path = FOLDER / f"performance-{theme}.svg"
        figure.savefig(path, metadata={"Date": None, "Creator": None})
        plt.close(figure)
    # matplotlib ends lines with blanks, which no text file here has.
    path.write_text("\n".join(line.rstrip() for line in path.read_text("utf-8").splitlines()) + "\n", "utf-8")
    return path


def _colours(params: Any) -> dict[str, str]:
    cycle = [f"#{colour.removeprefix('#')}" for colour in params["axes.prop_cycle"].by_key()["color"]]
    return {"forward": cycle[0], "backward": cycle[1], "ink": cycle[2], "paper": params["figure.facecolor"]}


def _row(axes: Any, place: int, ratios: dict[str, float], colours: dict[str, str], colour: str) -> None:
    if len(ratios) > 1:
        axes.plot([min(ratios.values()), max(ratios.values())], [place] * 2, linestyle="-", linewidth=1.2,
                  color=colours[colour], alpha=0.45, zorder=2)  # fmt: skip
    for size, one in ratios.items():
        axes.plot(one, place, "D" if not size else "o", linestyle="none", color=colours[colour], zorder=3,
                  markersize=SIZES[size][1], markeredgecolor=colours["paper"], markeredgewidth=0.7)  # fmt: skip


def _frame(axes: Any, names: list[str], title: str, colours: dict[str, str]) -> None:
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    axes.set_xscale("log")
    axes.axvline(1, color=colours["ink"], linewidth=1.2, linestyle="-", zorder=1)
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.xaxis.set_major_locator(FixedLocator([0.001, 0.01, 0.1, 1, 10, 100]))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g} ×"))
    axes.grid(visible=False, axis="y")
    axes.tick_params(axis="y", labelsize=8)
    axes.set_xlabel(f"{title}; left of 1 is faster")
    axes.spines["left"].set_visible(False)


def _key(axes: Any, colours: dict[str, str]) -> None:
    """Name the marks above the plot."""
    handles: list[Any] = []
    for size, (_, width) in SIZES.items():
        handles += axes.plot([], [], "D" if not size else "o", linestyle="none", color=colours["ink"], markersize=width)
    axes.legend(handles, [label for label, _ in SIZES.values()], loc="lower left", bbox_to_anchor=(0, 1.0), ncols=4,
                handlelength=1, columnspacing=1.2, handletextpad=0.4)  # fmt: skip
