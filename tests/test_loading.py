"""The package loads in parts: each part alone, in any order, and no requested name is missing."""

import ast
import json
import os
import subprocess
import sys
from collections.abc import Callable
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from tests.amputation import EXTRAS, is_about_what_is_hidden
from tests.test_layers import imports_of, modules
from tests.tree import PACKAGE

NO_MODULES_OF_PEOPLE = {"magic", "widgets", "exploring", "lessons", "cli", "style", "__main__"}

# Imports every module in a child of its own of a process that has NumPy alone.
EACH_ALONE = """
import json, os, sys, traceback
import numpy
failed = {}
for name in json.loads(sys.argv[1]):
    child = os.fork()
    if child == 0:
        try:
            __import__(name)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    if os.waitpid(child, 0)[1]:
        failed[name] = True
print(json.dumps(sorted(failed)))
"""


# Runs every program in a child of its own of a process that has NumPy alone; prints what each printed, errors included.
EACH_PRINTS = """
import json, os, sys, traceback
import numpy
printed = {}
for name, program in json.loads(sys.argv[1]).items():
    out, into = os.pipe()
    child = os.fork()
    if child == 0:
        os.dup2(into, 1)
        os.dup2(into, 2)
        try:
            exec(program, {"__name__": "__main__"})
        except BaseException:
            traceback.print_exc()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)
    os.close(into)
    with open(out) as said:
        printed[name] = said.read().strip()
    os.waitpid(child, 0)
print(json.dumps(printed))
"""
needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork, so that many fresh programs take seconds")


def fresh(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False)


def each_prints(programs: dict[str, str]) -> dict[str, str]:
    """Return what each program prints that finds nothing of ours loaded, or its traceback."""
    run = fresh(EACH_PRINTS, json.dumps(programs))
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


def _public_names() -> list[str]:
    """The package's own modules and its subpackages: what people import by name."""
    paths = [*PACKAGE.glob("*.py"), *(path.parent for path in PACKAGE.glob("*/__init__.py"))]
    paths = [path for path in paths if EXTRAS or not is_about_what_is_hidden(path)]
    names = {path.stem for path in paths} - {"__init__"} - NO_MODULES_OF_PEOPLE
    return ["autodiff_lab", *(f"autodiff_lab.{name}" for name in sorted(names))]


@pytest.mark.slow
@needs_fork
def test_every_public_module_can_be_the_first_to_load() -> None:
    names = _public_names()
    assert len(names) > (30 if EXTRAS else 20)
    run = fresh(EACH_ALONE, json.dumps(names))
    assert json.loads(run.stdout) == [], run.stderr


def imported_at_once(sources: dict[str, str], packages: set[str]) -> dict[str, set[str]]:
    """Per module, by its dotted name below the package, what it imports while it loads."""
    found: dict[str, set[str]] = {}
    for name, source in sources.items():
        folder = name.split(".") if name in packages else name.split(".")[:-1]
        late = (i for i in imports_of(source, folder) if not i.types_only and not i.function)
        wanted = (i.target if i.target in sources else i.target.rpartition(".")[0] for i in late)
        found[name] = {target for target in wanted if target in sources}
    return found


@pytest.mark.slow
def test_no_module_imports_itself_by_way_of_others() -> None:
    """So that whichever loads first, all it needs can load before it."""
    paths = {".".join(parts).removesuffix("__init__").removesuffix("."): path for path, parts in modules()}
    del paths[""]  # the door, which everything may knock at: it loads nothing but what is listed there
    packages = {name for name, path in paths.items() if path.stem == "__init__"}
    found = imported_at_once({name: path.read_text(encoding="utf-8") for name, path in paths.items()}, packages)
    assert sum(map(len, found.values())) > 1000
    TopologicalSorter(found).prepare()  # raises CycleError, which names the circle


def test_a_circle_of_imports_would_be_found() -> None:
    sources = {
        "ops": "",
        "ops.first": "from autodiff_lab.ops.second import g\n",
        "ops.second": "from autodiff_lab.ops import third\n",
        "ops.third": "import autodiff_lab.ops.first\n",
    }
    with pytest.raises(CycleError):
        TopologicalSorter(imported_at_once(sources, {"ops"})).prepare()
    sources["ops.third"] = "def f():\n    import autodiff_lab.ops.first\n"
    TopologicalSorter(imported_at_once(sources, {"ops"})).prepare()


def test_names_that_load_late_are_those_that_editors_see() -> None:
    import autodiff_lab

    late, modules = dict(vars(autodiff_lab)["_LATE"]), set(vars(autodiff_lab)["_MODULES"])
    seen = {"autodiff_lab": set[str](), "late": set[str]()}
    for node in ast.parse((PACKAGE / "__init__.pyi").read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom) and node.module == "autodiff_lab":
            seen["autodiff_lab"].update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                if alias.asname is None and alias.name in late:
                    seen["late"].add(alias.name)
                    assert f"autodiff_lab.{late[alias.name]}" == node.module
    assert seen["autodiff_lab"] == {*modules, "errors", "events", "ops"}
    assert seen["late"] == set(late)


OPERATORS = """
import autodiff_lab as lab
x = lab.{kind}({value})
lab.less(1, 2)  # loads the logical operations, but not those on bits
print(({expression}))
"""


