"""``python -m tests.adapters``, or `make test-adapters`: the adapters' tests, where PyTorch and JAX are installed.

Each framework has an environment of its own under ``.bench/``, made on demand; ``PEER_PYTHON_TORCH=path`` and
``PEER_PYTHON_JAX=path`` name interpreters that have the framework, pytest, hypothesis and what this package needs.
"""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass

from tests.benchmarks.environments import NotThere, interpreter
from tests.tree import ROOT

NEEDED = ("numpy", "scipy", "ml_dtypes", "pytest", "hypothesis")
OPTIONS = ("-ra", "--strict-markers", "--strict-config", "--import-mode=importlib", "-p", "no:cacheprovider")


@dataclass(frozen=True)
class Framework:
    """A framework with an adapter, as `environments` installs it."""

    title: str
    package: str

    @property
    def environment(self) -> str:
        """The name of its environment: apart from the one of the benchmarks, which has fewer packages."""
        named = os.environ.get(f"PEER_PYTHON_{self.package.upper()}")
        return self.package if named else f"adapters-{self.package}"

    @property
    def packages(self) -> tuple[str, ...]:
        """What its environment needs."""
        return (self.package, *NEEDED)


FRAMEWORKS = (Framework("PyTorch", "torch"), Framework("JAX", "jax"))


def run(framework: Framework, arguments: list[str]) -> int:
    """Run the tests of one adapter; return pytest's status, or 2 where the framework cannot be had."""
    try:
        python = interpreter(framework)
    except NotThere as why:
        print(f"{framework.title}: {why}.", file=sys.stderr)
        return 2
    tests = [str(path) for path in (ROOT / "tests" / "adapters").glob(f"test_{framework.package}*.py")]
    tests += ["tests/adapters/test_emitter.py", f"autodiff_lab/adapters/{framework.package}", "--doctest-modules"]
    command = [str(python), "-m", "pytest", "--override-ini=addopts=", *OPTIONS, *tests, *arguments]
    folders = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    variables = {**os.environ, "PYTHONPATH": os.pathsep.join(folders), "JAX_PLATFORMS": "cpu"}
    return subprocess.call(command, cwd=ROOT, env=variables)


def main(arguments: list[str]) -> int:
    """Run the tests of all adapters; return the worst status."""
    chosen = [f for f in FRAMEWORKS if f.package in arguments] or FRAMEWORKS
    rest = [word for word in arguments if word not in {f.package for f in FRAMEWORKS}]
    return max(run(framework, rest) for framework in chosen)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
