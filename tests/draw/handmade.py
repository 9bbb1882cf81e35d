"""Recordings written by hand, so that drawing is tested without the engine.

The numbers are worked out by hand (or by the two lines of NumPy next to them), never by the code under test.
"""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np

from autodiff_lab.recording.model import Application, Flow, Moment, Note, OpInfo, Step, Sweep, TensorRecord
from autodiff_lab.recording.recording import Recording
from autodiff_lab.recording.snapshot import snapshot

OPS = {
    "multiply": OpInfo("multiply", "×", r"{0} \cdot {1}", ("{1}", "{0}"), "The product.", elementwise=True),
    "add": OpInfo("add", "+", "{0} + {1}", ("1", "1"), "The sum.", elementwise=True),
    "sin": OpInfo("sin", "sin", r"\sin {0}", (r"\cos {0}",), "The sine.", elementwise=True),
    "tanh": OpInfo("tanh", "tanh", r"\tanh {0}", (r"1 - \tanh^2 {0}",), "", elementwise=True),
    "matmul": OpInfo("matmul", "@", "{0} {1}", (), "The matrix product."),
    "reduce_sum": OpInfo("reduce_sum", "sum", r"\sum {0}", (), "The sum of elements."),
    "log": OpInfo("log", "log", r"\log {0}", (r"1 / {0}",), "", elementwise=True),
}
FILE = "cell"


class Pencil:
    """Writes a recording line by line; ids are assigned in order."""

    def __init__(self, *lines: str, title: str = "") -> None:
        self.tensors: dict[int, TensorRecord] = {}
        self.applications: list[Application] = []
        self.order: list[Moment] = []
        self.sweeps: list[Sweep] = []
        self.notes: list[Note] = []
        self.lines = dict(enumerate(lines, start=1))
        self.title = title
        self.error: str | None = None

    def leaf(self, value: object, name: str | None = None, kind: str = "variable", scope: str = "") -> int:
        array = np.asarray(value, dtype=np.float32)
        key = len(self.tensors) + 1
        self.tensors[key] = TensorRecord(key, kind, name, snapshot(array), scope=scope, trainable=kind == "variable",
                                         variable=key if kind == "variable" else None)  # fmt: skip
        return key

    def run(
        self,
        op: str,
        inputs: tuple[int, ...],
        value: object,
        name: str | None = None,
        scope: str = "",
        line: int = 1,
        cause: int | None = None,
        params: dict[str, object] | None = None,
        stop: bool = True,
    ) -> int:
        index, key = len(self.applications), len(self.tensors) + 1
        place = (FILE, line)
        array = np.asarray(value, dtype=np.float32)
        self.tensors[key] = TensorRecord(key, "output", name, snapshot(array), index, place=place, scope=scope)
        self.applications.append(Application(index, op, inputs, (key,), params, cause, place, scope))
        if stop:
            self.order.append(Moment("forward", index))
        return key

    def fail(self, op: str, inputs: tuple[int, ...], error: str, line: int = 1, scope: str = "") -> None:
        index = len(self.applications)
        self.applications.append(Application(index, op, inputs, (), None, None, (FILE, line), scope, error))
        self.order.append(Moment("forward", index))
        self.error = error

    def adjoint(self, value: object) -> int:
        return self.leaf(value, kind="constant")

    def sweep(
        self,
        target: int,
        seed: int,
        steps: list[tuple[int, int, list[Flow]]],
        sources: tuple[int, ...],
        results: tuple[int | None, ...],
    ) -> None:
        """Steps are (application, incoming adjoint, flows)."""
        number = len(self.sweeps)
        made = tuple(Step(at, application, (incoming,), tuple(flows))
                     for at, (application, incoming, flows) in enumerate(steps))  # fmt: skip
        self.sweeps.append(Sweep(number, 1, (target,), (seed,), sources, results, made))
        self.order += [Moment("backward", step.application, number, step.index) for step in made]

    def done(self) -> Recording:
        return Recording(OPS, self.tensors, tuple(self.applications), tuple(self.sweeps), tuple(self.order),
                         tuple(self.notes), {FILE: self.lines}, {FILE: "cell 3"}, self.error,
                         title=self.title)  # fmt: skip


