"""A framework that is absent, too old, or newer than tried: what is said."""

from __future__ import annotations

import sys
from types import ModuleType

import pytest

from autodiff_lab.adapters.versions import TRIED, require


def stand_in(monkeypatch: pytest.MonkeyPatch, name: str, version: str) -> None:
    module = ModuleType(name)
    module.__version__ = version  # pyright: ignore[reportAttributeAccessIssue]
    monkeypatch.setitem(sys.modules, name, module)


def test_an_absent_framework(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(
        ImportError, match=r"needs PyTorch, which is not installed. Try: pip install 'autodiff-lab\[torch\]'"
    ):
        require("torch", (2, 4))


def test_a_framework_that_is_too_old(monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in(monkeypatch, "jax", "0.4.30")
    with pytest.raises(ImportError, match=r"needs JAX 0.6 or later, and 0.4.30 is installed"):
        require("jax", (0, 6))


def test_a_framework_newer_than_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    major, minor = TRIED["torch"]
    stand_in(monkeypatch, "torch", f"{major}.{minor + 1}.0")
    with pytest.warns(ImportWarning, match="is newer than"):
        require("torch", (2, 4))
    stand_in(monkeypatch, "torch", f"{major}.{minor}.1+cpu")
    require("torch", (2, 4))
