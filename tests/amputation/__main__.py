"""Run the tests of the core with the other parts hidden, and print how many ran: ``make test-amputated``.

The status is 1 if a test fails, if a test is skipped because a hidden module is missing, or if less than 85 % of the
tests outside tests/{gpu,simulated,extras,cuda_report} run and pass.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.amputation import APART
from tests.tree import ROOT, shown

LEAST = 0.85


def pytest_run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run pytest in a separate process."""
    command = [sys.executable, "-m", "pytest", *arguments, *(f"--ignore={shown(folder)}" for folder in APART)]
    listed = "--collect-only" in arguments
    env = {**os.environ, **environment}
    return subprocess.run(
        command, cwd=ROOT, env=env, text=True, stdout=subprocess.PIPE if listed else None, check=False
    )


def main(arguments: list[str]) -> int:
    """Count the tests of a whole package, run those of an amputated one, and compare."""
    listing = pytest_run("--collect-only", "-q", "-n", "0", *arguments).stdout
    whole = sum("::" in line and not line.startswith("SKIPPED") for line in listing.splitlines())
    path = os.pathsep.join([str(ROOT / "tests" / "amputation"), str(ROOT), os.environ.get("PYTHONPATH", "")])
    with TemporaryDirectory() as folder:
        place = Path(folder) / "counts.json"
        run = pytest_run("-p", "tests.amputation.plugin", *arguments, PYTHONPATH=path, AMPUTATION_COUNTS=str(place))
        counts = json.loads(place.read_text(encoding="utf-8"))
    missing = [reason for reason in counts["skipped"] if "this run hides it" in reason or "autodiff_lab." in reason]
    share = counts["passed"] / max(whole, 1)
    print(
        f"amputated: {counts['passed']} of {whole} tests outside {', '.join(map(shown, APART))} run and pass "
        f"({share:.1%}); {counts['failed'] + counts['error']} fail, {len(counts['skipped'])} are skipped, "
        f"{len(missing)} of them for a missing module of ours"
    )
    return int(run.returncode != 0 or bool(missing) or share < LEAST)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
