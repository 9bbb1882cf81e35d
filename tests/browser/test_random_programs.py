"""Six random programs are stepped through by keyboard, and every number is compared with another calculation.

Values are compared with NumPy, adjoints and local derivatives with central differences; the recording behind
the page is not used.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Locator

import autodiff_lab as lab
from autodiff_lab.recording import Recording
from tests.browser.conftest import OpenPage
from tests.browser.pages import explorer, numbers, read_boxes, read_step, save, take_focus
from tests.browser.random_programs import Program, local_slope, random_program

FOUR_DIGITS = {"rel": 6e-4, "abs": 1e-6}
DIFFERENCES = {"rel": 2e-5, "abs": 2e-7}
EXACT = {"rel": 1e-12, "abs": 1e-14}


def record(program: Program) -> Recording:
    """Run a program on the engine, with its gradient, and record it."""
    values: list[Any] = [lab.Variable(leaf, dtype=lab.float64, name=f"x{at}") for at, leaf in enumerate(program.leaves)]
    sources = list(values)
    with lab.record() as recording:
        with lab.GradientTape() as tape:
            for instruction in program.instructions:
                op = getattr(lab, instruction.op, None) or getattr(lab.math, instruction.op)
                values.append(op(*(values[source] for source in instruction.inputs)))
        tape.gradient(values[-1], sources)
    return recording


class Walk:
    """A walk through one page, with the expected numbers."""

    def __init__(self, program: Program, root: Locator) -> None:
        self.program = program
        self.root = root
        self.values = program.values()
        self.slopes = [program.slope(at) for at in range(len(self.values))]
        self.leaves = len(program.leaves)
        self.compared = 0
        self.gathered: dict[int, Any] = {}

    def same(self, shown: dict[str, str], wanted: Any, tolerance: dict[str, float]) -> None:
        """Compare the short number, and the one with every digit, with what it must be."""
        wanted = np.ravel(wanted)
        np.testing.assert_allclose(numbers(shown["full"]), wanted, rtol=tolerance["rel"], atol=tolerance["abs"])
        short = numbers(shown["short"].split("[3]")[0])
        assert short == pytest.approx(wanted[: len(short)], **FOUR_DIGITS)
        self.compared += 1

    def forward(self, step: dict[str, Any]) -> None:
        """One forward step: the values that go in and the one that comes out."""
        at = self.leaves + step["application"]
        sources = list(dict.fromkeys(self.program.instructions[step["application"]].inputs))
        for shown, source in zip(step["inputs"], sources, strict=True):
            self.same(shown, self.values[source], EXACT)
        (output,) = step["outputs"]
        self.same(output, self.values[at], EXACT)

    def backward(self, step: dict[str, Any]) -> None:
        """One backward step: incoming, local, outgoing and the sum so far of every share."""
        instruction = self.program.instructions[step["application"]]
        inputs = [self.values[source] for source in instruction.inputs]
        incoming = self.slopes[self.leaves + step["application"]]
        for flow in step["flows"]:
            source = instruction.inputs[flow["position"]]
            self.same(flow["incoming"], incoming, DIFFERENCES)
            if instruction.op == "reduce_sum":
                outgoing = np.broadcast_to(incoming, inputs[0].shape)
            else:
                local = local_slope(instruction.op, inputs, flow["position"])
                self.same(flow["local"], local, DIFFERENCES)
                outgoing = incoming * local
            self.same(flow["outgoing"], outgoing, DIFFERENCES)
            self.gathered[source] = self.gathered.get(source, 0.0) + outgoing
            if flow["total"]:
                self.same(flow["total"], self.gathered[source], DIFFERENCES)

    def end(self) -> None:
        """What the nodes show when all is done: every value, and every adjoint that the sweep reached."""
        for key, box in read_boxes(self.root).items():
            at = self.leaves + int(key[1:]) if key.startswith("a") else int(box["label"].removeprefix("x"))
            for shown, wanted in ((box["value"], self.values[at]), (box["gradient"], self.slopes[at])):
                if shown in {"no path", ""}:
                    assert np.all(self.slopes[at] == 0), "only what does not matter has no path"
                    continue
                short = numbers(shown)
                assert short
                assert short == pytest.approx(np.ravel(wanted)[: len(short)], **FOUR_DIGITS)
                self.compared += 1


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_every_number_of_a_random_program_is_right(seed: int, open_page: OpenPage, tmp_path: Path) -> None:
    program = random_program(seed)
    root = explorer(open_page(save(record(program), tmp_path)).page)
    walk = Walk(program, root)
    take_focus(root)
    root.page.keyboard.press("Home")
    forward = backward = 0
    while True:
        before = read_step(root)["step"]
        root.page.keyboard.press("ArrowRight")
        step = read_step(root)
        if step["step"] == before:
            break
        if "forward" in step["counter"]:
            walk.forward(step)
            forward += 1
        else:
            walk.backward(step)
            backward += 1
    walk.end()
    assert forward == len(program.instructions)
    assert backward >= 1
    assert walk.compared >= 2 * forward + 3 * backward
