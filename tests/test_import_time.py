"""``import autodiff_lab`` is light: few packages, little time, nothing printed."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np

import autodiff_lab as lab

HEAVY = [
    "numba",
    "llvmlite",
    "ipywidgets",
    "anywidget",
    "matplotlib",
    "IPython",
    "jupyterlab",
    "scipy",
    "sklearn",
    "graphviz",
]

REPORT = """
import json, sys, time
begin = time.perf_counter()
import numpy
numpy_alone = time.perf_counter() - begin
import autodiff_lab
whole = time.perf_counter() - begin
packages = sorted({name.split(".")[0] for name in sys.modules})
print(json.dumps({"numpy": numpy_alone, "whole": whole, "packages": packages}))
"""

# Run where there is the standard library, NumPy and this package, and nothing else.
NUMPY_ALONE = """
import sys
import autodiff_lab as lab
print("imported")
x = lab.Variable(3.0, name="x")
with lab.record() as recording, lab.GradientTape() as tape:
    y = x * x + lab.sin(x)
    slope = tape.gradient(y, x)
recording.to_html(sys.argv[1])
print(round(float(slope), 4), "5.01" in recording.to_svg())
try:
    lab.math.erf(x)
except lab.errors.MissingPackage as error:
    print(error)
"""


def fresh_process(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)


def test_importing_the_package_imports_nothing_heavy_and_prints_nothing(figure: Callable[[str, str], None]) -> None:
    runs = [fresh_process(REPORT) for _ in range(3)]
    for run in runs:
        assert run.returncode == 0, run.stderr
        assert not run.stderr
    reports = [json.loads(run.stdout) for run in runs]
    best = min(reports, key=lambda report: report["whole"])
    figure("import autodiff_lab", f"{best['whole']:.3f} s, of which numpy {best['numpy']:.3f} s (best of {len(runs)})")
    loaded = set(reports[0]["packages"])
    assert not loaded.intersection(HEAVY)
    assert {"numpy", "autodiff_lab"} <= loaded


ON_THE_CPU = """
import sys
import autodiff_lab as lab
v = lab.Variable([1.0, 2.0])
with lab.device("/CPU:0"), lab.GradientTape() as tape:
    y = lab.reduce_sum(lab.nn.softmax(v * lab.constant([1.0, 2.0])) @ lab.ones((2, 1)))
v.assign_sub(tape.gradient(y, v))
folders = ("autodiff_lab.gpu", "autodiff_lab.extras", "autodiff_lab.kernels.cuda")
print(sorted(name for name in sys.modules if name.startswith(folders) or name.endswith(".cuda")))
"""


def test_training_on_the_cpu_loads_nothing_of_a_gpu() -> None:
    """Nor what few programs use; imported are tensors, variables, a tape, kernels that have CUDA overrides."""
    run = fresh_process(ON_THE_CPU)
    assert run.returncode == 0, run.stderr
    assert run.stdout.strip() == "[]"


def test_with_numpy_alone_the_engine_records_and_draws(tmp_path: Path) -> None:
    installed = Path(np.__file__).parent.parent
    for folder in [*installed.glob("numpy*"), Path(lab.__file__).parent]:
        (tmp_path / folder.name).symlink_to(folder)
    command = [sys.executable, "-S", "-c", NUMPY_ALONE, str(tmp_path / "page.html")]
    where = {**os.environ, "PYTHONPATH": str(tmp_path)}
    run = subprocess.run(command, capture_output=True, text=True, check=False, env=where, cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    first, second, *error = run.stdout.splitlines()
    assert (first, second) == ("imported", "5.01 True")
    assert error[0] == "erf(f32[]): this op needs scipy, which is not installed."
    assert error[-1] == "  Try: pip install scipy"
