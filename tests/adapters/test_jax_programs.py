"""JAX programs: recorded gradients equal JAX's own, and contributions add up to each adjoint."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.adapters.checking import everything, share_sums

jax = pytest.importorskip("jax", reason="JAX is not installed; `make test-adapters` runs these tests")

from autodiff_lab.adapters.jax import record  # noqa: E402
from tests.adapters.programs.jax_programs import PROGRAMS  # noqa: E402


def of_jax(function: Any, args: Any, wrt: Any, order: int, has_aux: bool) -> tuple[Any, Any]:
    """Return value and gradient as `jax.grad` gives them; of order 2, that of the sum of the gradient."""
    value = function(*args)
    grad = jax.grad(function, wrt, has_aux=has_aux)
    if order == 2:
        grad = jax.grad(lambda *given: jax.numpy.sum(jax.grad(function, wrt)(*given)), wrt)
    found = grad(*args)
    return value, found[0] if has_aux else found


def close(a: Any, b: Any) -> bool:
    """Return whether two trees hold the same numbers, to a millionth (a hundredth for half precision)."""
    pairs = zip(jax.tree.leaves(a), jax.tree.leaves(b), strict=True)
    checks = []
    for one, two in pairs:
        half = one.dtype.itemsize < 4
        one, two = np.asarray(one).astype(np.complex128), np.asarray(two).astype(np.complex128)
        checks.append(np.allclose(one, two, rtol=1e-2 if half else 1e-6, atol=1e-6))
    return all(checks)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", list(PROGRAMS))
def test_values_gradients_and_shares(name: str) -> None:
    function, args, wrt, order, has_aux = PROGRAMS[name]
    value, grads = of_jax(function, args, wrt, order, has_aux)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        recording, got, found = record(function, *args, wrt=wrt, order=order, has_aux=has_aux, policy=everything)
    assert close(got, value)
    assert close(found, grads)
    assert jax.tree.structure(found) == jax.tree.structure(grads)
    recorded = [recording.tensors[r].snapshot.array for r in recording.sweeps[-1].results if r is not None]
    for array, g in zip(recorded, (g for g in jax.tree.leaves(found) if np.any(np.asarray(g) != 0)), strict=False):
        assert array is not None
        assert array.shape == g.shape
    right, all_, wrong = share_sums(recording)
    assert right == all_, wrong
    assert recording.to_text()


def test_there_are_twenty_five_programs(figure: Callable[[str, str], None]) -> None:
    figure("recorded JAX programs", str(len(PROGRAMS)))
    assert len(PROGRAMS) >= 25


def test_a_function_that_returns_no_scalar_is_refused() -> None:
    with pytest.raises(TypeError, match="must return a floating-point scalar"):
        record(lambda x: x * 2, jax.numpy.ones(3))


def test_index_arithmetic_is_left_out_and_branches_leave() -> None:
    recording, _, _ = record(lambda x: x[jax.numpy.argmax(jax.numpy.arange(4)) - 4], jax.numpy.ones(4))
    assert all(recording.tensors[o].snapshot.dtype == "float32" for a in recording.forward for o in a.outputs)
    recording, _, _ = record(lambda x: jax.lax.cond(x > 0, jax.numpy.sin, jax.numpy.cos, x), 1.0)
    assert any(note.kind == "left" and note.detail == "branch" for note in recording.notes)
    assert "sin" in [a.op for a in recording.forward]


def test_names_lines_and_scopes() -> None:
    function, args, *_ = PROGRAMS["attention"]
    recording, _, _ = record(function, *args)
    assert any(t.name == "params['qkv']" for t in recording.tensors.values())
    assert any("attention" in a.scope for a in recording.forward)
    assert any("jax.nn.softmax" in recording.line(a.place) for a in recording.forward)
    symbols = {name: told.symbol for name, told in recording.ops.items()}
    assert (symbols["select_n"], symbols["convert_element_type"]) == ("where", "astype")  # as programs call them


def test_jitted_functions_are_gone_into_or_are_one_op_each() -> None:
    function, args, *_ = PROGRAMS["jitted"]
    inside, value, gradient = record(function, *args, policy=everything)
    assert {"power", "power (2)"} <= {a.scope for a in inside.forward}
    recording, same, also = record(function, *args, inside_jit=False, policy=everything)
    assert [a.op for a in recording.forward] == ["jitted: power", "jitted: power", "mul"]
    told = recording.ops["jitted: power"]
    assert (told.symbol, told.sentence) == (
        "jitted: power",
        "runs a function under jax.jit; its inside is not recorded",
    )
    assert close(same, value)
    assert close(also, gradient)
    assert close(also, jax.grad(function)(*args))
    right, all_, wrong = share_sums(recording)
    assert right == all_ >= 2, wrong
    assert recording.explain(recording.sweeps[0].targets[0], "x").cause == "connected"


def test_library_functions_under_jit_are_gone_into_either_way() -> None:
    recording, _, _ = record(lambda x: jax.numpy.sum(jax.nn.relu(x)), jax.numpy.ones(3), inside_jit=False)
    assert not [a.op for a in recording.forward if "jitted" in a.op]
