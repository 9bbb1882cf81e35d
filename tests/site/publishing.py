"""Run the workflow of docs/publishing.md on this machine: ``python -m tests.site.publishing``.

Its `run` steps are executed one after the other by bash, in a copy of the last commit, as the service would do it; the
steps that `use` an action of the service are named and left out. ``--dry`` prints the script instead.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.tree import ROOT

WORKFLOW = re.compile(r"^```yaml\n(?P<text>.*?)^```", re.MULTILINE | re.DOTALL)
PAGE = ROOT / "docs" / "publishing.md"


def steps(page: str) -> list[dict[str, str]]:
    """Return the steps of the workflow in a page, each with `run` or `uses`."""
    import yaml

    found = WORKFLOW.search(page)
    assert found, f"{PAGE} has no workflow"
    jobs = yaml.safe_load(found["text"])["jobs"]
    return [step for job in jobs.values() for step in job["steps"]]


def script(page: str) -> str:
    """Return the workflow as a shell script, which stops at the first step that fails."""
    lines = ["set -euo pipefail"]
    for step in steps(page):
        if "run" in step:
            lines += [f"echo '== {step.get('name', 'run')}'", step["run"].rstrip()]
        else:
            lines.append(f"echo '== left out: {step['uses']}'")
    return "\n".join(lines) + "\n"


def main(dry: bool) -> int:
    """Run or print the script; return its status."""
    text = script(PAGE.read_text(encoding="utf-8"))
    if dry:
        print(text, end="")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        copy, tools = Path(folder) / "checkout", Path(folder) / "tools"
        tools.mkdir()
        (tools / "python").symlink_to(sys.executable)  # a service has a `python`
        subprocess.run(["git", "clone", "--quiet", "--depth", "1", ROOT.as_uri(), str(copy)], check=True)
        environment = {name: value for name, value in os.environ.items() if name not in {"PYTHONPATH", "VIRTUAL_ENV"}}
        environment["PATH"] = f"{tools}{os.pathsep}{environment.get('PATH', '')}"
        return subprocess.run(["bash", "-c", text], cwd=copy, env=environment, check=False).returncode


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dry", action="store_true", help="print the script")
    sys.exit(main(parser.parse_args().dry))
