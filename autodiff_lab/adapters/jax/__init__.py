"""JAX functions as recordings: `record` runs a function and its gradient, equation by equation.

    import autodiff_lab.adapters.jax as adapter

    recording, value, gradients = adapter.record(loss, params, images, labels)
    recording.explain("loss", "params['w']")

Needs JAX 0.6 or later: ``pip install 'autodiff-lab[jax]'``.
"""

from autodiff_lab.adapters.versions import require

require("jax", (0, 6))

from autodiff_lab.adapters.jax.forward import record  # noqa: E402 - after the check that says what is missing

__all__ = ["record"]
