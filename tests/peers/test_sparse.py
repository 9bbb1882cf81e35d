"""Random programs over sparse tensors give TensorFlow's values, dtypes, shapes and gradients."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from tests.extras.sparse_programs import Program, program

tf = pytest.importorskip("tensorflow", reason="tensorflow is not installed, so there is no peer to compare with")
COUNT = int(os.environ.get("FUZZ_COUNT", "300"))
# TensorFlow has no gradient, or no kernel, of these.
ONLY_VALUES = ("maximum", "minimum", "concat", "map_values")


def outcome(lib: Any, case: Program) -> list[np.ndarray[Any, Any] | None]:
    """The arrays of a result, and the gradient with respect to the values."""
    values = lib.constant(case.values)
    with lib.GradientTape() as tape:
        if not values.dtype.is_integer:
            tape.watch(values)
        made = case.run(lib, case.tensor(lib, values))
        sparse = isinstance(made, lib.SparseTensor)
        flat = made.values if sparse else made
        weights = np.cos(0.7 * np.arange(int(np.prod(flat.shape.as_list())))).reshape(flat.shape.as_list())
        loss = lib.reduce_sum(lib.math.real(flat * lib.constant(weights.astype(case.values.dtype))))
    parts = [made.indices.numpy(), made.dense_shape.numpy()] if sparse else []
    if values.dtype.is_integer or case.name in ONLY_VALUES:
        return [flat.numpy(), *parts]
    gradient = tape.gradient(loss, values)
    return [flat.numpy(), *parts, None if gradient is None else lib.convert_to_tensor(gradient).numpy()]


def same(a: Any, b: Any) -> bool:
    """Whether two arrays agree in dtype, shape and numbers."""
    if a is None or b is None:
        return a is b
    return a.dtype == b.dtype and a.shape == b.shape and np.allclose(a, b, 1e-5, 1e-6)


def test_sparse_programs_agree_with_tensorflow(figure: Callable[[str, str], None]) -> None:
    refused, differ = 0, []
    for seed in range(COUNT):
        case = program(seed)
        if case.name.startswith("product of dense") and case.values.dtype.kind == "c":
            continue  # TensorFlow gives the conjugate of the product
        try:
            theirs = outcome(tf, case)
        except Exception:  # noqa: BLE001 - whatever it refuses with
            refused += 1
            continue
        ours = outcome(lab, case)
        if len(ours) != len(theirs) or not all(map(same, ours, theirs)):
            differ.append(f"{seed} {case.name} of {case.values} in {case.shape}: {ours}, tensorflow {theirs}")
    figure("sparse programs compared with TensorFlow", f"{COUNT - refused} of {COUNT}")
    assert not differ, f"{len(differ)} differ:\n" + "\n".join(differ[:20])
