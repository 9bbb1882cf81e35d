"""Build the documentation site, with warnings as errors: ``python -m tests.site --out build/site``.

``--links`` lists the links to other hosts instead, with the files that have them.
"""

import argparse
import shutil
import subprocess
import sys
from pathlib import Path

from tests.site import DOCS, links
from tests.site.checked import problems
from tests.tree import ROOT, project_files, shown


def build(out: Path) -> int:
    """Build the site, check it, and return the status."""
    if out.exists():
        shutil.rmtree(out)
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-j", "2"]
    doctrees = out.with_name(f"{out.name}-doctrees")  # kept: pages that have not changed are not read again
    status = subprocess.run([*command, "-d", str(doctrees), str(DOCS), str(out)], cwd=ROOT, check=False).returncode
    if status:
        return status
    found = problems(out)
    print("\n".join(found) or f"The site is in {out}: open index.html there, or run `make docs-serve`.")
    return int(bool(found))


def list_links() -> int:
    """Print every address of another host that a document mentions."""
    documents = [path for path in project_files() if path.suffix in {".md", ".ipynb"}]
    for address, names in links.outside({shown(path): path.read_text(encoding="utf-8") for path in documents}):
        print(f"{address}  ({', '.join(names)})")
    return 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "site", help="where the site goes")
    parser.add_argument("--links", action="store_true", help="list the links to other hosts")
    given = parser.parse_args()
    sys.exit(list_links() if given.links else build(given.out.resolve()))
