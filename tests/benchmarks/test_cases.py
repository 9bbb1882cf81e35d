"""The benchmarked programs agree with the handwritten ones in float64, at small sizes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tests.benchmarks.cases import CASES
from tests.benchmarks.cases.case import Case
from tests.benchmarks.check import WrongResult, error, oracle, prepare
from tests.benchmarks.libraries import PEERS

OURS = [name for name, peer in PEERS.items() if peer.ours or name == "numpy"]


@pytest.mark.slow(keep=12)
@pytest.mark.parametrize("name", OURS)
@pytest.mark.parametrize("case", CASES.values(), ids=list(CASES))
def test_values_and_gradients_are_those_of_the_program_by_hand(
    case: Case, name: str, figure: Callable[[str, str], None]
) -> None:
    library, data = PEERS[name].library(), case.data(small=True)
    run = prepare(case, library, data)
    wanted = oracle(case, data)
    first, second = error(case, library, run, wanted), error(case, library, run, wanted)  # traced, then compiled
    figure(f"{case.name}, {name}", f"error {max(first, second):.1e}")
    assert not library.fallbacks(), "a compiled case of the table runs op by op"


def test_a_wrong_gradient_is_noticed() -> None:
    case, library = CASES["gather"], PEERS["lab"].library()
    data = case.data(small=True)
    wanted = oracle(case, data)
    wanted["dT"] = wanted["dT"] + 1e-3 * np.abs(wanted["dT"]).max()
    with pytest.raises(WrongResult, match="gather: dT is off by"):
        error(case, library, prepare(case, library, data), wanted)


@pytest.mark.parametrize("case", CASES.values(), ids=list(CASES))
def test_by_hand_means_the_slope_of_the_value(case: Case) -> None:
    """The oracle itself: its gradients against central differences of its own value, along one direction."""
    if "value" not in case.outputs:
        pytest.skip(f"{case.name} has no single value; its oracle is a formula")
    leaves = [name.removeprefix("d") for name in case.outputs if name != "value"]
    data, step = case.data(small=True), 1e-6
    draw = np.random.default_rng(1)
    ways = {name: _way(draw, data[name]) for name in leaves}

    def moved(by: float) -> float:
        there = {name: _plus(data[name], ways[name], by) for name in leaves}
        return float(oracle(case, {**data, **there})["value"])

    slopes = oracle(case, data)
    along = sum(float(np.sum(slopes[f"d{name}"] * np.asarray(ways[name]))) for name in leaves)
    assert (moved(step) - moved(-step)) / (2 * step) == pytest.approx(along, rel=1e-4, abs=1e-7)


def _way(draw: np.random.Generator, x: object) -> object:
    return [_way(draw, one) for one in x] if isinstance(x, list) else draw.standard_normal(np.shape(x))


def _plus(x: object, way: object, by: float) -> object:
    if isinstance(x, list):
        return [_plus(one, other, by) for one, other in zip(x, way, strict=True)]
    return np.float64(x) + by * np.asarray(way)
