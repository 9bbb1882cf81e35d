"""What every test of compiled functions holds: no generated loop is left to Numba."""

from collections.abc import Iterator

import pytest

from autodiff_lab.kernels.base.store import LEFT_TO_NUMBA


@pytest.fixture(autouse=True)
def _nothing_is_left_to_numba() -> Iterator[None]:
    before = dict(LEFT_TO_NUMBA)
    yield
    assert before == LEFT_TO_NUMBA, "a generated text uses Python outside the subset that `kernels.lowering` translates"
