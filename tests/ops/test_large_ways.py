"""Tests of small and empty arrays once more, in the ways of large ones: see `tests.thresholds`."""

import pytest

import autodiff_lab.kernels
from tests.ops.test_arrays import *  # noqa: F403
from tests.ops.test_empty import *  # noqa: F403
from tests.ops.test_linalg_table import *  # noqa: F403
from tests.ops.test_values import *  # noqa: F403
from tests.thresholds import lower


@pytest.fixture(autouse=True)
def _all_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    assert lower(monkeypatch, autodiff_lab.kernels) > 30
