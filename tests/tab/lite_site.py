"""``python -m tests.tab.lite_site``, or `make site-lite`: the lessons as a JupyterLite site, in ``build/site-lite``.

The site is static files: JupyterLab, the package's wheel, the pure Python packages that it needs beside it, and the
lessons.  Pyodide, the interpreter, and its builds of NumPy, SciPy, ml_dtypes and matplotlib are not among them: a
visitor's browser loads those from the CDN that Pyodide's own releases are on, so that opening a lesson needs a network.
The tools for building are installed into ``build/lite-env``, not into .venv.
"""

from __future__ import annotations

import json
import shutil
import sys
import zipfile
from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell

from tests.fresh import environment, run, wheel
from tests.tree import ROOT

ENVIRONMENT, SITE = ROOT / "build" / "lite-env", ROOT / "build" / "site-lite"
TOOLS = (
    "jupyterlite-core==0.8.6",
    "jupyterlite-pyodide-kernel==0.8.6",
    "jupyter-server==2.21.1",  # indexes the lessons
    "ipywidgets==8.1.9",  # these two bring the parts of widgets that belong to JupyterLab
    "anywidget==0.11.0",
)
PURE = ("anywidget==0.11.0", "psygnal==0.16.1", "ipywidgets==8.1.9", "latex2mathml==3.81.1")
"""What the lessons need beside the package and is pure Python; the site holds the wheels."""
LEFT_OUT = {"15": "its simulated GPU takes threads, which a browser tab does not have"}
INSTALL = "%pip install -q autodiff-lab anywidget ipywidgets latex2mathml matplotlib"


def wheels(folder: Path, commands: Path) -> list[Path]:
    """Build the package's wheel and fetch the others."""
    wheel(folder)
    fetch = ("download", "--quiet", "--no-deps", "--only-binary=:all:", "--platform=any", "--abi=none")
    run(commands / "python", "-m", "pip", *fetch, "--dest", folder, *PURE)
    return sorted(folder.glob("*.whl"))


def lessons(folder: Path) -> list[str]:
    """Copy the lessons, with a cell that installs the package before their first code; return their names."""
    folder.mkdir(parents=True)
    names: list[str] = []
    for path in sorted((ROOT / "notebooks").rglob("[0-9][0-9]*_*.ipynb")):
        if path.name[:2] in LEFT_OUT:
            continue
        notebook = nbformat.read(path, as_version=4)
        first = next(place for place, cell in enumerate(notebook.cells) if cell.cell_type == "code")
        notebook.cells.insert(first, new_code_cell(INSTALL, id="install-in-the-tab"))
        name = path.relative_to(ROOT / "notebooks")
        (folder / name).parent.mkdir(exist_ok=True)
        nbformat.write(notebook, folder / name)
        names.append(name.as_posix())
    return names


def checked(names: list[str]) -> list[str]:
    """Return what is missing from the site."""
    index = json.loads((SITE / "pypi" / "all.json").read_text("utf-8"))
    wanted = ("autodiff-lab", *(pin.partition("==")[0] for pin in PURE))
    held = [file["filename"] for found in index.values() for files in found["releases"].values() for file in files]
    return [
        *(f"no lesson {name}" for name in names if not (SITE / "files" / name).is_file()),
        *(f"no wheel of {name}" for name in wanted if name not in index),
        *(f"{name} is not a wheel" for name in held if not zipfile.is_zipfile(SITE / "pypi" / name)),
    ]


def main() -> int:
    """Build the site, check it, and say what it needs and how to look at it."""
    commands, work = environment(ENVIRONMENT, TOOLS), ROOT / "build" / "lite-work"
    shutil.rmtree(work, ignore_errors=True)
    shutil.rmtree(SITE, ignore_errors=True)
    names = lessons(work / "lessons")
    given = [f"--piplite-wheels={path}" for path in wheels(work / "wheels", commands)]
    run(commands / "jupyter", "lite", "build", f"--lite-dir={work}", f"--contents={work / 'lessons'}", *given,
        f"--output-dir={SITE}", folder=work)  # fmt: skip  # it leaves a database where it runs
    if missing := checked(names):
        print("\n".join(missing), file=sys.stderr)
        return 1
    size = sum(path.stat().st_size for path in SITE.rglob("*") if path.is_file())
    print(f"{SITE.relative_to(ROOT)}: {len(names)} lessons, {size / 1e6:.0f} MB.")
    for number, why in LEFT_OUT.items():
        print(f"Lesson {number} is left out: {why}.")
    print("A browser loads Pyodide, NumPy, SciPy, ml_dtypes and matplotlib from Pyodide's CDN: a network is needed.")
    print(f"Look at it with: {sys.executable} -m http.server --directory {SITE.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
