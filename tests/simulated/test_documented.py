"""The GPU examples in the documentation run on a simulated GPU; the kernel in docs/cuda.md is correct."""

import numpy as np

import autodiff_lab as lab
from tests.simulated.agreement import on_gpu
from tests.test_documents import DOCUMENTS, examples, run
from tests.tree import ROOT


def test_blocks_that_want_a_gpu_do_what_their_pages_say() -> None:
    """Every block whose comment names this file, on any page."""
    seen = 0
    for path in DOCUMENTS:
        names: dict[str, object] = {"lab": lab, "np": np}
        for block in examples(path.read_text(encoding="utf-8")):
            if block.reason and "test_documented" in block.reason:
                seen += 1
                run(block, names, str(path))
    assert seen > 1


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
