"""Seeded recordings of everything that can be recorded: ops of the registry, dtypes, shapes, parameters, names.

`recorded(seed)` is one program.  `asked(recording)` returns the results of all queries, so that a copy of the recording
can be compared.
"""

from __future__ import annotations

import contextlib
import json
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

import autodiff_lab as lab
from autodiff_lab.errors import LabError
from autodiff_lab.events import OpApplied, OpDescribed, TensorMet
from autodiff_lab.events.listener import fresh_id, tell_listeners
from autodiff_lab.recording import Recording
from tests.amputation import EXTRAS
from tests.ops.samples import ops_of_the_catalogue, samples

FLOATS = (lab.float16, lab.bfloat16, lab.float32, lab.float64, lab.complex64, lab.complex128)
DTYPES = (
    *FLOATS, lab.bool, lab.int8, lab.int16, lab.int32, lab.int64, lab.uint8, lab.uint16, lab.uint32, lab.uint64,
)  # fmt: skip
SHAPES = ((), (1,), (0,), (3,), (2, 3), (0, 4), (3, 0, 2), (64,), (65,), (9, 9), (1,) * 9, (2,) * 7, (130, 90))
NAMES = (
    "x", "weights", "größe", "重み", "вес", "a" * 999, "two\nlines", "tab\there", "bell\x07 \x1b[31m", "a\ud800b",
    "\u202eright to left", "</script>&<b>", '"quoted\'', "%s {0} \\frac{1}{2}", "🙂", "\0", " ", "_", "nan", "x:0:0",
)  # fmt: skip
WORDS = ("nan", "inf", "-inf", "", "a", "é", "\x00", "line\nbreak", "null", "1e999", "x" * 400, "<!--", "🙂", "\u2028")
BYTES = (b"\xff\xfe", b"", b"nan", b"\x00")


class Strange:
    """An object that ops receive as a parameter."""

    def __init__(self, breaks: bool) -> None:
        self.breaks = breaks

    def __repr__(self) -> str:
        if self.breaks:
            raise RuntimeError("no repr")
        return "Strange\n()"


def itself() -> list[Any]:
    """A list that holds itself."""
    made: list[Any] = [1]
    made.append(made)
    return made


PARAMS: tuple[Any, ...] = (
    None, True, 0, -1, 10**30, 10**5000, 2**53 + 1, 0.5, -0.0, float("nan"), float("inf"), -float("inf"), 1e308, 5e-324,
    "nan", "inf", "-inf", "", "$", "a\ud800", "two\nlines", (), [], {}, (1, 2), [[1], [2, [3]]], {"a": 1}, {"$": "nan"},
    {"$": float("nan")}, {"$$": 1}, {3: 4, None: 5}, slice(1, None, 2), ..., lab.float32, np.dtype("int8"), np.float32,
    np.float32(0.1), np.float64("nan"), np.int8(-3), np.bool_(True), np.longdouble(1) / 3, np.array([1.0, np.inf]),
    np.array(["nan"]), np.zeros((40, 40)), np.array([1 + 2j]), 1 + 2j, complex("nan"), b"\xff", range(3), {1, 2}, len,
    lambda x: x, Strange(False), Strange(True), object(), itself(), ("nan", float("nan")), {"deep": [[[[[[]]]]]]},
)  # fmt: skip


def values(dtype: Any, shape: tuple[int, ...], random: Random) -> Any:
    """Numbers of a dtype, some of them remarkable."""
    count = int(np.prod(shape))
    if dtype in FLOATS:
        special = (0.0, -0.0, 1.0, -1.0, float("nan"), float("inf"), -float("inf"), 1e-30, 3e38, 0.1)
        array = np.array(
            [random.choice(special) if random.random() < 0.1 else random.gauss(0, 2) for _ in range(count)]
        )
        with np.errstate(all="ignore"):
            return lab.cast(lab.constant(array.reshape(shape)), dtype)
    if dtype == lab.bool:
        return lab.constant(np.array([random.random() < 0.5 for _ in range(count)], bool).reshape(shape))
    kind = dtype.as_numpy_dtype
    limits = np.iinfo(kind)
    picked = [random.choice((0, 1, int(limits.min), int(limits.max), 7)) for _ in range(count)]
    return lab.constant(np.array(picked, kind).reshape(shape), dtype)


def of_the_registry(random: Random) -> None:
    """An op of the catalogue, in any dtype, with its gradient where it has one."""
    sample = random.choice(list(samples(random.choice(OPS), random.randrange(1000))))
    tensors = sample.tensors(random.choice(FLOATS) if random.random() < 0.7 else None)
    with lab.GradientTape() as tape:
        tape.watch([tensors[k] for k in sample.differentiable])
        made = sample(*tensors)
        first = made[0] if isinstance(made, (tuple, list)) else made
    tape.gradient(first, [tensors[k] for k in sample.differentiable])


