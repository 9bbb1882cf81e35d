"""Large models in PyTorch: a billion parameters without numbers, and 200 million whose values exceed the budget."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed; `make test-adapters` runs these tests")

from autodiff_lab.adapters.torch import record  # noqa: E402

nn = torch.nn
pytestmark = pytest.mark.filterwarnings("error:The recording stopped early")


def test_a_billion_parameters_without_numbers() -> None:
    model = nn.Sequential(*[nn.Linear(16_000, 16_000, device="meta") for _ in range(4)])
    assert sum(p.numel() for p in model.parameters()) > 1_000_000_000
    with record() as recording:
        loss = model(torch.ones(1, 16_000, device="meta")).sum()
        loss.backward()
    assert [a.op for a in recording.forward] == ["linear"] * 4 + ["sum"]
    weight = next(t for t in recording.tensors.values() if t.name == "0.weight")
    assert (weight.snapshot.dtype, weight.snapshot.shape, weight.snapshot.array) == ("float32", (16_000, 16_000), None)
    text = recording.to_text()
    assert "0.weight = unknown [16000×16000]" in text
    assert "%1: gradient f32[16000,16000]" in text
    assert ", ⋯" not in text
    told = recording.explain(loss, model[0].weight)
    assert (told.cause, told.place) == ("connected", None)
    assert recording.first_nonfinite() is None
    assert "unknown" in recording.to_svg()


def test_two_hundred_million_parameters_beyond_the_budget(figure: Callable[[str, str], None]) -> None:
    model: Any = nn.Linear(10_000, 20_000, bias=False)  # 800 MB of float32, and as much of gradients
    x = torch.ones(1, 10_000)

    def step() -> float:
        model.zero_grad()
        start = time.process_time()
        model(x).sum().backward()
        return time.process_time() - start

    plain = min(step() for _ in range(2))
    with record() as recording:
        recorded = step()
    weight = next(t for t in recording.tensors.values() if t.name == "weight").snapshot
    result = recording.sweeps[0].results[0]
    assert result is not None
    gradient = recording.tensors[result].snapshot
    for snapshot, tensor in ((weight, model.weight), (gradient, model.weight.grad)):
        assert snapshot.array is None
        assert snapshot.shape == (20_000, 10_000)
        assert snapshot.summary is not None
        assert (snapshot.summary.minimum, snapshot.summary.maximum) == (tensor.min().item(), tensor.max().item())
        assert snapshot.summary.mean == pytest.approx(tensor.double().mean().item(), rel=1e-3, abs=1e-9)
    assert "linear without bias" in recording.to_text()
    assert "mean 1 [20000×10000]" in recording.to_text()
    figure("a step of 200 million parameters, recorded", f"{recorded / plain:.1f} times the plain one")
