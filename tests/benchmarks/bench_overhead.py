"""What the event code costs while nobody listens: each op with it and with it taken out.

The second engine is the first with its source changed before import: the four lines of each call path in
`engine.apply` that look for sinks are removed, and nothing else.  Both run in processes of their own, in turns, and the
least time counts, because what else runs on the machine only ever adds.
"""

import importlib.util
import subprocess
import sys
from importlib.machinery import SourceFileLoader
from pathlib import Path

import numpy as np

SINKS = """        sinks = sinks_now()
        if sinks:
            if silent:
                record_application(sinks, op, out, {ins}, None)
            else:
                _record_{arity}(sinks, op, out, {names})
"""
REMOVED = [SINKS.format(ins="(x,)", arity="one", names="x"), SINKS.format(ins="(x, y)", arity="two", names="x, y")]
LINKS, REPEATS, TURNS = 333, 400, 7


def without_sinks() -> None:
    """Import `engine.apply` from its source less the lines that look for sinks."""

    class Loader(SourceFileLoader):
        def get_data(self, path: str) -> bytes:
            data = super().get_data(path)
            if not path.endswith("apply.py"):
                return data
            source = data.decode()
            for lines in REMOVED:
                if lines not in source:
                    raise SystemExit("engine/apply.py has other lines now; change REMOVED in this file.")
                source = source.replace(lines, "")
            return source.encode()

        def path_stats(self, path: str) -> dict[str, float]:
            raise OSError  # no cached bytecode: it is that of the whole source

    class Finder:
        @staticmethod
        def find_spec(name: str, path: object, target: object = None) -> object:
            del path, target
            if name != "autodiff_lab.engine.apply":
                return None
            engine = Path(sys.modules["autodiff_lab.engine"].__file__ or "").parent
            file = str(engine / "apply.py")
            return importlib.util.spec_from_file_location(name, file, loader=Loader(name, file))

    sys.meta_path.insert(0, Finder)


def measure() -> dict[str, float]:
    """Return the least nanoseconds an op, by shape: the chain ``x = sin(x) * w + x``."""
    import time

    import autodiff_lab as lab

    found: dict[str, float] = {}
    for shape in ((), (8,), (32, 32)):
        x, w = lab.constant(np.full(shape, 1.0, np.float32)), lab.constant(np.full(shape, 1e-3, np.float32))
        times = []
        for _ in range(REPEATS):
            y = x
            start = time.process_time_ns()
            for _ in range(LINKS):
                y = lab.sin(y) * w + y
            times.append(time.process_time_ns() - start)
        found[str(shape)] = min(times) / (3 * LINKS)
    return found


def run(variant: str) -> dict[str, float]:
    """Measure in a process of its own."""
    done = subprocess.run([sys.executable, __file__, variant], capture_output=True, text=True, check=True)
    return {shape: float(ns) for shape, ns in (row.split("\t") for row in done.stdout.splitlines())}


def main() -> None:
    """Print the table."""
    least: dict[str, dict[str, float]] = {}
    for _ in range(TURNS):
        for variant in ("with", "without"):
            for shape, ns in run(variant).items():
                best = least.setdefault(variant, {})
                best[shape] = min(ns, best.get(shape, ns))
    print("An op, nobody listening, in nanoseconds: with the event code, without it, the difference")
    for shape, ns in least["with"].items():
        bare = least["without"][shape]
        print(f"  {shape:10} {ns:8.1f} {bare:8.1f} {100 * (ns / bare - 1):+6.1f} %")


if __name__ == "__main__":
    if len(sys.argv) == 1:
        main()
    else:
        if sys.argv[1] == "without":
            without_sinks()
        for key, value in measure().items():
            print(f"{key}\t{value}")
