"""An example of every widget of the package, and the page of any widget: what screenshots and bad input go through."""

import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import autodiff_lab as lab
from autodiff_lab import lessons
from autodiff_lab.draw.assets import WIDGETS
from autodiff_lab.draw.page import document
from autodiff_lab.widgets.base import LabWidget, PageWidget
from autodiff_lab.widgets.form import Form
from autodiff_lab.widgets.training import TrainingView


def recorded(name: str) -> Any:
    """A recording whose every name is the given one: title, variable, scope and result."""
    x = lab.Variable(3.0, name=name)
    with lab.record(title=name) as recording:
        with lab.GradientTape() as tape, lab.name_scope(name):
            y = lab.multiply(x, x, name=name) + lab.sin(x)
        tape.gradient(y, x)
    return recording


def valley(p: Any) -> Any:
    return 0.5 * (p[0] ** 2 + 10.0 * p[1] ** 2)


def cubic(x: Any) -> Any:
    return x * x * x / 3.0 - x


def compiled(name: str) -> Any:
    from autodiff_lab.exploring.program import program_view
    from autodiff_lab.widgets.program import ProgramExplorer

    def function(x: Any) -> Any:
        y = x
        for _ in range(8):
            y = lab.sin(y) * x
        return y

    function.__name__ = name
    made = lab.function(function, backend="numpy")
    made(lab.constant([1.0, 2.0]))
    return ProgramExplorer(program_view(made))


def trained(name: str) -> Any:
    rng = np.random.default_rng(0)
    weights = [lab.Variable(0.5 * rng.normal(size=size), name=f"{name}{size[0]}") for size in ((4, 8), (8, 1))]
    x = lab.constant(rng.normal(size=(16, 4)))
    y = lab.reduce_sum(x, axis=1, keepdims=True)
    watch = lab.watch_training(weights, every=1, title=name)
    with watch:
        for _ in range(12):
            with lab.GradientTape() as tape:
                loss = lab.reduce_mean((lab.tanh(x @ weights[0]) @ weights[1] - y) ** 2)
            for weight, slope in zip(weights, tape.gradient(loss, weights), strict=True):
                weight.assign_sub(0.1 * slope)
            watch.step(loss)
    view = TrainingView(name)
    view.tell(watch.losses, watch.samples, watch.recorded, ended=True)
    return view


EXAMPLES: dict[str, Callable[[str], Any]] = {
    "Explorer": lambda name: recorded(name).explore(),
    "JacobianMap": lambda name: lessons.jacobian_map(lab.nn.softmax, [0.1, 0.5, -0.3], name, name),
    "SketchPad": lambda name: lessons.sketch_pad(cubic, -2.2, 2.2, name=name),
    "TrainingView": trained,
    "CurveExplorer": lambda name: lab.explore(lambda x, a: a * x * x * x - x, -2.0, 2.0, a=1.0, secant=True, name=name),
    "Golf": lambda name: lessons.golf(valley, name=name),
    "EngineComparison": lambda name: lessons.engines(recorded(name)),
    "ShapeDrill": lambda _: lessons.shape_drill(1),
    "CheckpointBoard": lambda _: lessons.checkpoint_board(),
    "ProgramExplorer": compiled,
    "SwellCounter": lambda _: lessons.swell(lambda x: lab.sin(x) * x, 3),
    "StepPlot": lambda name: lab.explore_steps(lab.sin, 1.0, name=name),
    "SurfaceExplorer": lambda name: lab.explore_2d(
        valley, (-12, -4), (12, 4), start=(10, 1), name=name, optimizers={name: lab.optimizers.SGD(0.15)}
    ),
    "Form": lambda name: Form({"kind": "question", "text": name}, {"kind": "field", "text": name}, button="Commit"),
    "Whodunnit": lambda _: lessons.whodunnit(3),
}
"""By the name of the class; the argument is used wherever the widget shows a name of the user's."""
NAMELESS = {"ShapeDrill", "CheckpointBoard", "SwellCounter", "Whodunnit"}
"""Widgets that show no name of the user's: their examples are the same whatever the argument."""
NAMED = [kind for kind in EXAMPLES if kind not in NAMELESS]


def kinds(of: type[Any] = LabWidget) -> set[str]:
    """Return the names of all widget classes of the package."""
    for folder in WIDGETS.iterdir():
        if (folder / "widget.js").is_file():
            importlib.import_module(f"autodiff_lab.widgets.{folder.name}")
    found = {each for each in of.__subclasses__() if each.__module__.startswith("autodiff_lab.widgets.")}
    shown = {each.__name__ for each in found if each is not PageWidget}  # which only others build on
    return shown | {name for each in found for name in kinds(each)}


def write(widget: Any, file: Path) -> Path:
    """Write the page of a widget, also of one that has no `to_html`."""
    if hasattr(widget, "recording"):
        widget.recording.to_html(file)
    elif hasattr(widget, "to_html"):
        widget.to_html(file)
    else:
        kind = [each for each in type(widget).__mro__ if each.__name__ in EXAMPLES][-1]  # traitlets makes subclasses
        own = [name for name, trait in widget.traits(sync=True).items() if trait.this_class is kind]
        folder = WIDGETS / kind.__module__.rpartition(".")[2]
        state = {name: getattr(widget, name) for name in own}
        drawn = [text for text in state.get("facts", {}).values() if isinstance(text, str) and text.startswith("<svg")]
        style = f"<style>{kind._css}</style>"
        text = document(kind.__name__, state, folder, style + "".join(drawn))  # whose styles the page then allows
        file.write_text(text.replace("</head>", f"{style}</head>"), encoding="utf-8")
    return file
