"""Expected values: small integers and truth values that control a shape or a branch, to which a program is specialized.

Where our own code looks at such a value, or Python takes it for an index, the trace goes on with what it is, and the
program checks that it is the same in each call.  Where it is not, the program is left and the call runs eagerly.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autodiff_lab.compile.program.lines import OtherValueError
from autodiff_lab.engine.op import Op

MOST = 64
"""Elements of a value that a program may assume; what has more is data, and seldom the same in the next call."""

MOST_ASSUMED = 256
"""Values that a program may assume: a loop that ends by its values may have any number of turns, all of them lines."""


def _checked(x: Any, value: tuple[int, ...]) -> Any:
    if tuple(np.ravel(x).tolist()) != value:
        raise OtherValueError
    return x


EXPECT = Op("expect", _checked, None, 1, sentence="checks that {0} has the value that the program was compiled for")


def expected(array: Any) -> dict[str, Any] | None:
    """Return the parameters of `EXPECT` for a value, None if a program must not assume it.

    Examples
    --------
    >>> expected(np.array([2, 1])), expected(np.float32(2.0))
    ({'value': (2, 1)}, None)
    """
    if not isinstance(array, (np.ndarray, np.generic)) or array.dtype.kind not in "biu" or array.size > MOST:
        return None
    return {"value": tuple(np.ravel(array).tolist())}
