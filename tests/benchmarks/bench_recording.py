"""The cost of recording, over time: three programs plain and under `record`, and the size of a recording on disk.

Recording keeps values, gradients and source lines; the views are built when the recording is first accessed.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import autodiff_lab as lab
from tests.benchmarks.probes.programs import graph, net, neuron


def training() -> Callable[[], Any]:
    """The training step with its arguments."""
    step, given = net()
    return lambda: step(*given)


PROGRAMS = {"4 small ops": neuron, "a training step": training, "500 small ops": graph}


@pytest.mark.parametrize("recorded", [False, True], ids=["plain", "recorded"])
@pytest.mark.parametrize("program", PROGRAMS)
def test_recording(program: str, recorded: bool, benchmark: Any, tmp_path: Path) -> None:
    benchmark.group = f"recording {program}"
    run = PROGRAMS[program]()

    def under_record() -> lab.Recording:
        with lab.record() as recording:
            run()
        return recording

    if not recorded:
        benchmark(run)
        return
    recording = benchmark(under_record)
    recording.save(tmp_path / "a.json")
    recording.to_html(tmp_path / "a.html")
    benchmark.extra_info["bytes"] = {path.suffix: path.stat().st_size for path in tmp_path.iterdir()}


@pytest.mark.parametrize("program", PROGRAMS)
def test_views(program: str, benchmark: Any) -> None:
    """The first look at a recording, which builds its views."""
    benchmark.group = "first look at a recording"
    run = PROGRAMS[program]()

    def made() -> tuple[tuple[lab.Recording], dict[str, Any]]:
        with lab.record() as recording:
            run()
        return (recording,), {}

    benchmark.pedantic(len, setup=made, rounds=20)
