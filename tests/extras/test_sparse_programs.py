"""Random programs over sparse tensors and their gradients agree with NumPy on dense arrays."""

import os
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab.testing import check_gradient
from tests.extras.sparse_programs import program

COUNT = int(os.environ.get("FUZZ_COUNT", "300"))


def whole(value: Any) -> Any:
    """A result as an array."""
    return (lab.sparse.to_dense(value) if isinstance(value, lab.SparseTensor) else value).numpy()


def test_values_dtypes_and_shapes_are_those_of_whole_arrays() -> None:
    wrong: list[str] = []
    for seed in range(COUNT):
        case = program(seed)
        found = np.asarray(whole(case.run(lab, case.tensor(lab))))
        if (
            found.dtype != case.values.dtype
            or found.shape != case.expected.shape
            or not np.allclose(found, case.expected, 1e-5)
        ):
            wrong.append(f"{seed} {case.name} of {case.values} at {case.indices.tolist()} in {case.shape}: {found}, "
                         f"expected {case.expected}")  # fmt: skip
    assert not wrong, f"{len(wrong)} are wrong:\n" + "\n".join(wrong[:10])


@pytest.mark.parametrize("order", [1, 2])
def test_gradients_are_those_of_finite_differences(order: int) -> None:
    checked = 0
    for seed in range(1000, 1000 + COUNT // 5):
        case = program(seed)
        if case.values.dtype not in (np.float64, np.complex128) or not case.values.size or "imum" in case.name:
            continue

        def run(values: Any, case: Any = case) -> Any:
            made = case.run(lab, case.tensor(lab, values))
            return made.values if isinstance(made, lab.SparseTensor) else made

        check = check_gradient(run, case.values, order=order)
        assert check, f"{seed} {case.name} of {case.values} in {case.shape}: {check}"
        checked += 1
    assert checked > COUNT // 60