def sine() -> Recording:
    """Y = x·x + sin x at x = 3, with one sweep: the gradient is 2·3 + cos 3 = 5.010."""
    pencil = Pencil("y = x * x + lab.sin(x)", title="y = x·x + sin x")
    x = pencil.leaf(3.0, "x")
    square = pencil.run("multiply", (x, x), 9.0)
    wave = pencil.run("sin", (x,), np.sin(3.0))
    y = pencil.run("add", (square, wave), 9.0 + np.sin(3.0), "y")
    one, cosine = pencil.adjoint(1.0), np.cos(3.0)
    to_square, to_wave = pencil.adjoint(1.0), pencil.adjoint(1.0)
    first = pencil.adjoint(cosine)
    second, second_total = pencil.adjoint(3.0), pencil.adjoint(3.0 + cosine)
    third, third_total = pencil.adjoint(3.0), pencil.adjoint(6.0 + cosine)
    unit = snapshot(np.float32(1.0))
    pencil.sweep(y, one, [
        (2, one, [Flow(0, square, to_square, to_square, 1, 1, unit), Flow(1, wave, to_wave, to_wave, 1, 1, unit)]),
        (1, to_wave, [Flow(0, x, first, first, 1, 3, snapshot(np.float32(cosine)))]),
        (0, to_square, [Flow(0, x, second, second_total, 2, 3, snapshot(np.float32(3.0))),
                        Flow(1, x, third, third_total, 3, 3, snapshot(np.float32(3.0)))]),
    ], (x,), (third_total,))  # fmt: skip
    return pencil.done()


def two_layers() -> Recording:
    """A two-layer net in scopes ``net/layer1`` and ``net/layer2``; one weight is cut off and has no path."""
    pencil = Pencil("hidden = layer1(data)", "output = layer2(hidden)", "loss = lab.reduce_sum(output)",
                    title="two layers")  # fmt: skip
    data = pencil.leaf([[0.5, -1.0, 2.0]], "data", "constant")
    parameters: dict[str, int] = {}
    inner = data
    for number, (width, before) in enumerate([(4, 3), (2, 4)], start=1):
        scope = f"net/layer{number}"
        w = parameters[f"w{number}"] = pencil.leaf(np.full((before, width), 0.25), f"w{number}", scope=scope)
        b = parameters[f"b{number}"] = pencil.leaf(np.zeros(width), f"b{number}", scope=scope)
        product = pencil.run("matmul", (inner, w), np.full((1, width), 0.375), scope=scope, line=number)
        total = pencil.run("add", (product, b), np.full((1, width), 0.375), scope=scope, line=number)
        inner = pencil.run("tanh", (total,), np.full((1, width), 0.3584), scope=scope, line=number,
                           name="hidden" if number == 1 else "output")  # fmt: skip
    loss = pencil.run("reduce_sum", (inner,), 0.7168, "loss", line=3, params={"axis": None})
    seed = pencil.adjoint(1.0)
    spread = pencil.adjoint(np.ones((1, 2)))
    before_tanh = pencil.adjoint(np.full((1, 2), 0.8716))
    to_product, to_b = pencil.adjoint(np.full((1, 2), 0.8716)), pencil.adjoint(np.full(2, 0.8716))
    to_w = pencil.adjoint(np.full((4, 2), 0.3123))
    output = inner
    total2, product2 = pencil.applications[4].outputs[0], pencil.applications[3].outputs[0]
    pencil.sweep(loss, seed, [
        (6, seed, [Flow(0, output, spread, spread, 1, 1)]),
        (5, spread, [Flow(0, total2, before_tanh, before_tanh, 1, 1)]),
        (4, before_tanh, [Flow(0, product2, to_product, to_product, 1, 1),
                          Flow(1, parameters["b2"], to_b, to_b, 1, 1)]),
        (3, to_product, [Flow(1, parameters["w2"], to_w, to_w, 1, 1)]),
    ], (parameters["w1"], parameters["w2"]), (None, to_w))  # fmt: skip
    return pencil.done()


