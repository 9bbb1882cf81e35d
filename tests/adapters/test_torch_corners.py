"""Odd corners of PyTorch: the recorder may know little of them, but must not disturb them."""

from __future__ import annotations

import contextlib
import gc
import subprocess
import sys
import threading
import weakref
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed; `make test-adapters` runs these tests")


from autodiff_lab.adapters.torch import record  # noqa: E402

nn = torch.nn
pytestmark = pytest.mark.filterwarnings("error:The recording stopped early")


def leaf(*shape: int, seed: int = 0) -> Any:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed)).requires_grad_()


def test_transforms_of_torch_func() -> None:
    a = leaf(3)
    with record() as recording:
        g = torch.func.grad(lambda t: (t.sin() * t).sum())(a)
        rows = torch.func.vmap(lambda t: (t * t).sum())(a.view(3, 1))
        (g * a + rows).sum().backward()
    assert torch.isfinite(a.grad).all()
    assert recording.to_text()


def test_functional_jacobian_and_batched_gradients() -> None:
    a = leaf(3)
    with record() as recording:
        jacobian = torch.autograd.functional.jacobian(lambda t: t * t.sum(), a)
        y = a * a
        (rows,) = torch.autograd.grad(y, a, torch.eye(3), retain_graph=True, is_grads_batched=True)
        (jacobian.detach() @ a + rows.detach() @ y).sum().backward()
    assert torch.isfinite(a.grad).all()
    assert recording.to_text()


def test_sparse_meta_and_subclassed_tensors() -> None:
    table, a = nn.Embedding(5, 2, sparse=True), leaf(3)

    class Mine(torch.Tensor):
        pass

    big = nn.Linear(40_000, 40_000, device="meta")
    with record() as recording:
        table(torch.tensor([1, 1, 3])).sum().backward()
        (a.as_subclass(Mine) * 2).sum().backward()
        big(torch.ones(1, 40_000, device="meta")).sum().backward()
    assert table.weight.grad.is_sparse
    assert torch.equal(a.grad, torch.full((3,), 2.0))
    assert [x.op for x in recording.forward] == ["embedding", "sum", "alias", "mul", "sum", "linear", "sum"]
    sparse, dense, meta = [sweep.results for sweep in recording.sweeps]
    assert sparse[0] is not None
    assert recording.tensors[sparse[0]].snapshot.array is None
    assert recording.tensors[sparse[0]].snapshot.shape == (5, 2)
    assert dense[0] is not None
    assert recording.tensors[dense[0]].snapshot.array.tolist() == [2.0] * 3
    assert meta[0] is not None
    assert recording.tensors[meta[0]].snapshot.shape == (40_000, 40_000)
    assert "gradient f32[5,2]" in recording.to_text()
    assert "# unknown [5×2]" in recording.to_text()


def test_other_threads_are_not_heard() -> None:
    a = leaf(3)
    with record() as recording:
        worker = threading.Thread(target=torch.exp, args=(a,))
        worker.start()
        worker.join()
        (a * 3).sum().backward()
    assert [x.op for x in recording.forward] == ["mul", "sum"]


def test_an_exception_half_way_leaves_its_recording() -> None:
    a = leaf(3)
    block = record()
    with contextlib.suppress(RuntimeError), block as recording:
        h = a.exp()
        (h * torch.ones(4)).sum().backward()
    assert recording.error is not None
    assert recording.error.startswith("RuntimeError")
    assert [x.op for x in recording.forward] == ["exp", "mul"]
    assert recording.forward[-1].error is not None


def test_two_recordings_nested() -> None:
    a = leaf(3)
    with record() as outer:
        b = a * 2
        with record() as inner:
            (b * a).sum().backward()
    assert torch.allclose(a.grad, 4 * a.detach())
    assert [x.op for x in inner.forward] == ["mul", "mul", "sum"]  # the first from autograd's graph
    assert [x.op for x in outer.forward] == ["mul", "mul", "sum"]
    for recording in (inner, outer):
        (result,) = [r for r, s in zip(recording.sweeps[0].results, recording.sweeps[0].sources, strict=True) if s]
        assert result is not None
        assert torch.equal(torch.tensor(recording.tensors[result].snapshot.array), a.grad)


