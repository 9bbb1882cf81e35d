"""Which way calls run once a program has been compared with its function, on a machine whose clock we set."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from autodiff_lab.compile.front import waiting


class _Machine:
    """A clock, and a program and its function whose calls take what `busy` says, in seconds of that clock."""

    compared = False

    def __init__(self, program: float, function: float) -> None:
        self.now, self.takes, self.busy = 0.0, {"program": program, "function": function}, 0

    def run(self, which: str) -> str:
        self.now += self.takes[which] + (0.03 if self.busy > 0 else 0.0)
        self.busy -= 1
        return which

    def perf_counter(self) -> float:
        return self.now

    def serves(self, arrays: list[Any]) -> bool:
        return True

    def call(self, arrays: list[Any]) -> tuple[bool, str]:
        return True, self.run("program")


@pytest.mark.parametrize(
    ("program", "busy", "slower"), [(0.001, 0, False), (0.001, 7, False), (0.001, 11, False), (0.001, 60, False),
                                    (0.003, 0, True), (0.003, 7, True), (0.003, 60, True)],
)  # fmt: skip
def test_a_busy_machine_does_not_make_a_program_look_slower_than_its_function(
    program: float, busy: int, slower: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = _Machine(program, 0.002)
    monkeypatch.setattr(waiting, "time", machine)
    of = SimpleNamespace(entry=None, error=None)
    trial = waiting.Trial(cast("waiting.Waiting", of))
    for _ in range(10):
        assert trial.call([], lambda: machine.run("function")) == (True, "function")
    of.entry, machine.busy = machine, busy
    calls = 0
    while not trial.settled and calls < 100:
        trial.call([], lambda: machine.run("function"))
        calls += 1
    assert trial.settled
    assert trial.slower == (slower and busy < 60)
    assert machine.compared
