"""Random programs over ragged tensors agree with plain Python on nested lists."""

import math
import os
from typing import Any

import pytest

import autodiff_lab as lab
from autodiff_lab.testing import check_gradient
from tests.extras.ragged_draws import UNKNOWN
from tests.extras.ragged_programs import program

COUNT = int(os.environ.get("FUZZ_COUNT", "300"))


def same(ours: Any, expected: Any) -> bool:
    """Whether nested lists agree; what is not known agrees with everything."""
    if expected is UNKNOWN:
        return True
    if isinstance(expected, list):
        return isinstance(ours, list) and len(ours) == len(expected) and all(map(same, ours, expected))
    if isinstance(expected, float) and math.isnan(expected):
        return math.isnan(ours)
    return ours == pytest.approx(expected, rel=1e-5, abs=1e-6)


def test_values_are_those_of_nested_lists() -> None:
    wrong: list[str] = []
    compared = 0
    for seed in range(COUNT):
        case = program(seed)
        if case.expected is UNKNOWN:
            continue
        if case.name.startswith("reduce_m") and not case.source(lab).flat_values.numpy().size:
            continue  # an extreme of nothing
        compared += 1
        made = case.run(lab, case.source(lab))
        if isinstance(made, list):
            made, expected = [listed(x) for x in made], case.expected
        else:
            made, expected = listed(made), case.expected
        if not same(made, expected):
            wrong.append(f"{seed} {case.name} of {case.rows}: {made}, expected {expected}")
    assert compared > COUNT // 2
    assert not wrong, f"{len(wrong)} of {compared} are wrong:\n" + "\n".join(wrong[:10])


def listed(value: Any) -> Any:
    """A result as nested lists."""
    return value.to_list() if isinstance(value, lab.RaggedTensor) else value.numpy().tolist()


@pytest.mark.parametrize("order", [1, 2])
def test_gradients_are_those_of_finite_differences(order: int) -> None:
    """The flat values of a program as the input; ties of extremes have no derivative and are left out."""
    checked = 0
    for seed in range(1000, 1000 + COUNT // 6):
        case = program(seed)
        if case.dtype != "float64" or any(word in case.name for word in ("max", "min", "abs", "sign", "equal", "cast")):
            continue
        source = case.source(lab)
        if not source.flat_values.numpy().size:
            continue

        def run(flat: Any, case: Any = case, source: Any = source) -> Any:
            made = case.run(lab, source.with_flat_values(flat))
            parts = [made] if not isinstance(made, list) else made
            return [p.flat_values if isinstance(p, lab.RaggedTensor) else p for p in parts]

        values = source.flat_values.numpy() + 0.013  # off the kinks
        if any(flat.dtype.is_floating for flat in run(lab.constant(values))):
            check = check_gradient(run, values, order=order)
            assert check, f"{seed} {case.name} of {case.rows}: {check}"
            checked += 1
    assert checked > COUNT // 60
