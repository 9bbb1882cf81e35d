"""Copies from one device to another: the op behind ``x.cpu()``, ``x.gpu()`` and `lab.identity` in a device block."""

from __future__ import annotations

from typing import Any

from autodiff_lab.engine.apply import general
from autodiff_lab.engine.devices import device_of, moved, place_of


def _copied(x: Any, device: str) -> Any:
    place = place_of(device)
    return moved(x, None if place.__class__ is str else place)


def _rule(ops: Any, g: Any, out: Any, x: Any, device: str) -> Any:
    """Return the gradient goes back to where the value came from."""
    return ops.copy_to_device(g, device=device_of(x if ops.raw else x._array))


copy_to_device = general(
    "copy_to_device", _copied, _rule,
    warns=False, symbol="copy", latex=r"\operatorname{{copy}}({0})", locals_latex=("1",),
    sentence="copies {0} to another device", keeps="nothing", registered="Copy",
    doc="The kernel-level copy to a device; `lab.identity` in a device block and ``x.gpu()`` call it.")
