"""The lessons as pages: each notebook is executed, and what it displays can be stepped through.

The notebooks are saved without widgets, whose scripts would come from another host. So they run once more here, with
`tests.site.stepping` in the kernel: it writes each recording, curve and compiled function that a cell displays as a
page of its own, and the cell shows that page in a frame.  A page has no kernel, so it says where its questions can be
answered, and the notebook can be downloaded from it.
"""

import os
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path
from typing import Any

from tests.lessons.renew import drop_widgets
from tests.site.links import page_of_lesson, redirected
from tests.tree import PACKAGE, ROOT, project_files

NOTEBOOKS = ROOT / "notebooks"
INTRODUCTIONS = {
    "notebooks": """Run each cell with Shift+Enter.
This page shows the lesson as it opens, with its questions unanswered. You can answer them in JupyterLab:
[install the package](../start.md#install) and run `autodiff-lab`, which opens all lessons, or
{download}`download this notebook <FILE>`.""",
    "de": """Führe jede Zelle mit Umschalt+Enter aus.
Diese Seite zeigt die Lektion, wie sie sich öffnet, mit unbeantworteten Fragen. Beantworten kannst du sie in JupyterLab:
[Installiere das Paket](../start.md#install) und starte `autodiff-lab --language de`, oder
{download}`lade dieses Notebook herunter <FILE>`.""",
}
"""By the folder of the notebooks: a sentence of the notebook that a page leaves out, and then what it says instead."""


def write(folder: Path, pages: Path) -> None:
    """Execute every lesson that has changed since it was last executed, and write it into a folder of docs/."""
    folder.mkdir(exist_ok=True)
    pages.mkdir(exist_ok=True)
    with ThreadPoolExecutor(max_workers=2) as pool:
        for _ in pool.map(lambda notebook: execute(notebook, folder, pages), sorted(NOTEBOOKS.rglob("*.ipynb"))):
            pass


def execute(notebook: Path, folder: Path, pages: Path) -> None:
    """Execute one lesson; a cell that fails and is not marked as meant to fail stops the build."""
    import nbformat
    from nbclient import NotebookClient
    from nbformat.v4 import new_code_cell

    document = nbformat.read(notebook, as_version=4)
    target, stamp = folder / page_of_lesson(notebook), digest(notebook)
    if target.exists() and nbformat.read(target, as_version=4).metadata.get("executed") == stamp:
        return
    code = f"from tests.site import stepping\nstepping.install({str(pages)!r}, {target.stem!r})"
    document.cells.insert(0, new_code_cell(code))
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    client = NotebookClient(
        document,
        timeout=300,
        kernel_name="python3",
        resources={"metadata": {"path": str(folder)}},
        extra_arguments=["--IPKernelApp.log_level=40"],  # errors only
    )
    client.log.setLevel("WARNING")
    client.execute(env=environment)
    del document.cells[0]
    document.metadata.pop("widgets", None)  # the state of widgets, for scripts that the site does not load
    document.metadata["executed"] = stamp
    for cell in document.cells:
        tidy(cell, target)
    document.cells[0].source = introduced(document.cells[0].source, notebook, target)
    nbformat.write(document, target)


def introduced(title: str, notebook: Path, page: Path) -> str:
    """Return the title cell as the page shows it: with the notebook to download, without the keys that run a cell."""
    keys, _, words = INTRODUCTIONS.get(notebook.parent.name, INTRODUCTIONS["notebooks"]).partition("\n")
    words = words.replace("FILE", Path(os.path.relpath(notebook, page.parent)).as_posix())
    head, needs, rest = title.replace(f"{keys} ", "").partition("\n- **")
    return f"{head}\n:::{{note}}\n{words}\n:::\n{needs}{rest}"


def digest(notebook: Path) -> str:
    """Return what an executed lesson depends on, in short: the notebook, the package and the code that shows pages."""
    sources = [path for path in project_files() if path.is_relative_to(PACKAGE)]
    own = [Path(__file__).with_name(name) for name in ("lessons.py", "stepping.py", "pictures.py", "links.py")]
    whole = sha256()
    for path in [notebook, *own, *sources]:
        whole.update(path.read_bytes())
    return whole.hexdigest()


def tidy(cell: Any, page: Path) -> None:
    """Redirect the links of a cell, and keep the HTML of an output where it has several forms."""
    if cell.cell_type == "markdown":
        cell.source = redirected(cell.source, NOTEBOOKS, page, page.parent.parent)
        return
    drop_widgets(cell)
