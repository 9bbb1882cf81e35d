"""Which framework a script uses, by what it imports, and the block that records such a script."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from autodiff_lab.recording import Recording, record


def framework_of(source: str) -> str:
    """Return the framework that a script imports: ``"torch"``, ``"jax"``, or an empty string for autodiff_lab.

    Examples
    --------
    >>> framework_of("import torch.nn as nn"), framework_of("from jax import numpy as jnp")
    ('torch', 'jax')
    >>> framework_of("import autodiff_lab as lab, torch"), framework_of("print('import torch')")
    ('', '')
    """
    imported: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            imported.update(alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            imported.add((node.module or "").partition(".")[0])
    if "autodiff_lab" in imported:
        return ""
    return next((name for name in ("torch", "jax") if name in imported), "")


def refusal(framework: str, to_file: bool = False) -> str:
    """Return why a script of this framework cannot be recorded as a whole, or not to a file, empty if it can."""
    if framework == "torch" and to_file:
        return "the script uses PyTorch, of which only recordings in memory are made: leave out --to, and try --json."
    if framework == "jax":
        return (
            "the script uses JAX, whose functions are recorded one at a time: call "
            "`autodiff_lab.adapters.jax.record(function, *args)` in it and `to_html` of the recording."
        )
    return ""


def recorder(
    framework: str, title: str, namespace: Mapping[str, Any], to: Path | None = None
) -> AbstractContextManager[Recording]:
    """Return the block that records a script of this framework, to a file while it runs if one is given."""
    if framework == "torch":
        from autodiff_lab.adapters.torch import record as record_torch

        return record_torch(title, namespace=namespace)
    return record(title, namespace=namespace, to=to)