def failed() -> Recording:
    """A program whose second op raised."""
    pencil = Pencil("hidden = data @ weights", "lab.log(hidden) @ data", title="a program that fails")
    data = pencil.leaf(np.ones((2, 3)), "data")
    half = pencil.leaf(0.5, kind="constant")
    scaled = pencil.run("multiply", (data, half), np.full((2, 3), 0.5))
    pencil.fail("matmul", (scaled, data), "matmul: inner lengths 3 and 2 differ", line=2)
    return pencil.done()


def second_order() -> Recording:
    """The rule of ``x * x`` ran inside an outer tape, so that its multiplication is a stop of the stepper."""
    pencil = Pencil("y = x * x", "dy = tape.gradient(y, x)", title="second order")
    x = pencil.leaf(3.0, "x")
    y = pencil.run("multiply", (x, x), 9.0, "y")
    one = pencil.adjoint(1.0)
    left = pencil.run("multiply", (one, x), 3.0, cause=0, line=2)
    right = pencil.run("multiply", (one, x), 3.0, cause=0, line=2)
    total = pencil.run("add", (left, right), 6.0, "dy", cause=0, line=2)
    pencil.run("multiply", (one, y), 9.0, cause=0, stop=False)
    pencil.run("sin", (total,), np.sin(6.0))
    return pencil.done()


def hostile() -> Recording:
    """Names that try to leave the text of the picture."""
    pencil = Pencil('a = lab.Variable(1.0, name="<script>")', title="</title><script>alert(1)</script>")
    evil = pencil.leaf(1.0, '"><script>alert(1)</script>&\x00\\N')
    pencil.run("<b>op</b>", (evil,), 1.0, "<img src=x onerror=alert(1)>", scope='<i>":x"</i>')
    return pencil.done()


def many(count: int = 500, reach: int = 12, scopes: int = 0, seed: int = 0) -> Recording:
    """A graph of `count` small ops with reuse, each reading two of the last `reach` values; in `scopes` scopes."""
    chance = random.Random(seed)
    pencil = Pencil(title=f"{count} ops")
    values = [pencil.leaf(1.0, f"x{number}") for number in range(4)]
    for index in range(count):
        scope = f"block{index * scopes // count}" if scopes else ""
        inputs = (values[-1], chance.choice(values[-reach:]))
        values.append(pencil.run(chance.choice(["add", "multiply"]), inputs, chance.uniform(-2, 2), scope=scope))
    return pencil.done()


def failing_scope() -> Recording:
    """A program whose only op raised, inside a scope."""
    pencil = Pencil()
    x = pencil.leaf(1.0, "x")
    pencil.fail("matmul", (x, x), "matmul needs two axes", scope="block")
    return pencil.done()


def two_sweeps() -> Recording:
    """Y = sin x, z = x·y: first the gradient of y, then, by a persistent tape, that of z; w leads nowhere."""
    pencil = Pencil("y = lab.sin(x)", "z = x * y", title="two sweeps")
    x = pencil.leaf(0.0, "x")
    w = pencil.leaf(5.0, "w")
    y = pencil.run("sin", (x,), 0.0, "y")
    z = pencil.run("multiply", (x, y), 0.0, "z", line=2)
    pencil.run("multiply", (w, w), 25.0, line=2)
    one, to_x = pencil.adjoint(1.0), pencil.adjoint(1.0)
    pencil.sweep(y, one, [(0, one, [Flow(0, x, to_x, to_x, 1, 1)])], (x, w), (to_x, None))
    seed, by_product, to_y = pencil.adjoint(1.0), pencil.adjoint(0.0), pencil.adjoint(0.0)
    by_sine, total = pencil.adjoint(0.0), pencil.adjoint(0.0)
    pencil.sweep(z, seed, [
        (1, seed, [Flow(0, x, by_product, by_product, 1, 2), Flow(1, y, to_y, to_y, 1, 1)]),
        (0, to_y, [Flow(0, x, by_sine, total, 2, 2)]),
    ], (x,), (total,))  # fmt: skip
    return pencil.done()


def unfinished() -> Recording:
    """A sweep that was interrupted after its first step."""
    whole = sine()
    sweep = whole.sweeps[0]
    return replace(whole, sweeps=(replace(sweep, steps=sweep.steps[:1], finished=False),), order=whole.order[:4])
