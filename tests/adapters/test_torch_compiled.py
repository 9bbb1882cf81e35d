"""Functions of `torch.compile` and TorchScript inside the block: one op that says so, and never compiled twice."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed; `make test-adapters` runs these tests")

from autodiff_lab.adapters.torch import record  # noqa: E402
from tests.adapters.checking import everything, same_bits, share_sums  # noqa: E402

nn = torch.nn
pytestmark = [
    pytest.mark.filterwarnings("error:The recording stopped early"),
    pytest.mark.filterwarnings("ignore:Using `torch.compile:UserWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]
BACKENDS = ["eager", "aot_eager"]
HAS_COMPILER = any(map(shutil.which, ("g++", "c++", "clang++")))


@pytest.fixture(autouse=True)
def fresh() -> Any:
    """Forget what was compiled: a function would share the limit of recompilations with other tests."""
    torch.compiler.reset()
    yield
    torch.compiler.reset()


def leaf(*shape: int, seed: int = 0) -> Any:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed)).requires_grad_()


def network() -> Any:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))


def counting(backend: str, compiled: list[int]) -> Callable[..., Any]:
    def compile_(graph: Any, inputs: Any) -> Any:
        compiled.append(sum(node.op in ("call_function", "call_method") for node in graph.graph.nodes))
        return torch._dynamo.lookup_backend(backend)(graph, inputs)

    return compile_


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_compiled_module_is_one_op(backend: str) -> None:
    x, model = leaf(5, 3), network()
    plain = torch.compile(model, backend=backend)
    plain(x * 1.0).sum().backward()
    wanted = [x.grad, *[p.grad for p in model.parameters()]]
    x.grad = None
    model.zero_grad()
    with record(policy=everything) as recording:
        y = plain(x * 1.0)
        y.sum().backward()
    assert [a.op for a in recording.forward] == ["mul", "compiled: Sequential", "sum"]
    op = recording.forward[1]
    told = recording.ops[op.op]
    assert told.symbol == "compiled: Sequential"
    assert told.sentence == "runs code that torch.compile made; its inside is not recorded"
    names = [recording.tensors[i].name for i in op.inputs[1:]]
    assert names == ["0.weight", "0.bias", "2.weight", "2.bias"]
    assert "plain(x * 1.0)" in recording.line(op.place)
    grads = [x.grad, *[p.grad for p in model.parameters()]]
    recorded = [recording.tensors[r].snapshot.array for r in recording.sweeps[0].results if r is not None]
    for ours, theirs, held in zip(grads, wanted, recorded, strict=True):
        assert torch.equal(ours, theirs)
        assert same_bits(held, theirs.numpy())
    right, all_, wrong = share_sums(recording)
    assert right == all_ >= 2, wrong
    assert recording.explain(y, model[0].weight).cause == "connected"
    assert "compiled: Sequential(" in recording.to_text()


@pytest.mark.skipif(not HAS_COMPILER, reason="torch.compile's own backend needs a C++ compiler")
def test_a_compiled_function_is_one_op() -> None:
    a, b, w = leaf(3), leaf(3), leaf(3, seed=1)
    compiled = torch.compile(lambda t: torch.tanh(t * w) + t)
    compiled(b).sum().backward()
    with record(policy=everything) as recording:
        compiled(a).sum().backward()
    assert torch.equal(a.grad, b.grad)
    assert [x.op for x in recording.forward] == ["compiled", "sum"]
    assert "its inside is not recorded" in recording.ops["compiled"].sentence
    result = recording.sweeps[0].results[0]
    assert result is not None
    assert same_bits(recording.tensors[result].snapshot.array, a.grad.numpy())
    right, all_, wrong = share_sums(recording)
    assert right == all_ == 1, wrong


def test_the_graph_of_the_backend_eager_is_seen_op_by_op() -> None:
    a = leaf(3)
    compiled = torch.compile(lambda t: torch.tanh(t * 2) + t, backend="eager")
    with record() as recording:
        compiled(a).sum().backward()
    assert [x.op for x in recording.forward] == ["mul", "tanh", "add", "sum"]
    assert all("eval_with_key" not in recording.where(x.place) for x in recording.forward)


@pytest.mark.parametrize("kind", ["function", "module", "calls a module", "in place"])
def test_nothing_is_compiled_again_for_each_block(kind: str) -> None:
    """PyTorch stops compiling a function that it had to compile nine times: ten blocks would change the program."""
    compiled: list[int] = []
    backend, model, x = counting("eager", compiled), network(), leaf(2, 3)
    if kind == "in place":
        model.compile(backend=backend)
    run: Any = {
        "function": lambda: torch.compile(lambda t: torch.tanh(t) * t, backend=backend),
        "module": lambda: torch.compile(model, backend=backend),
        "calls a module": lambda: torch.compile(lambda t: model(t) * 2, backend=backend),
        "in place": lambda: model,
    }[kind]()
    run(x).sum().backward()
    with record():
        run(x).sum().backward()
    run(x).sum().backward()
    before = len(compiled)
    assert len(set(compiled)) == 1, "with the block another graph was compiled"
    for _ in range(10):
        with record():
            run(x).sum().backward()
        run(x).sum().backward()
    assert len(compiled) == before


def test_a_compiled_module_without_gradients_and_with_a_buffer() -> None:
    model = nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2))
    compiled = torch.compile(model, backend="aot_eager")
    x = leaf(4, 3)
    with record(policy=everything) as recording:
        before = model[1].running_mean + 0.0
        with torch.no_grad():
            compiled(x)
        after = model[1].running_mean + 0.0
    assert [a.op for a in recording.forward] == ["add", "compiled: Sequential", "add"]
    assert not torch.equal(before, after)
    first = recording.tensors[recording.forward[0].inputs[0]].snapshot.array
    last = recording.tensors[recording.forward[2].inputs[0]].snapshot.array
    assert same_bits(first, before.numpy())
    assert same_bits(last, after.numpy())


def test_a_compiled_module_that_raises() -> None:
    compiled = torch.compile(network(), backend="eager")
    block = record()
    with pytest.raises(Exception, match=r"mat1 and mat2|must have same reduction dim"), block as recording:
        compiled(leaf(5, 7))
    assert recording.forward[-1].op == "compiled: Sequential"
    assert recording.forward[-1].error is not None
    with record() as after:
        (leaf(3) * 2).sum().backward()
    assert [a.op for a in after.forward] == ["mul", "sum"]


def test_scripted_modules_and_functions() -> None:
    model, x = network(), leaf(5, 3)
    scripted = torch.jit.script(model)
    with record(policy=everything) as recording:
        y = scripted(x * 1.0)
        y.sum().backward()
    assert [a.op for a in recording.forward] == ["mul", "scripted: Sequential", "sum"]
    assert "TorchScript" in recording.ops["scripted: Sequential"].sentence
    right, all_, wrong = share_sums(recording)
    assert right == all_ >= 2, wrong
    assert recording.explain(y, model[0].weight).cause == "connected"

    def formula(t: torch.Tensor) -> torch.Tensor:  # pyright: ignore[reportInvalidTypeForm]
        return torch.tanh(t * 2) + t

    function = torch.jit.script(formula)
    for _ in range(3):  # TorchScript watches two runs before it makes one node of its graph
        with record() as recording:
            function(x).sum().backward()
        assert recording.sweeps[0].results[0] is not None
    assert [a.op for a in recording.forward] == ["scripted", "sum"]


def test_a_compiled_module_in_two_nested_blocks() -> None:
    model, x = network(), leaf(5, 3)
    compiled = torch.compile(model, backend="eager")
    with record() as outer, record() as inner:
        compiled(x).sum().backward()
    assert [a.op for a in inner.forward] == ["compiled: Sequential", "sum"]
    assert "compiled: Sequential" in [a.op for a in outer.forward]
    assert not torch.nn.modules.module._global_forward_hooks
    assert not torch.nn.modules.module._global_forward_pre_hooks