KINDS = ("constant", "Variable")
EXPRESSIONS: list[tuple[str, str, object]] = [
    ("6.0", "float(x * x - 2 / x)", 36.0 - 2.0 / 6.0),
    ("6.0", "float(abs(-x) ** 2 % 5 // 1)", 1.0),
    ("6.0", "bool(x == 6.0) and bool(x != 5.0) and bool(x <= 7)", True),
    ("6.0", "x == None, x != 'a'", (False, True)),
    ("6", "int(x & 3), int(~x), int(1 | x), int(x ^ x)", (2, -7, 7, 0)),
    ("True", "bool(x & False), bool(~x)", (False, False)),
    ("[1.0, 2.0]", "float(x[1])", 2.0),
    ("[[1.0, 2.0]]", "(x @ [[1.0], [1.0]]).shape[0]", 1),
]


@pytest.fixture(scope="module")
def computed() -> dict[str, str]:
    """What each expression gives in a process of its own, by the kind of x and the expression."""
    return each_prints({
        f"{kind} {expression}": OPERATORS.format(kind=kind, value=value, expression=expression)
        for kind in KINDS for value, expression, _ in EXPRESSIONS
    })  # fmt: skip


@needs_fork
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("expression", "expected"), [row[1:] for row in EXPRESSIONS])
def test_operators_work_before_their_families_have_loaded(
    kind: str, expression: str, expected: object, computed: dict[str, str]
) -> None:
    printed = computed[f"{kind} {expression}"]
    assert "Traceback" not in printed, printed
    result = ast.literal_eval(printed)
    assert result == (pytest.approx(expected) if isinstance(expected, float) else expected)


ASKED = {
    "an op by its name": ("from autodiff_lab.engine.op import REGISTRY as r; print(r['erf'].name)", "erf"),
    "all ops": (
        "from autodiff_lab.engine.op import REGISTRY as r; print(len(r) > 200, 'x' in r, r.get('x'))",
        "True False None",
    ),
    "an op of the raw namespace": (
        "from autodiff_lab.engine.namespace import RAW; import numpy; print(RAW.tanh(numpy.float32(0)))",
        "0.0",
    ),
    "a namespace with ops swapped": (
        "from autodiff_lab.engine.namespace import RAW; print(RAW.swapped(sin=1).cos(0.0))",
        "1.0",
    ),
    "no such op": ("from autodiff_lab.engine.namespace import RAW; print(hasattr(RAW, 'nothing'))", "False"),
    "a family by its path": (
        "import autodiff_lab as lab; print(lab.ops.math.gamma.__name__)",
        "autodiff_lab.ops.math.gamma",
    ),
    "a method that an op gives": (
        "import autodiff_lab as lab; print(lab.Variable([1.0, 2.0]).scatter_nd_add([[1]], [1.0]).numpy())",
        "[1. 3.]",
    ),
    "a name that stands elsewhere": (
        "import autodiff_lab as lab\ntry: lab.log\nexcept AttributeError as e: print('lab.math.log' in str(e))",
        "True",
    ),
    "a star": ("from autodiff_lab import *; print(reduce_sum([1.0, 2.0]).numpy())", "3.0"),
}


@pytest.fixture(scope="module")
def loaded() -> dict[str, str]:
    """What each program prints that asks for something first thing."""
    return each_prints({what: code for what, (code, _) in ASKED.items()})


@needs_fork
@pytest.mark.parametrize("what", [what for what in ASKED if EXTRAS or what != "a star"])
def test_what_is_asked_for_loads(what: str, loaded: dict[str, str]) -> None:
    assert loaded[what] == ASKED[what][1]


def test_threads_that_ask_at_once_all_get_the_op() -> None:
    code = (
        "import threading, autodiff_lab as lab\nfound = []\nstart = threading.Barrier(8)\n"
        "def ask():\n    start.wait()\n    found.append(float(lab.math.erf(0.0)) + float(lab.constant(2.0) * 3))\n"
        "threads = [threading.Thread(target=ask) for _ in range(8)]\n"
        "[t.start() for t in threads]; [t.join() for t in threads]; print(found == [6.0] * 8)"
    )
    run = fresh(code)
    assert run.stdout.strip() == "True", run.stderr


def test_what_few_programs_use_is_not_loaded(figure: Callable[[str, str], None]) -> None:
    run = fresh("import sys, autodiff_lab; print('\\n'.join(sys.modules))")
    loaded = set(run.stdout.split())
    unwanted = {"numpy.random", "logging", "pathlib", "dataclasses", "json", "autodiff_lab.ops.nn"}
    by_numpy = set(fresh("import sys, numpy; print('\\n'.join(sys.modules))").stdout.split())
    assert not loaded & unwanted - by_numpy
    figure("our modules after import", str(sum(name.startswith("autodiff_lab") for name in loaded)))


def test_a_package_of_families_names_all_its_files() -> None:
    for folder in ("array", "linalg", "math", "nn"):
        package = PACKAGE / "ops" / folder
        files = {path.stem for path in Path(package).glob("*.py")} - {"__init__"}
        source = ast.parse((package / "__init__.py").read_text(encoding="utf-8"))
        (listed,) = (ast.literal_eval(n.value) for n in source.body if isinstance(n, ast.Assign))
        declared = {
            name for name in files if "engine.apply import" in (package / f"{name}.py").read_text(encoding="utf-8")
        }
        assert declared <= set(listed), f"{folder}: {sorted(declared - set(listed))} would never load"
