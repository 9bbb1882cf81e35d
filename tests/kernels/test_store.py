"""What makes cached machine code stale: a change of anything that was compiled into it, in any file."""

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from autodiff_lab.kernels.base import store
from tests.tree import PACKAGE

KERNEL = """
from autodiff_lab.kernels.base.loops import loop
from autodiff_lab.kernels.middle import (
    helper,
)

@loop("void({t}[::1])")
def run(x):
    x[0] = helper(x[0])
"""
MIDDLE = """
from autodiff_lab.kernels.base.deferred import register_jitable
from autodiff_lab.kernels.deep import words

@register_jitable
def helper(x):
    return words.inner(x) + 1
"""
DEEP = """
from autodiff_lab.kernels.base.deferred import register_jitable

@register_jitable
def inner(x):
    return x * 10
"""
PROGRAM = """
import sys
import numpy as np
from autodiff_lab.kernels.tiny import numba as tiny
x = np.ones(1, np.float32)
tiny.run[x.dtype](x)
print(x[0], int("autodiff_lab.kernels.lowering.objects" not in sys.modules), int("numba" in sys.modules))
"""


def test_an_edited_helper_in_any_file_makes_the_kernels_that_inline_it_stale(tmp_path: Path) -> None:
    package = tmp_path / "autodiff_lab"
    for part in ("__init__.py", "kernels/__init__.py"):
        (package / part).parent.mkdir(parents=True, exist_ok=True)
        (package / part).write_text("")
    for folder in ("base", "layouts", "lowering"):
        shutil.copytree(PACKAGE / "kernels" / folder, package / "kernels" / folder)
    for folder in ("deep", "tiny"):
        (package / "kernels" / folder).mkdir()
    (package / "kernels" / "tiny" / "numba.py").write_text(KERNEL)
    (package / "kernels" / "middle.py").write_text(MIDDLE)
    (package / "kernels" / "deep" / "words.py").write_text(DEEP)
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "AUTODIFF_LAB_CACHE": str(tmp_path / "cache")}

    def said() -> str:
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM], env=environment, cwd=tmp_path, capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    assert said() == "11.0 0 0"
    assert said() == "11.0 1 0"
    (package / "kernels" / "deep" / "words.py").write_text(DEEP.replace("10", "100"))
    assert said() == "101.0 0 0"


@pytest.mark.parametrize("line", ["import {0}", "from {0} import exponent", "    from {1} import (\n  bits, {2},\n)"])
def test_every_way_to_import_a_module_is_followed(line: str) -> None:
    home, name = "autodiff_lab.kernels.maths", "bits"
    text = (PACKAGE / "kernels" / "maths" / f"{name}.py").read_text()
    said = store.made_with(line.format(f"{home}.{name}", home, name)).split()
    assert hashlib.sha256(text.encode()).hexdigest() in said
    assert store.made_with("x = 1") == " ".join(store.versions())
