"""What values are called: a printed recording numbers them (`%7`), and no sentence, picture or page does."""

import json
import re
import runpy
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab.draw.naming import described
from autodiff_lab.draw.scene import scene
from autodiff_lab.errors import LabError
from autodiff_lab.explain import remarks
from autodiff_lab.recording import Recording
from tests.recording import generated

DATA = Path(__file__).parents[1] / "data"
PROGRAMS = ("attention", "cnn_step", "mlp_training", "newton", "rnn", "transformer_block", "two_layer_net")
NUMBER = re.compile(r"%\d")


def texts(recording: Recording) -> Iterator[str]:
    """Yield everything that the explorer, the static picture, the remarks and a few explanations say."""
    yield from remarks(recording)
    shown = scene(recording)
    yield json.dumps(shown, ensure_ascii=False)
    yield from (described(recording, tensor) for tensor in recording.tensors)
    if len(recording.order) <= 200:
        yield recording.to_svg()
    for one, other in pairwise(list(recording.tensors)[:8]):
        for pair in ((one, other), (other, one)):
            try:
                yield str(recording.explain(*pair))
            except LabError as refusal:
                yield str(refusal)


def numbered(recording: Recording) -> list[str]:
    return [text[max(0, at.start() - 60) : at.end() + 20] for text in texts(recording) for at in NUMBER.finditer(text)]


@pytest.mark.slow(keep=2)
@pytest.mark.parametrize("name", PROGRAMS)
def test_no_number_of_a_value_is_shown_for_a_whole_program(name: str) -> None:
    with lab.record() as recording:
        runpy.run_path(str(DATA / f"{name}.py"))
    assert not numbered(recording)


@pytest.mark.slow(keep=4)
@pytest.mark.parametrize("seed", range(40))
def test_no_number_of_a_value_is_shown_for_a_random_program(seed: int) -> None:
    assert not numbered(generated.recorded(seed))


def test_what_has_no_name_and_no_short_formula_is_called_by_its_op() -> None:
    logits = lab.Variable(np.zeros((2, 3), np.float32))
    with lab.record() as recording:
        lab.nn.sparse_softmax_cross_entropy_with_logits(labels=[0, 1], logits=logits + 1.0)
        lab.add(lab.constant(np.arange(3.0)), np.arange(3.0))
        lab.linalg.qr(lab.constant(np.eye(2)) @ np.eye(2))
    called = {described(recording, tensor) for application in recording.applications for tensor in application.outputs}
    assert {"result 1 of qr", "result 2 of qr"} <= called
    assert "an array of shape [3]" in {described(recording, tensor) for tensor in recording.tensors}


def test_every_assignment_of_a_line_has_its_name_in_loops_too() -> None:
    angle, speed = lab.Variable(0.1, name="start"), lab.Variable(0.2, name="push")
    with lab.record() as recording:
        a, b = angle * 1.0, speed * 1.0
        for _ in range(3):
            a = a + 0.05 * b; b = b + 0.05 * a  # fmt: skip  # noqa: E702
        a, b = b * 2.0, a * 3.0
        (c, d), e = (a + b, a - b), a * b
    assert e is not None
    made = [recording.tensors[application.outputs[0]].name for application in recording.applications]
    assert [name for name in made if name] == ["a", "b", *["a", "b"] * 3, "a", "b", "c", "d", "e"]
    assert {described(recording, a.outputs[0]) for a in recording.applications} >= {"0.05 * a", "0.05 * b"}
    del c, d
