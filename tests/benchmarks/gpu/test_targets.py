"""How the GPU benchmarks report their targets, and what the page says about them, from invented figures."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.benchmarks.gpu import section
from tests.benchmarks.gpu.check import error, oracle
from tests.benchmarks.gpu.clock import Clock, measure
from tests.benchmarks.gpu.listed import PROGRAMS
from tests.benchmarks.gpu.running import line
from tests.benchmarks.gpu.targets import TARGETS, sentence, share, verdicts

BANDWIDTH = 4e12
MILLISECOND = 1e-3


def timed(seconds: float, **more: Any) -> dict[str, Any]:
    spread = {"median": seconds, "low": seconds, "high": seconds}
    return {"device": spread, "wall": spread, "first": 1.0, "error": 1e-7, "peak": 2**20, **more}


def bench(**rows: dict[str, Any]) -> dict[str, Any]:
    found = {case.replace("__", "-"): row for case, row in rows.items()}
    made: dict[str, Any] = {"bandwidth": BANDWIDTH, "rows": found, "left_out": {"jax": "it is not installed"}}
    return {**made, "targets": verdicts(made), "small": False}


def verdict(found: dict[str, Any], case: str, kind: str) -> dict[str, Any]:
    return next(one for one in verdicts(found) if one["case"] == case and kind in one["kind"])


def test_a_share_of_the_bandwidth_is_the_least_traffic_over_the_time() -> None:
    least = 16 * (1 << 24)
    assert share("elementwise", least / BANDWIDTH, BANDWIDTH) == pytest.approx(1.0)
    assert share("mlp_step", 1.0, BANDWIDTH) is None, "arithmetic is its limit"


@pytest.mark.parametrize(("part", "met"), [(0.81, True), (0.79, False)])
def test_a_share_is_met_from_its_limit_on(part: float, met: bool) -> None:
    taken = 16 * (1 << 24) / BANDWIDTH / part
    found = bench(elementwise={"lab-function": timed(taken), "lab": timed(taken / 10)})
    one = verdict(found, "elementwise", "bandwidth")
    assert one["met"] is met
    assert one["value"] == pytest.approx(part), "the eager mode does not count where the compiled one is meant"


@pytest.mark.parametrize(("ours", "met"), [(0.79, True), (0.81, False)])
def test_a_multiple_of_the_time_of_pytorch_is_met_up_to_its_limit(ours: float, met: bool) -> None:
    rows = {"lab": timed(ours * MILLISECOND), "lab-function": timed(MILLISECOND), "torch": timed(MILLISECOND)}
    one = verdict(bench(softmax_xent=rows), "softmax_xent", "PyTorch")
    assert one["met"] is met
    state = "met" if met else "missed"
    assert sentence(one) == f"{state:8} softmax_xent: at most 0.8 × PyTorch's time; {ours:.2f} by lab"


def test_what_was_not_measured_is_neither_met_nor_missed() -> None:
    assert all(one["met"] is None for one in verdicts(bench()))
    without_torch = bench(mlp_step={"lab": timed(1.0)}, gather={"lab": {"missing": "it ended"}})
    assert verdict(without_torch, "mlp_step", "PyTorch")["met"] is None
    assert "not measured" in sentence(verdict(without_torch, "gather", "bandwidth"))


def test_every_target_is_a_case_and_every_share_has_a_traffic() -> None:
    for target in TARGETS:
        program = PROGRAMS[target.case]
        assert ("bandwidth" in target.kind) <= bool(program.least(*program.sizes["full"]))


def test_the_page_says_plainly_that_there_are_no_figures_and_how_to_take_them(tmp_path: Path) -> None:
    text = section.text(tmp_path / "none.json")
    assert "have not been timed on a GPU yet" in text
    assert "make test-gpu PYTHON=python3\nmake bench-gpu PYTHON=python3\n" in text
    assert text.count("| `") == len(TARGETS)


def test_the_page_tells_the_figures_the_card_and_what_was_missed(tmp_path: Path) -> None:
    rows = {"lab": timed(2e-3), "torch": timed(1e-3), "jax": {"missing": "it ended"}}
    machine = {"card": "Card 9", "driver": "580.1", "python": "3.11.7", "versions": {"numpy": "2.4"}}
    tests = {"passed": 1234, "failed": 0, "skipped": {"why": 2}}
    path = tmp_path / "gpu.json"
    path.write_text(json.dumps({"machine": machine, "bench": bench(gather=rows, mlp_step=rows), "tests": tests}))
    text = section.text(path)
    assert "Measured on one Card 9, driver 580.1." in text
    assert (
        "| `mlp_step` training step of a network, batch 4,096, 4,096 wide, 3 layers | 2.00 ms | **1.00 ms** |" in text
    )
    assert "| `mlp_step`: at most 1.1 × PyTorch's time | 2.0 | **missed** |" in text
    assert "| `gather`: at least 0.7 of copy bandwidth | 0.14 | **missed** |" in text
    assert "1,234 tests passed, 0 failed and 2 were skipped" in text
    assert "jax.jit is left out: it is not installed." in text


def test_a_wrong_result_is_noticed_before_anything_is_timed(tmp_path: Path) -> None:
    program = PROGRAMS["gather"]
    wanted = oracle(program, "tiny")
    file = tmp_path / "made.npz"
    np.savez(file, *wanted)
    assert error(program, file, wanted) == (0.0, "")
    for wrong, words in (
        ([w + 1e-3 * np.abs(w).max() for w in wanted], "off by 0.001"),
        ([w * np.nan for w in wanted], "off by nan"),
        ([w[:-1] for w in wanted], "has shape"),
    ):
        np.savez(file, *wrong)
        assert words in error(program, file, wanted)[1]


def test_short_calls_are_timed_several_at_once() -> None:
    calls: list[int] = []
    found = measure(Clock(), lambda: calls.append(1), times=3, seconds=0.0)
    assert found["calls"] > 3
    assert found["samples"] == 5
    assert len(calls) == 4 + (1 + found["samples"]) * found["calls"]
    assert "device" not in found, "the clock on the wall knows nothing of the GPU"


def test_a_library_that_fails_in_one_case_says_why() -> None:
    assert line("gather", "torch", {"missing": "it ended"}, None).endswith("PyTorch       left out: it ended")
    assert "50% of bandwidth" in line("gather", "lab", timed(2 * (8 * 128 + 8) * 2**20 / BANDWIDTH), BANDWIDTH)
