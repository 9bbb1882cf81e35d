"""``import autodiff_lab`` is light: few packages, little time, nothing printed."""

import json
import subprocess
import sys
from collections.abc import Callable

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

# An import system that knows the standard library, numpy, ml_dtypes and us, and calls everything else missing.
ONLY_THE_CORE = """
import sys
allowed = set(sys.stdlib_module_names) | {"numpy", "ml_dtypes", "autodiff_lab"}
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] not in allowed and not name.startswith("_"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Missing())
import autodiff_lab
print("imported")
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


def test_the_package_can_be_imported_with_numpy_and_ml_dtypes_alone() -> None:
    run = fresh_process(ONLY_THE_CORE)
    assert run.returncode == 0, run.stderr
    assert run.stdout.strip() == "imported"
