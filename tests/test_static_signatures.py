"""Type checkers see the parameters of every public function: a misspelt keyword is reported where it is written.

Functions that factories and decorators make lose their parameters where these are annotated with `Any` or with
`Callable[..., Tensor]`; editors then complete nothing.
"""

from __future__ import annotations

import importlib
import inspect
import json
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from tests.run import tool
from tests.test_exports import PUBLIC, listed
from tests.tree import ROOT

TYPED = {"autodiff_lab.losses", "autodiff_lab.optimizers"}
"""Modules whose functions and classes pass keywords on by name."""


def functions() -> list[str]:
    """Return the public functions, with their modules, that do not take any keyword; losses and optimizers too."""
    found: list[str] = []
    for name in PUBLIC:
        module = importlib.import_module(name)
        for exported in listed(module):
            value = getattr(module, exported)
            if name in TYPED and callable(value) and not isinstance(value, ModuleType):
                found.append(f"{name}.{exported}")
                continue
            if isinstance(value, ModuleType | type) or not callable(value):
                continue
            kinds = {parameter.kind for parameter in inspect.signature(value).parameters.values()}
            if inspect.Parameter.VAR_KEYWORD not in kinds:
                found.append(f"{name}.{exported}")
    return found


@pytest.mark.slow
@pytest.mark.extras
def test_a_type_checker_reports_a_misspelt_keyword_of_every_public_function(tmp_path: Path) -> None:
    names = functions()
    assert {f"autodiff_lab.{name}" for name in ("exp", "foldl", "nn.max_pool2d", "random.normal")} <= set(names)
    lines = [f"import {name}" for name in PUBLIC] + [f"{name}(misspelt=0)" for name in names]
    program = tmp_path / "program.py"
    program.write_text("\n".join(lines) + "\n", encoding="utf-8")
    settings = {"typeCheckingMode": "standard", "extraPaths": [str(ROOT)]}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings), encoding="utf-8")
    run = subprocess.run(
        [tool("basedpyright"), "--project", str(tmp_path), "--pythonpath", sys.executable, "--outputjson"],
        capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    found = json.loads(run.stdout)["generalDiagnostics"]
    reported = {
        lines[one["range"]["start"]["line"]]
        for one in found
        if re.search(r'No parameter named "misspelt"|No overloads', one["message"])
    }
    silent = [name for name in names if f"{name}(misspelt=0)" not in reported]
    assert not silent, f"type checkers do not see the parameters of {silent}"
