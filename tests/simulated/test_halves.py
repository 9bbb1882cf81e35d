"""Half floats on a GPU: also summed in float32 where none of our kernels takes them and CuPy computes."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab

IDS = np.arange(3000) % 3


def used_often(x: Any) -> Any:
    with lab.GradientTape() as tape:
        tape.watch(x)
        y = [x * 1.0 for _ in range(400)]
    return tape.gradient(y, x)[:3]


WAYS: dict[str, Callable[[Any], Any]] = {
    "sum": lambda x: lab.reduce_sum(x, axis=0),
    "mean": lambda x: lab.reduce_mean(x, axis=0),
    "softmax": lambda x: lab.nn.softmax(x, axis=0),
    "cumsum": lambda x: lab.cumsum(x, axis=0),
    "segment_sum": lambda x: lab.math.unsorted_segment_sum(x, IDS, 3),
    "logsumexp": lambda x: lab.reduce_logsumexp(x, axis=0),
    "add_n": lambda x: lab.add_n([x] * 400),
    "a value used often": used_often,
}


@pytest.mark.parametrize("name", WAYS)
def test_half_floats_on_a_gpu_are_those_of_the_cpu(name: str) -> None:
    x = lab.constant(np.random.default_rng(0).uniform(0.5, 1.5, (3000, 2)).astype(np.float16))
    expected, got = WAYS[name](x), WAYS[name](x.gpu())
    assert got.dtype == lab.float16
    np.testing.assert_allclose(got.numpy().astype(float), expected.numpy().astype(float), rtol=1e-3)
