"""PyTorch programs as recordings: `record`, a block that observes a program and each of its backward passes.

    import autodiff_lab.adapters.torch as adapter

    with adapter.record() as recording:
        loss = F.cross_entropy(model(images), labels)
        loss.backward()
    recording.explain(loss, model[0].weight)

Needs PyTorch 2.4 or later: ``pip install 'autodiff-lab[torch]'``.
"""

from autodiff_lab.adapters.versions import require

require("torch", (2, 4))

from autodiff_lab.adapters.torch.block import record  # noqa: E402 - after the check that says what is missing

__all__ = ["record"]