def of_any_values(random: Random) -> None:
    """Variables of any dtype and shape through an op that takes anything, and through a tape."""
    x = lab.Variable(values(random.choice(DTYPES), random.choice(SHAPES), random), name=random.choice(NAMES))
    with lab.GradientTape() as tape:
        y = lab.identity(x)
        if x.dtype in FLOATS:
            y = random.choice((lab.math.log, lab.sqrt, lab.exp, lab.reduce_sum, lab.math.reciprocal))(y) * y
    tape.gradient(y, x)
    x.assign(x)
    np.asarray(x)


def of_texts(random: Random) -> None:
    """Strings of any shape."""
    shape = random.choice(((), (2,), (2, 2), (0,), (70,)))
    pool = BYTES if random.random() < 0.3 else WORDS
    picked = [random.choice(pool) for _ in range(int(np.prod(shape)))]
    s = lab.constant(np.array(picked, object).reshape(shape))
    lab.strings.join([s, s])
    lab.strings.length(lab.identity(s))


def of_composites(random: Random) -> None:
    """Ragged and sparse values, whose parts are what is recorded."""
    rows = [[random.gauss(0, 1) for _ in range(random.randrange(4))] for _ in range(3)]
    if random.random() < 0.5:
        ragged = lab.ragged.constant([*rows, [1.0]])
        lab.reduce_sum(ragged * 2.0, axis=1)
        return
    sparse = lab.sparse.from_dense(lab.constant([[0.0, 1.0], [random.gauss(0, 1), 0.0]]))
    lab.sparse.reduce_sum(sparse * 2.0)


def of_any_parameters(random: Random) -> None:
    """An op that nobody knows, with parameters of every kind, as a program may register one."""
    x, y = fresh_id(), fresh_id()
    params = {f"p{n}": random.choice(PARAMS) for n in range(random.randint(1, 6))}
    name, scope = f"their.{random.choice(('op', 'größe', 'op 2'))}", random.choice(("", "net", "a/b", "a\nb", "\ud800"))
    tell_listeners(OpDescribed(name, "∘", r"{0} \circ", (r"\frac{{1}}{{{0}}}",), "does {0}", True, True))
    tell_listeners(TensorMet(x, "constant", random.choice(NAMES), np.float32(2.0), None, False, ("<none>", 1), scope))
    tell_listeners(OpApplied(name, (x,), (y,), params, (np.array([1.0, np.nan]),), None, ("a\udc80.py", 3), scope))


def that_fails(random: Random) -> None:
    """An op that raises."""
    with lab.name_scope(random.choice(("failing", "größe", "x" * 300))):
        lab.add(lab.constant([1.0, 2.0]), lab.constant([1.0] * random.choice((3, 5))))


PARTS: tuple[Callable[[Random], None], ...] = (
    of_the_registry, of_the_registry, of_any_values, of_any_values, *((of_texts, of_composites) if EXTRAS else ()),
    of_any_parameters, that_fails,
)  # fmt: skip
OPS = ops_of_the_catalogue()


def recorded(seed: int) -> Recording:
    """The recording of a seed."""
    random = Random(seed)
    with lab.record(title=random.choice(("", *NAMES)), whole=random.choice((64, 64, 64, 3, 1000))) as recording:
        for _ in range(random.randint(1, 3)):
            # What an op refuses belongs to a recording too; that it refuses in words of ours is tested elsewhere.
            with contextlib.suppress(LabError, LookupError, TypeError, ValueError):
                random.choice(PARTS)(random)
    return recording


def asked(recording: Recording) -> Iterator[tuple[str, str]]:
    """Every question that a recording answers in words, and its answer."""
    yield "text", recording.to_text()
    yield "repr", repr(recording)
    yield "nonfinite", str(recording.first_nonfinite())
    sources = [sweep.sources[0] for sweep in recording.sweeps if sweep.sources][:1]
    leaves = [key for key, record in recording.tensors.items() if record.application is None][:1]
    for key in [*recording.tensors][-1:]:
        for source in dict.fromkeys([*sources, *leaves, key]):
            yield f"explain {key} {source}", _answer(recording.explain, key, source)
            yield f"ledger {key} {source}", _answer(lambda a, b: recording.ledger(b, a), key, source)


def _answer(question: Callable[..., Any], *about: Any) -> str:
    try:
        answer = question(*about)
        return f"{answer} {answer._repr_markdown_()}"
    except LabError as error:
        return f"{type(error).__name__}: {error}"


def drawn(recording: Recording) -> Iterator[tuple[str, str]]:
    """Every picture of a recording."""
    yield "svg", recording.to_svg()
    yield "dot", recording.to_dot().source
    yield "notebook", json.dumps(recording._repr_mimebundle_(), default=str)
    with tempfile.TemporaryDirectory() as folder:
        recording.to_html(Path(folder) / "page.html")
        yield "html", (Path(folder) / "page.html").read_text(encoding="utf-8")
