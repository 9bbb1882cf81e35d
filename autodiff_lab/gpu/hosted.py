"""Ops that run on the CPU wherever their operands are, and why: the one list of them.

Their operands are copied from a GPU and their results back to it; each copy is reported as traffic, with the reason
given here.  A test compares the list with what happens: ops outside it must not copy arrays, and those in it must.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from autodiff_lab.engine.op import Op
from autodiff_lab.kernels.cuda.array import DeviceArray
from autodiff_lab.kernels.cuda.traffic import because

_LAPACK = "LAPACK has this function, the GPU libraries do not"
_NORMS = "each matrix is scaled and squared by its own norm"
_SPECIAL = "CuPy has no such function"
_STEPS = "each step is a dozen small launches that wait for those of the step before"
STAYS = {
    "as_string": "text lives on the CPU",
    "bessel_iv": _SPECIAL,
    "bessel_ive": _SPECIAL,
    "bessel_jv": _SPECIAL,
    "ctc_loss": _STEPS,
    "dawsn": _SPECIAL,
    "eig": _LAPACK,
    "expm": _NORMS,
    "expm_frechet": _NORMS,
    "fresnel_cos": _SPECIAL,
    "fresnel_sin": _SPECIAL,
    "igamma_grad": "the number of terms of its series depends on the largest value, which is read",
    "isotonic_blocks": "blocks are merged one after the other, each depending on the one before",
    "logm": _LAPACK,
    "lu": "the row order is computed one exchange after the other",
    "lu_factors": "systems on a GPU do not use them",
    "softmax_minus_occupancy": _STEPS,
    "spence": _SPECIAL,
    "sqrtm": _LAPACK,
    "sylvester": _LAPACK,
    "tridiagonal_solve": _LAPACK,
}
"""By op, why it runs on the CPU, or reads a number there."""
READS = {"igamma_grad"}
"""Those of them that run on the GPU and read a number."""
WAIT = {
    "unique": "how many elements are distinct is the length of the result",
    "unique_counts": "how many elements are distinct is the length of the result",
    "unique_numbers": "CuPy finds the distinct elements first",
    "where_true": "how many elements are true is the length of the result",
}
"""Ops that run on a GPU and wait for it, as the shape of what they give depends on values; nothing is copied."""
LIVES_ON_CPU = {
    "regex_full_match": "text lives on the CPU",
    "shape": "the lengths of axes are known to Python",
    "string_length": "text lives on the CPU",
    "to_number": "text lives on the CPU",
}
"""Ops whose results are numbers, and on the CPU, as nothing of a GPU went into them."""


_there: dict[Op, Op] = {}


def there(op: Op) -> Op:
    """Find the op that runs on arrays of a GPU: itself, or one whose kernel copies to the CPU and back."""
    if op.name not in STAYS:
        return op
    found = _there.get(op)
    if found is None:
        found = _there[op] = copy.copy(op)
        found.kernel = on_host(op.name, op.kernel)
    return found


def on_host(name: str, kernel: Callable[..., Any]) -> Callable[..., Any]:
    """Make a kernel that runs on the CPU: arrays of a GPU are copied there, and its results back."""
    why = f"{name}: {STAYS[name]}"

    def run(*arrays: Any, **params: Any) -> Any:
        for array in arrays:
            if array.__class__ is DeviceArray:
                if name in READS:
                    with because(why):
                        return kernel(*arrays, **params)
                memory = array.memory
                return memory.uploaded(kernel(*memory.hosted(arrays, why), **params), why)
        return kernel(*arrays, **params)

    return run
