"""Ops that run on the CPU wherever their operands are, and why: the one list of them.

Their operands are copied from a GPU and their results back to it; each copy is told as traffic, with the reason named
here.  A test holds the list to what happens: nothing that is not in it may copy arrays, and nothing in it may stop to.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from autodiff_lab.kernels.cuda.array import DeviceArray, check_value
from autodiff_lab.kernels.cuda.traffic import inside, is_inside

_LAPACK = "LAPACK has it, the libraries of a GPU have not"
_SPECIAL = "CuPy has no such function"
STAYS = {
    "as_string": "text lives on the CPU",
    "bessel_iv": _SPECIAL,
    "bessel_ive": _SPECIAL,
    "bessel_jv": _SPECIAL,
    "dawsn": _SPECIAL,
    "eig": _LAPACK,
    "expm": "SciPy scales and squares each matrix by its own norm",
    "fresnel_cos": _SPECIAL,
    "fresnel_sin": _SPECIAL,
    "igamma_slope": "how many terms its series needs hangs on the largest value, which is read",
    "isotonic_blocks": "blocks are joined one after the other, by what the last joining gave",
    "logm": _LAPACK,
    "lu": "the order of rows is worked out one exchange after the other",
    "spence": _SPECIAL,
    "sqrtm": _LAPACK,
    "sylvester": _LAPACK,
    "tridiagonal_solve": _LAPACK,
}
"""By op, why it runs on the CPU, or reads a number there."""
WAIT = {
    "unique": "how many elements are distinct is the length of the result",
    "unique_counts": "how many elements are distinct is the length of the result",
    "unique_numbers": "CuPy finds the distinct elements first",
    "where_true": "how many elements are true is the length of the result",
}
"""Ops that run on a GPU and wait for it, as the shape of what they give hangs on values; nothing is copied."""
LIVES_ON_CPU = {
    "regex_full_match": "text lives on the CPU",
    "shape": "the lengths of axes are known to Python",
    "string_length": "text lives on the CPU",
    "to_number": "text lives on the CPU",
}
"""Ops whose results are numbers, and on the CPU, as nothing of a GPU went into them."""


def reason(name: str) -> str:
    """What is told of a copy that an op of the list makes."""
    return f"{name}: {STAYS[name]}"


def hosted(name: str, kernel: Callable[..., Any]) -> Callable[..., Any]:
    """Give a kernel that runs on the CPU: arrays of a GPU are copied there, and its results back.

    Parameters
    ----------
    name : str
        Of the op; `STAYS` must have it.
    kernel : callable
        NumPy arrays in, array or tuple of arrays out.
    """
    why = reason(name)

    @functools.wraps(kernel)
    def run(*arrays: Any, **params: Any) -> Any:
        for array in arrays:
            if array.__class__ is DeviceArray:
                memory, strict = array.memory, not is_inside()
                with inside():
                    value = memory.uploaded(kernel(*memory.hosted(arrays, why), **params), why)
                return check_value(arrays, value) if strict else value
        return kernel(*arrays, **params)

    return run
