"""docs/ops.md: the table of operations, written from the registry and the docstrings."""

import importlib
import re
from collections import Counter

from autodiff_lab.engine.op import REGISTRY, UNREGISTERED, Op
from tests.generated.public import Function, declared_in, family_of, functions

FAMILIES: dict[str, tuple[str, ...]] = {
    "Mathematics": ("math", "bitwise", "special"),
    "Arrays": ("array",),
    "Linear algebra": ("linalg",),
    "Neural networks": ("nn", "isotonic", "sampled"),
    "Random numbers": ("random", "random_generator", "random_state", "random_stateless"),
    "Signals": ("signal",),
    "Images": ("image",),
    "Strings": ("strings",),
    "Ragged and sparse tensors, slices, states": ("ragged", "sparse", "splitting", "symbolic"),
    "Control flow": ("control_flow", "mapping", "control"),
    "Assertions": ("debugging", "shape_assertions"),
    "Nested structures, printing": ("nesting", "nest", "printing"),
}
"""The headings in order, and the folders and files of operations under each; others get a heading of their own."""
COLUMNS = ["function", "gives", "formula", "domain", "derivative", "dtypes", "devices", "TensorFlow's name"]
ALWAYS = 2
"""The first columns are there even if empty; others only where a row of the table has something in them."""
DEVICES = "NumPy"
"""Where an op has a kernel: NumPy is complete, and there is nothing else yet."""
LETTERS = ("x", "y", "z", "u", "v", "w")
HEAD = """# Operations

This page is written by the program: `make docs-renew` renews it, and a test holds it to the registry of ops.

A row is a public function, with the other names it has. *Gives* and *derivative* are its docstring's; the formula is
what pictures show, with $x$, $y$, $z$ for its inputs in order; where there is none, a function is made of others, and
its gradient is theirs. The domain is all real numbers where nothing is said. A mixture of dtypes is refused, see
[tensors](tensors.md). The last column is TensorFlow's name for the op that a tape writes down, by which
`lab.RegisterGradient` and `lab.registered_gradients` know it.
"""
INSIDE = """## Ops that only rules and functions use

They appear in recordings, and no function has them alone: the derivative of a derivative needs ops of its own.
"""


def page() -> str:
    """Return the text of the page."""
    public = functions()
    parts = [HEAD, _counts(public)]
    for heading in dict.fromkeys([*FAMILIES, *sorted(map(_heading, public))]):
        members = [f for f in public if _heading(f) == heading]
        if not members:
            continue
        parts.append(f"## {heading}\n")
        modules = sorted({f.module for f in members})
        parts.extend(_table(module, [f for f in members if f.module == module]) for module in modules)
    parts.append(_inside(public))
    return "\n".join(parts).rstrip() + "\n"


def _heading(function: Function) -> str:
    family = family_of(function.module)
    return next((name for name, parts in FAMILIES.items() if family in parts), family.replace("_", " ").capitalize())


def _counts(public: list[Function]) -> str:
    ruled = sum(map(_has_rule, REGISTRY.values()))
    count = Counter(map(_heading, public))
    rows = [f"| {name} | {count[name]} |" for name in [*FAMILIES, *sorted(set(count) - set(FAMILIES))] if count[name]]
    return "\n".join([
        f"{len(public)} public functions, aliases not counted; {len(REGISTRY)} ops in the registry,",
        f"{ruled} of them with a derivative rule.\n", "| family | functions |", "|---|---|", *rows, "",
    ])  # fmt: skip


def _has_rule(op: Op) -> bool:
    return op.rules is not None and op.rules != UNREGISTERED


def _table(module: str, members: list[Function]) -> str:
    about = (importlib.import_module(module).__doc__ or module).split("\n\n")[0].replace("\n", " ").strip()
    table = [COLUMNS, *[_row(f) for f in members]]
    used = [k for k in range(len(COLUMNS)) if k < ALWAYS or any(row[k] for row in table[1:])]
    head, *rows = [_line([row[k] for k in used]) for row in table]
    return "\n".join([f"**{_in_words(about)}**\n", head, "|" + "---|" * len(used), *rows, ""])


def _row(function: Function) -> list[str]:
    """Return the cells of a function, empty where there is nothing to say."""
    ops = [function.op] if function.op is not None else _behind(function)
    text = function.text
    first, *others = function.names
    names = f"`{first}`" + "".join(f", `{name}`" for name in others)
    return [
        names,
        _summary(text),
        _formula(ops[0]) if ops else "",
        (_said("Domain", text) or _domain(function.op)).replace("all real numbers", ""),
        _said("Derivative", text) or (_factors(ops[0]) if ops else ""),
        _said("Dtypes", text),
        DEVICES,
        ", ".join(f"`{op.registered}`" for op in ops if op.registered),
    ]


def _line(cells: list[str]) -> str:
    return "| " + " | ".join(_cell(cell) for cell in cells) + " |"


def _cell(text: str) -> str:
    """Put a text into a cell: on one line, without bars that would end it."""
    parts = " ".join(text.split()).split("$")
    return "$".join(_in_formula(part) if at % 2 else _in_words(part) for at, part in enumerate(parts))


def _in_formula(text: str) -> str:
    return text.replace("\\|", r"\Vert ").replace("|", r"\vert ")


def _in_words(text: str) -> str:
    parts = text.replace("``", "`").replace("|", r"\|").split("`")
    return "`".join(part if at % 2 else part.replace("*", r"\*") for at, part in enumerate(parts))


def _summary(text: str) -> str:
    return text.partition("\n\n")[0].strip().rstrip(".").split(".  ")[0]


def _said(what: str, text: str) -> str:
    """Return what a docstring in the standard form says after ``Derivative:`` or the like."""
    found = re.search(rf"\b{what}: (.+?)\.(?=\s\s|\n|$)", text, re.DOTALL)
    return found[1] if found else ""


def _domain(op: Op | None) -> str:
    return ", ".join(dict.fromkeys(map(str, op.domain))) if op is not None and op.elementwise else ""


def _formula(op: Op) -> str:
    return f"${op.latex.format(*LETTERS)}$" if op.latex else ""


def _factors(op: Op) -> str:
    if not _has_rule(op):
        return "none"
    factors = [f"${latex.format(*LETTERS)}$" for latex in op.locals_latex if latex and latex != "?"]
    return ", ".join(dict.fromkeys(factors))


_NAMED: dict[str, list[Op]] = {}


def _behind(function: Function) -> list[Op]:
    """Return the ops whose own text names this function as their public form."""
    if not _NAMED:
        for op in REGISTRY.values():
            for name in re.findall(r"`(lab\.[\w.]+)`", op.doc):
                _NAMED.setdefault(name, []).append(op)
    found = {op.name: op for name in function.names for op in _NAMED.get(name, [])}
    return list(found.values())


def _inside(public: list[Function]) -> str:
    shown = {op.name for f in public for op in ([f.op] if f.op is not None else _behind(f))}
    others = [op for op in REGISTRY.values() if op.name not in shown]
    rows = [_inside_row(op) for op in sorted(others, key=lambda op: (declared_in(op.name), op.name))]
    return "\n".join([INSIDE, "| op | formula | what it is | derivative | declared in |", "|" + "---|" * 5, *rows])


def _inside_row(op: Op) -> str:
    place = declared_in(op.name).removeprefix("autodiff_lab.")
    return _line([f"`{op.name}`", _formula(op), _summary(op.doc), _factors(op), f"`{place}`"])
