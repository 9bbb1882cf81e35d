"""CuPy supports every call that is forwarded to it: names, parameters, dtypes, and no CPU arrays among GPU arrays."""

import importlib.util
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from autodiff_lab.kernels.cuda import forwarding
from autodiff_lab.kernels.cuda.gpus import memory_of, simulated
from tests.gpu.table import names, verdict

if not simulated():
    pytest.skip("the stand-in for CuPy is for the simulator", allow_module_level=True)
if importlib.util.find_spec("cupy") is None:
    pytest.skip("CuPy is not installed", allow_module_level=True)

import cupy
import cupyx.scipy.special
import scipy.special

from tests.simulated import strict


@pytest.fixture
def refused() -> Iterator[list[str]]:
    """Put the strict stand-in into the place of CuPy; give what it refuses."""
    memory: Any = memory_of(0)
    before = memory.module, memory.special
    memory.module, memory.special = strict.Module(), strict.Module(scipy.special, cupyx.scipy.special, "special")
    memory.ufunc.cache_clear()
    memory.function.cache_clear()
    strict.REFUSED.clear()
    yield strict.REFUSED
    memory.module, memory.special = before
    memory.ufunc.cache_clear()
    memory.function.cache_clear()


@pytest.mark.slow(keep=30)
@pytest.mark.parametrize("name", names())
def test_an_op_asks_of_cupy_what_cupy_has(name: str, refused: list[str]) -> None:
    """The whole check of the table, on a stand-in that refuses what CuPy refuses; also what our code would catch."""
    found = verdict(name, "numpy")
    assert not refused
    assert found["verdict"] != "failed", "\n".join(found["why"])


@pytest.mark.parametrize("place", sorted(forwarding.FUNCTIONS))
def test_every_function_on_the_list_is_there(place: str) -> None:
    for name in forwarding.FUNCTIONS[place]:
        found = cupy
        for part in [*place.split(".")[1:], name]:
            found = getattr(found, part, None)
        assert callable(found), f"CuPy has no {place}.{name}"


def test_every_special_function_on_the_list_is_there() -> None:
    assert not [name for name in forwarding.SPECIAL if not hasattr(cupyx.scipy.special, name)]


def test_the_stand_in_refuses() -> None:
    """A check that lets everything pass would prove nothing."""
    xp = strict.Module()
    x = xp.asarray(np.ones(3))
    strict.REFUSED.clear()
    for call in (
        lambda: xp.flatnonzero_of_nothing,
        lambda: xp.add(x, np.ones(3)),
        lambda: xp.max(x, initial=0),
        lambda: x.max(initial=0),
        lambda: xp.add.at(xp.asarray(np.ones(3, np.int64)), xp.asarray([0]), 1),
        lambda: xp.left_shift(x, x),
    ):
        with pytest.raises((TypeError, AttributeError)):
            call()
    assert len(strict.REFUSED) >= 5
