"""The cost of the event code without a listener: each op with it and without it.

The other engines are this one with lines removed from its source before import, and nothing else changed:

- *without events*: tapes work, but no line is left that serves listeners only (the quick sweep has none);
- *without recording*: an op does not look for tapes either, so the chain cannot be differentiated.

The variants run in separate processes, in turns, and the minimum time counts, because other load can only add to it.
"""

import importlib.util
import re
import subprocess
import sys
import time
from importlib.machinery import SourceFileLoader
from pathlib import Path

import numpy as np

LISTENERS_ONLY = {
    "apply": [r"( +)if silent:\n +record_application\(.*\)\n +elif (len\(sinks\).*\n)", r"\1if \2"],
    "sweep": [
        r" +if flow is not None:\n +flow\(.*\)\n| +if not raw:\n +CAUSE\.set\(.*\)\n| +cause = CAUSE\.get\(\)\n",
        "",
    ],
    "backward": [r" +cause = CAUSE\.get\(\)\n| +if CAUSE\.get\(\) is not cause:.*\n +CAUSE\.set\(cause\)\n", ""],
}
ALL_RECORDING = {"apply": [r" {8}sinks = sinks_now\(\)\n {8}if sinks:\n(?: {12}.*\n)+( {8}return out\n)", r"\1"]}
VARIANTS = {"as it is": {}, "without events": LISTENERS_ONLY, "without recording": ALL_RECORDING}
LINKS, REPEATS, TURNS = 333, 200, 12


class ChangedLoader(SourceFileLoader):
    """Load a module from its source after a substitution."""

    pattern = ""
    replacement = ""

    def get_data(self, path: str) -> bytes:
        """Return the changed source; there must be something to change."""
        source, count = re.subn(self.pattern, self.replacement, super().get_data(path).decode())
        if not count:
            raise SystemExit(f"{path} has other lines now; change the patterns in this file.")
        # What is left of a `finally` whose lines went.
        return source.replace("        finally:\n\n", "        finally:\n            pass\n\n").encode()

    def path_stats(self, path: str) -> dict[str, float]:
        """Refuse: cached bytecode is that of the unchanged source."""
        raise OSError(path)


class Finder:
    """Find the modules that a variant changes."""

    def __init__(self, changes: dict[str, list[str]]) -> None:
        self.changes = changes

    def find_spec(self, name: str, path: object, target: object = None) -> object:
        """Return the spec of a changed module, None for all others."""
        package, _, module = name.rpartition(".")
        if package != "autodiff_lab.engine" or module not in self.changes:
            return None
        file = str(Path(sys.modules[package].__file__ or "").parent / f"{module}.py")
        loader = ChangedLoader(name, file)
        loader.pattern, loader.replacement = self.changes[module]
        return importlib.util.spec_from_file_location(name, file, loader=loader)


def measure(backward: bool) -> None:
    """Print the least nanoseconds an op of the chain ``x = sin(x) * w + x``, forward and in both directions."""
    import autodiff_lab as lab

    def chain(x: object, w: object) -> object:
        for _ in range(LINKS):
            x = lab.sin(x) * w + x
        return x

    def both(x: object, w: object) -> None:
        with lab.GradientTape() as tape:
            tape.watch([x, w])
            y = chain(x, w)
        tape.gradient(y, [x, w])

    for shape in ((), (8,), (32, 32)):
        leaves = lab.constant(np.full(shape, 1.0, np.float32)), lab.constant(np.full(shape, 1e-3, np.float32))
        for name, program in (("forward", chain), ("both ways", both)):
            if program is both and not backward:
                continue
            times = []
            for _ in range(REPEATS):
                start = time.process_time_ns()
                program(*leaves)
                times.append(time.process_time_ns() - start)
            print(f"{shape} {name}\t{min(times) / (3 * LINKS)}")


def main() -> None:
    """Run the variants in turns and print the table."""
    least: dict[str, dict[str, float]] = {}
    for _ in range(TURNS):
        for variant in VARIANTS:
            done = subprocess.run([sys.executable, __file__, variant], capture_output=True, text=True, check=True)
            best = least.setdefault(variant, {})
            for row in done.stdout.splitlines():
                case, nanoseconds = row.split("\t")
                best[case] = min(float(nanoseconds), best.get(case, float("inf")))
    whole, events, recording = least.values()
    print("Nanoseconds an op while nobody listens: as it is, without events, without any recording")
    for case, ns in whole.items():
        bare = f"{recording[case]:8.1f} {100 * (ns / recording[case] - 1):+6.1f} %" if case in recording else ""
        print(f"  {case:20} {ns:8.1f} {events[case]:8.1f} {100 * (ns / events[case] - 1):+6.1f} % {bare}")


if __name__ == "__main__":
    if len(sys.argv) == 1:
        main()
    else:
        if VARIANTS[sys.argv[1]]:
            sys.meta_path.insert(0, Finder(VARIANTS[sys.argv[1]]))
        measure(backward=sys.argv[1] != "without recording")
