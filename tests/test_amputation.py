"""The core works without `gpu/`, `extras/` and the CUDA kernels; `make test-amputated` tests all of it."""

import ast
import os
import subprocess
import sys
from collections.abc import Callable

import pytest

from tests.amputation import APART, from_extras, is_about_what_is_hidden
from tests.amputation.sitecustomize import is_hidden
from tests.test_layers import imports_of, modules
from tests.tree import ROOT, project_files, shown

PART = [
    "tests/engine/test_tapes.py", "tests/transforms/test_forward_nested.py", "tests/nn/test_losses_and_embeddings.py",
    "tests/recording/test_text.py", "tests/explain/test_ledger.py", "tests/draw/test_svg.py",
]  # fmt: skip
"""What the default run tries: a file of each of a few folders, in some seconds."""


@pytest.mark.slow
def test_a_part_of_the_suite_passes_with_the_hidden_parts_missing(figure: Callable[[str, str], None]) -> None:
    path = os.pathsep.join([str(ROOT / "tests" / "amputation"), str(ROOT), os.environ.get("PYTHONPATH", "")])
    command = [sys.executable, "-m", "pytest", "-q", "-n", "0", "-p", "tests.amputation.plugin", *PART]
    run = subprocess.run(
        command, cwd=ROOT, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stdout
    figure("amputated, a part", run.stdout.strip().splitlines()[-1])


@pytest.mark.slow
def test_nothing_of_the_core_imports_a_hidden_module_while_it_loads() -> None:
    wrong = [
        f"{shown(path)}:{found.line} imports {found.target}"
        for path, module in modules()
        if not is_about_what_is_hidden(path)
        for found in imports_of(path.read_text(encoding="utf-8"), module[:-1])
        if not found.types_only and not found.function and is_hidden(f"autodiff_lab.{found.target}")
    ]
    assert not wrong, "These would not load without the parts that an amputated run hides:\n" + "\n".join(wrong)


@pytest.mark.slow
def test_no_test_of_the_core_imports_extras_while_it_loads() -> None:
    wrong: list[str] = []
    for path in project_files():
        if path.suffix != ".py" or not path.is_relative_to(ROOT / "tests") or is_about_what_is_hidden(path):
            continue
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            wrong += [f"{shown(path)}:{node.lineno} imports {name}" for name in names if ".extras" in name]
    allowed = {"tests/peers/"}  # where TensorFlow is installed
    assert not [line for line in wrong if not line.startswith(tuple(allowed))]


def test_the_public_names_that_extras_holds_are_found() -> None:
    found = set(from_extras())
    assert {"RaggedTensor", "ragged.constant", "math.bessel_i0", "nn.nce_loss", "autodiff_lab.signal"} <= found
    assert "math.exp" not in found
    assert [shown(folder) for folder in APART if not folder.is_dir()] == []


def test_import_loads_nothing_of_what_is_hidden() -> None:
    code = "import sys, autodiff_lab; print('\\n'.join(sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert "autodiff_lab" in loaded
    assert not [name for name in loaded if is_hidden(name)]
