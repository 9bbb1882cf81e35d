"""Steps of optimizers: each override changes its arrays as its reference does, and leaves the gradient alone."""

from typing import Any

import numpy as np
import pytest

from autodiff_lab.kernels.base.choose import CHOSEN
from autodiff_lab.ops.nn import updates
from tests.kernels.agreement import DTYPES, TOLERANCE

CALLS: dict[str, tuple[str, tuple[float, ...], int]] = {
    "sgd": ("sgd_step", (0.1, 0.0), 0),
    "sgd with decay": ("sgd_step", (0.1, 0.01), 0),
    "momentum": ("momentum_step", (0.1, 0.0, 0.9, 0.0), 1),
    "nesterov with decay": ("momentum_step", (0.1, 0.01, 0.9, 1.0), 1),
    "adam": ("adam_step", (0.1, 0.0, 0.9, 0.1, 0.999, 0.001, 1e-7), 2),
    "adamw": ("adam_step", (0.1, 0.01, 0.9, 0.1, 0.999, 0.001, 1e-7), 2),
    "amsgrad": ("adam_step", (0.1, 0.0, 0.9, 0.1, 0.999, 0.001, 1e-7), 3),
    "rmsprop": ("rmsprop_step", (0.1, 0.0, 0.9, 0.1, 0.5, 1e-7), 2),
    "centered rmsprop": ("rmsprop_step", (0.1, 0.01, 0.9, 0.1, 0.0, 1e-7), 3),
    "adagrad": ("adagrad_step", (0.1, 0.0, 1e-7), 1),
    "nadam": ("nadam_step", (0.1, 0.0, 0.2, 0.9, 0.1, 0.999, 0.001, 1.5, 1e-7), 2),
    "nadam with decay": ("nadam_step", (0.1, 0.01, 0.2, 0.9, 0.1, 0.999, 0.001, 1.5, 1e-7), 2),
    "adamax": ("adamax_step", (0.1, 0.0, 0.9, 0.1, 0.999, 1e-7), 2),
    "adamax with decay": ("adamax_step", (0.1, 0.01, 0.9, 0.1, 0.999, 1e-7), 2),
    "adadelta": ("adadelta_step", (0.1, 0.0, 0.95, 0.05, 1e-7), 2),
    "adadelta with decay": ("adadelta_step", (0.1, 0.01, 0.95, 0.05, 1e-7), 2),
}


def arrays(name: str, dtype: str, size: int) -> list[Any]:
    """Return value, gradient, settings and what is kept, with a nan and an infinity in the gradient."""
    _, settings, kept = CALLS[name]
    rng = np.random.default_rng(size)
    made = [rng.standard_normal(size), rng.standard_normal(size), np.array(settings)]
    made += [rng.uniform(0.5, 1.0, size) for _ in range(kept)]
    if kept == 3 and "rmsprop" in name:
        made[-1] *= 0.1  # the mean, whose square is taken from that of the squares
    if size > 4:
        made[1][2:4] = np.nan, np.inf
    return [a.astype(dtype) for a in made]


@pytest.mark.slow(keep=20)
@pytest.mark.parametrize("size", [0, 1, 7, 1000, 500_000])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", CALLS)
def test_overrides_change_what_their_references_do(name: str, dtype: str, size: int) -> None:
    kernel = CHOSEN[CALLS[name][0]]
    assert kernel is getattr(updates, CALLS[name][0])
    assert kernel.compile(np.dtype(dtype)), kernel.failures
    ours, theirs, before = (arrays(name, dtype, size) for _ in range(3))
    with np.errstate(all="ignore"):
        for _ in range(3):
            kernel.override()(*ours)
            kernel.reference(*theirs)
    for mine, reference in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(mine, reference, rtol=10 * TOLERANCE[dtype], atol=10 * TOLERANCE[dtype])
    for unchanged in (1, 2):
        np.testing.assert_array_equal(ours[unchanged], before[unchanged])
        np.testing.assert_array_equal(theirs[unchanged], before[unchanged])
