"""The sentences that readers meet: none has a number of the printed form, a repr, a doubled word or a wrong plural."""

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import autodiff_lab as lab
from autodiff_lab import teaching
from autodiff_lab.draw.scene import scene
from autodiff_lab.recording import Recording

WRONG = {
    "a number of the printed form, which a refusal quotes": r"(?<!')%\d",
    "a repr": r"0x[0-9a-f]{6}|<[\w.]+ object|\('s', ",
    "a doubled word": r"\b([A-Za-z]{2,}) \1\b",
    "a wrong plural": r"\b1 (op|step|element|number|path|contribution|pass|node|iteration|input)e?s\b",
    "a description where code stands": r"(tape\.\w+\(|make |d)(the result of|an array of)",
}


def unnamed(x: Any, matrix: Any) -> Any:
    return lab.reduce_sum(lab.tanh(lab.exp(x * 2.0) + matrix[:1]) @ lab.transpose(lab.stop_gradient(matrix) * x))


def scopes(x: Any, matrix: Any) -> Any:
    with lab.name_scope("one op"):
        y = x * x
    for turn in range(6):
        with lab.name_scope(f"block{turn}"):
            y = lab.sin(y) * x
    return lab.math.log(y - y)


@lab.custom_gradient
def relu(x: Any) -> Any:
    return lab.exp(x), lambda upstream: upstream


PROGRAMS: dict[str, Callable[[Any, Any], Any]] = {
    "unnamed": unnamed,
    "scopes": scopes,
    "custom": lambda x, matrix: relu(x) * relu(x * x),
    "integer": lambda x, matrix: lab.cast(lab.cast(x, lab.int32), lab.float32) * 2.0,
}


def recorded(program: Callable[[Any, Any], Any]) -> Recording:
    """Record a program whose inputs have no names."""
    inputs = [lab.Variable(0.5), lab.constant([[1.0, 2.0], [3.0, 4.0]])]
    with lab.record() as recording, lab.GradientTape() as tape:
        tape.gradient(program(inputs[0], inputs[1]), inputs)
    return recording


def sentences(recording: Recording) -> Iterator[str]:
    """Yield what the package says of a recording."""
    (sweep,) = recording.sweeps
    results = [a.outputs[0] for a in recording.forward]
    asked: list[Any] = [
        lambda: lab.costs(recording, seconds=0.01),
        lambda: teaching.diagnose_answer(recording, 123.0),
        lambda: recording.explore(color=lambda record: "dark"),
        recording.first_nonfinite,
        lambda: [*teaching.program_of(recording).accounts],
        lambda: re.sub(r"<style.*?</style>|<[^>]*>", " ", recording.to_svg(), flags=re.DOTALL),
        *(lambda source=source: recording.explain(results[-1], source) for source in sweep.sources),
        *(lambda source=source: recording.ledger(source).headline for source in sweep.sources),
        *(lambda at=at: recording.ledger(at) for at in results),
        *(lambda at=at, place=place: lab.local_jacobian(recording, at, place) for at in results for place in (0, 9)),
    ]
    for ask in asked:
        try:
            yield str(ask())
        except lab.errors.LabError as refusal:
            yield str(refusal)
    yield from strings(scene(recording))


def strings(value: Any) -> Iterator[str]:
    """Yield every text in nested lists and dicts."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list | tuple):
        for part in value.values() if isinstance(value, dict) else value:
            yield from strings(part)


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_is_said_of_a_program_without_names(name: str) -> None:
    said = [*sentences(recorded(PROGRAMS[name]))]
    assert len(said) > 30
    found = [f"{what}: {text}" for what, wrong in WRONG.items() for text in said if re.search(wrong, text)]
    assert not found, "\n".join(found)