def test_recording_inside_a_hook() -> None:
    a, inner = leaf(3), []

    def hook(g: Any) -> None:
        with torch.enable_grad(), record() as recording:
            (leaf(2) * 2).sum().backward()
        inner.append(recording)

    with record() as outer:
        h = a * 2
        h.register_hook(hook)
        h.sum().backward()
    assert [x.op for x in inner[0].forward][-2:] == ["mul", "sum"]
    assert outer.sweeps[0].results[0] is not None


def test_a_long_chain_is_recorded_without_recursion() -> None:
    a = leaf(2)
    with record() as recording:
        y = a
        for _ in range(3000):
            y = y * 1.0001
        y.sum().backward()
    assert len(recording) == 3001


def test_values_beyond_the_budget_are_thinned() -> None:
    a = leaf(100, 100)
    with record(budget=100_000) as recording:
        y = a
        for _ in range(10):
            y = torch.tanh(y)
        y.sum().backward()
    kept = [t.snapshot for t in recording.tensors.values() if t.snapshot.shape == (100, 100)]
    assert kept
    assert all(s.summary is not None and s.summary.mean is not None for s in kept if s.array is None)


def test_a_value_that_is_written_over_after_the_block() -> None:
    small, w = torch.zeros(3), leaf(4)
    with record() as recording:
        small = w[:3] * 2
        y = (small * w[1:]).sum()
        y.backward()
    before = w.detach().clone()
    with torch.no_grad():
        w.zero_()
        small.zero_()
    kept = next(t for t in recording.tensors.values() if t.kind == "variable")
    assert torch.equal(torch.tensor(kept.snapshot.array), before)
    product = recording.tensors[recording.forward[1].outputs[0]].snapshot
    assert torch.equal(torch.tensor(product.array), before[:3] * 2)


def test_inference_mode_and_deep_copies() -> None:
    import copy

    a = leaf(3)
    with record() as recording:
        with torch.inference_mode():
            b = torch.ones(3) * 2
            b += 1
        copied = copy.deepcopy(nn.Linear(3, 2))
        copied(a).sum().backward()
    assert recording.to_text()


def test_a_script_is_recorded_by_the_command(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(
        "import torch\nw = torch.tensor(2.0, requires_grad=True)\nloss = (w * w - 1) ** 2\nloss.backward()\n"
        "print(w.grad.item())\n",
        encoding="utf-8",
    )
    command = [sys.executable, "-c", "from autodiff_lab.cli import main; raise SystemExit(main())"]
    command += ["record", str(script), "--html", str(tmp_path / "page.html")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "24.0"
    assert "loss" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_a_dropped_recording_is_freed_at_once() -> None:
    """Memory must not wait for the garbage collector: a step keeps its activations and gradients."""
    a = leaf(100)

    def trackers() -> int:
        return sum(type(found).__name__ == "Tracker" for found in gc.get_objects())

    def step() -> Any:
        with record() as recording:
            h = a * 2
            h.sum().backward()
            assert trackers() == before + 1
        assert recording is not None
        return weakref.ref(h)

    gc.collect()
    gc.disable()
    try:
        before = trackers()
        assert step()() is None
        assert trackers() == before
    finally:
        gc.enable()


def test_a_write_copies_only_what_shares_its_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    from autodiff_lab.adapters.torch.values import TensorValue

    copied: list[tuple[int, ...]] = []
    settle = TensorValue.settle

    def counted(value: Any) -> None:
        copied.append(tuple(value.shape))
        settle(value)

    a, b = leaf(100), torch.zeros(7, 30)
    with record() as recording:
        y = a * 2
        z = b + 1
        monkeypatch.setattr(TensorValue, "settle", counted)
        z.view(-1)[3:9].mul_(5.0)
        monkeypatch.setattr(TensorValue, "settle", settle)
        (y.sum() + z.sum()).backward()
    assert set(copied) <= {(7, 30), (210,), (6,)}
    assert (7, 30) in copied
    first = recording.tensors[recording.forward[1].outputs[0]].snapshot
    assert first.summary is not None
    assert (first.summary.minimum, first.summary.maximum) == (1, 1)
