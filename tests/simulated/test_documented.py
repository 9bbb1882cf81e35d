"""The kernel that docs/cuda.md writes runs as it stands there, and is right."""

import numpy as np

from tests.simulated.agreement import on_gpu
from tests.test_documents import examples
from tests.tree import ROOT


def test_the_kernel_of_the_page_adds() -> None:
    """The block under the comment that names this file."""
    text = (ROOT / "docs" / "cuda.md").read_text(encoding="utf-8")
    (block,) = [one for one in examples(text) if one.reason and "test_documented" in one.reason]
    names: dict[str, object] = {"__name__": "documented"}
    exec(compile(block.code, "docs/cuda.md", "exec"), names)
    x, y = np.arange(100, dtype=np.float32), np.ones(100, np.float32)
    made = names["scaled_sum"](0.5, on_gpu(x), on_gpu(y))  # type: ignore[operator]
    assert np.array_equal(made.to_host(), np.float32(0.5) * x + y)
    assert names["scaled_sum"](2, on_gpu(x.astype(int)), on_gpu(x.astype(int))) is NotImplemented  # type: ignore[operator]
