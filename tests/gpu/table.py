"""One op of the table on the GPU: values, gradients of both orders, Jacobian, tangents, dtypes and special values.

The CPU's results are the reference; tests/ops compares them with differences and NumPy.
"""

import time
from collections.abc import Callable
from itertools import islice
from typing import Any

import numpy as np

import autodiff_lab as lab
from autodiff_lab.engine.op import REGISTRY, UNREGISTERED
from autodiff_lab.gpu.hosted import STAYS
from autodiff_lab.testing import check_gradient, weighted_sum
from tests.gpu.compare import UP_TO_SIGN, disagreements, host, parts
from tests.gpu.place import CPU, GPU, SCIPY, SIMULATED, copies
from tests.ops.samples import REFUSES_HALVES, Sample, ops_of_the_catalogue, samples

FEW = 2 if SIMULATED else 3
"""Samples of an op for what takes long, as all does where threads are simulated."""
EDGES = (0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.0, 1e30, -1e30, np.inf, -np.inf, np.nan)
"""Special values, given to elementwise ops in all pairs."""
OF_DEVICES = {"copy_to_device"}
"""Ops that move tensors, which have tests of their own."""
Check = Callable[[Sample], Any]


def names() -> list[str]:
    """Every op of the table."""
    return [name for name in ops_of_the_catalogue() if name not in OF_DEVICES]


def on(device: str, run: Check, sample: Sample) -> Any:
    """What comes out on a device: results, or the class of the error."""
    with lab.device(device):
        try:
            made = run(sample)
            for tensor in parts(made):
                if tensor is not None:
                    host(tensor)  # what a GPU finds wrong with values is told when they are read
            return made
        except Exception as error:  # noqa: BLE001 - both devices must refuse alike
            return error


def values(sample: Sample, dtype: Any = None) -> Any:
    """Apply the op."""
    return sample(*sample.tensors(dtype))


def total(op: str, out: Any) -> Any:
    """Make one number of the outputs of an op, in which every element has a weight."""
    outputs = [o for o in (out if isinstance(out, tuple) else (out,)) if o.dtype.is_floating or o.dtype.is_complex]
    return weighted_sum([o * o for o in outputs] if op in UP_TO_SIGN else outputs)


def gradients(sample: Sample, dtype: Any = None) -> Any:
    """The gradient with respect to every differentiable input."""
    tensors = sample.tensors(dtype)
    sources = [tensors[k] for k in sample.differentiable]
    with lab.GradientTape() as tape:
        tape.watch(sources)
        made = total(sample.op.name, sample(*tensors))
    return tape.gradient(made, sources)


def second_gradients(sample: Sample) -> Any:
    """The gradient of the gradient."""
    tensors = sample.tensors()
    sources = [tensors[k] for k in sample.differentiable]
    with lab.GradientTape() as outer:
        outer.watch(sources)
        with lab.GradientTape() as tape:
            tape.watch(sources)
            made = total(sample.op.name, sample(*tensors))
        first = [g for g in tape.gradient(made, sources) if g is not None]
        made = weighted_sum(first)
    return outer.gradient(made, sources)


def jacobians(sample: Sample) -> Any:
    """The Jacobian of every floating output by every differentiable input."""
    tensors = sample.tensors()
    sources = [tensors[k] for k in sample.differentiable]
    with lab.GradientTape(persistent=True) as tape:
        tape.watch(sources)
        out = sample(*tensors)
        outputs = [o for o in (out if isinstance(out, tuple) else (out,)) if o.dtype.is_floating]
    return [j for o in outputs for j in tape.jacobian(o, sources)]


def tangents(sample: Sample) -> Any:
    """The tangent of every floating output for a tangent of ones."""
    tensors = sample.tensors()
    sources = [tensors[k] for k in sample.differentiable]
    with lab.autodiff.ForwardAccumulator(sources, [lab.ones_like(s) for s in sources]) as accumulator:
        out = sample(*tensors)
    outputs = [o for o in (out if isinstance(out, tuple) else (out,)) if o.dtype.is_floating]
    return [accumulator.jvp(o) for o in outputs]


def compared(what: str, run: Check, sample: Sample, loose: float, heard: list[Any] | None = None) -> list[str]:
    """Run a check on both devices; say what differs."""
    theirs = on(CPU, run, sample)
    with copies() as now:
        ours = on(GPU, run, sample)
    if heard is not None:
        heard += now
    shapes = [np.shape(x) for x in sample.inputs]
    told = f"{what} of {sample.op.name}{shapes} {sample.params or ''}"
    if isinstance(theirs, Exception) or isinstance(ours, Exception):
        if isinstance(ours, type(theirs)) or isinstance(theirs, type(ours)):
            return []
        first, second = (f"{type(v).__name__}: {v}" if isinstance(v, Exception) else "a result" for v in (ours, theirs))
        return [f"{told}: {first} in place of {second}"]
    return disagreements(told, sample.op.name, ours, theirs, loose)


def verdict(name: str, mode: str) -> dict[str, Any]:
    """Judge an op: native, by copies to the CPU and why, failed and how, or skipped and why."""
    began = time.perf_counter()
    heard: list[tuple[str, int, str]] = []
    with lab.use_kernels(mode):
        try:
            missing = _missing(name)
            wrong = _without_scipy(name) if missing else _wrong(name, heard)
        except Exception as error:  # noqa: BLE001 - whatever an op raises is its verdict
            missing, wrong = "", [f"{type(error).__name__}: {error}"]
    reasons = sorted({why for _, _, why in heard})
    allowed = {f"{op}: {why}" for op, why in STAYS.items()}
    wrong += [f"a copy that no list has: {why}" for why in reasons if why not in allowed]
    kind = "failed" if wrong else "skipped" if missing else "copies" if reasons else "native"
    told = {"verdict": kind, "seconds": round(time.perf_counter() - began, 3)}
    return told | ({"why": wrong[:6] or [missing]} if wrong or missing else {"why": reasons} if reasons else {})


def _missing(name: str) -> str:
    """What the CPU's side of an op lacks here."""
    if SCIPY:
        return ""
    result = on(CPU, values, next(iter(samples(name))))
    lacks = isinstance(result, Exception) and "scipy" in str(result)
    return "SciPy is not installed, so the CPU has nothing to compare with; held against differences" if lacks else ""


def _without_scipy(name: str) -> list[str]:
    """Gradients on the GPU against differences on the GPU, where the CPU knows nothing."""
    if REGISTRY[name].rules in (None, UNREGISTERED) or name in STAYS:
        return []
    with lab.device(GPU):
        checks = [check_gradient(sample, *sample.inputs) for sample in islice(samples(name), FEW)]
    return [str(check) for check in checks if not check]


def _wrong(name: str, heard: list[Any]) -> list[str]:
    op = REGISTRY[name]
    wrong: list[str] = []
    ruled = op.rules not in (None, UNREGISTERED)
    for k, sample in enumerate(samples(name)):
        if any(np.asarray(x).dtype.kind not in "biufc" for x in sample.inputs):
            continue  # text lives on the CPU
        wrong += compared("values", values, sample, 1, heard)
        if not ruled or not sample.differentiable:
            continue
        wrong += compared("gradients", gradients, sample, 10, heard)
        if k < FEW:
            wrong += compared("second gradients", second_gradients, sample, 1000)
            wrong += compared("tangents", tangents, sample, 100)
            if op.stacked and name not in UP_TO_SIGN:
                wrong += compared("jacobians", jacobians, sample, 10)
    return wrong + _dtypes(name) + (_edges(name) if op.elementwise else [])


def _dtypes(name: str) -> list[str]:
    wrong: list[str] = []
    for dtype in ("float32", "float16"):
        if dtype == "float16" and name in REFUSES_HALVES:
            continue
        for sample in islice(samples(name, seed=2), FEW):
            if not any(np.asarray(x).dtype.kind == "f" for x in sample.inputs):
                continue
            run: Check = lambda s, dtype=dtype: values(s, dtype)  # noqa: E731
            wrong += compared(f"values in {dtype}", run, sample, 8)
            if sample.differentiable:
                run = lambda s, dtype=dtype: gradients(s, dtype)  # noqa: E731
                wrong += compared(f"gradients in {dtype}", run, sample, 64)
    return wrong


def _edges(name: str) -> list[str]:
    """Special values in floats, whole numbers and bools; where the CPU refuses a dtype, the GPU must too."""
    op = REGISTRY[name]
    arity = op.arity or 1
    wrong: list[str] = []
    for dtype in ("float64", "float32", "int32", "int64", "uint8", "bool"):
        numbers = [e for e in EDGES if np.isfinite(e) and abs(e) < 1e9] if dtype[0] in "iub" else list(EDGES)
        if dtype[0] == "u":
            numbers = [abs(n) for n in numbers]
        line = np.array(numbers).astype(dtype)
        grid = np.meshgrid(*[line] * arity, indexing="ij")
        sample = Sample(op, tuple(g.ravel() for g in grid))
        wrong += compared(f"special values in {dtype}", values, sample, 10)
    return wrong
