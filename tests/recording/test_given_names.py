"""`name=` names the node: every public callable that accepts it is called as in its own example, with a name."""

import ast
import doctest
import importlib
import importlib.util
import inspect
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab.engine import nest
from tests.amputation import AWAY, EXTRAS, is_about_what_is_hidden, marked
from tests.test_exports import PUBLIC, listed


def accepting() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Public callables whose `name` may be given or left out, each once, methods of public classes among them."""
    found: dict[int, tuple[str, Callable[..., Any]]] = {}
    for module_name in PUBLIC:
        spec = importlib.util.find_spec(module_name)
        if not EXTRAS and spec and is_about_what_is_hidden(Path(spec.origin or "")):
            continue
        module = importlib.import_module(module_name)
        for exported in listed(module):
            path = f"{module_name}.{exported}".removeprefix("autodiff_lab.")
            if AWAY & {path, f"autodiff_lab.{path}"}:
                continue
            value = getattr(module, exported)
            found.setdefault(id(value), (path, value))
            if isinstance(value, type) and value.__module__.startswith("autodiff_lab"):
                for member in dir(value):
                    if not member.startswith("_"):
                        method = getattr(value, member, None)
                        function = getattr(method, "__func__", method)
                        found.setdefault(id(function), (f"{path}.{member}", method))
    for path, value in found.values():
        if callable(value) and _may_be_named(value):
            yield path, value


def _may_be_named(value: Callable[..., Any]) -> bool:
    try:
        parameters = inspect.signature(value).parameters
    except (TypeError, ValueError):
        return False
    return "name" in parameters and parameters["name"].default is not inspect.Parameter.empty


lab.Variable.scatter_add  # noqa: B018 - loads the methods of variables that scatter
ACCEPTING = dict(accepting())
SAMPLES = {
    "Module": "lab.Module()",
    "Sequential.add_weight": "lab.layers.Layer().add_weight(shape=(2,))",
    "TensorSpec.from_spec": "lab.TensorSpec.from_spec(lab.TensorSpec((2,)))",
    "Variable": "lab.Variable(1.0)",
    "Variable.gather_nd": "lab.Variable([1.0, 2.0]).gather_nd([[1]])",
    "Variable.sparse_read": "lab.Variable([1.0, 2.0]).sparse_read([1])",
    "range": "lab.range(3)",
    "cond": "lab.cond(True, lambda: lab.exp(1.0), lambda: lab.exp(2.0))",
    "case": "lab.case([(True, lambda: lab.exp(1.0))])",
    "switch_case": "lab.switch_case(0, [lambda: lab.exp(1.0)])",
    "nn.dropout": "lab.nn.dropout([1.0, 2.0], 0.5)",
    "nn.hard_silu": "lab.nn.hard_silu([1.0, 2.0])",
    "losses.Loss": "lab.losses.Loss()",
    "optimizers.Optimizer": "lab.optimizers.Optimizer()",
    "keras.Model": "lab.keras.Model()",
    "data.Dataset.reduce": "lab.data.Dataset.range(3).reduce(0, lambda x, y: lab.exp(1.0))",
    "RaggedTensor.from_sparse": "lab.RaggedTensor.from_sparse(lab.sparse.from_dense([[1, 0], [2, 3]]))",
}
FAMILIES = {
    "lab.random.Generator.from_seed(1)": {
        "random.Generator": "binomial([2], 3.0, 0.5) | normal([2]) | truncated_normal([2]) | uniform([2]) | "
        "uniform_full_int([2])"
    },
    "lab.TensorArray('float32', 1).unstack([[1.0]])": {
        "TensorArray": "concat() | gather([0]) | read(0) | size() | stack()"
    },
    "lab.ragged.constant([[1, 2], [], [3]])": {
        "RaggedTensor": "nested_row_lengths() | nested_value_rowids() | nrows() | row_lengths() | row_limits() | "
        "row_starts() | to_sparse() | value_rowids()"
    },
    "lab.RaggedTensor": {
        "RaggedTensor": "from_nested_row_lengths([1, 2], [[1], [2]]) | from_row_limits([1, 2], [1, 2]) | "
        "from_nested_row_splits([1, 2], [[0, 1], [0, 2]]) | from_row_starts([1, 2], [0, 1])"
    },
    "filled()": {"queue.FIFOQueue": "dequeue() | dequeue_many(2) | dequeue_up_to(1) | is_closed() | size()"},
}
for subject, methods in FAMILIES.items():
    for owner, calls in methods.items():
        SAMPLES.update({f"{owner}.{call.split('(')[0]}": f"{subject}.{call}" for call in calls.split(" | ")})


def filled() -> Any:
    queue = lab.queue.FIFOQueue(3, "float32", shapes=[()])
    queue.enqueue_many([[1.0, 2.0]])
    return queue


"""Programs for those whose example calls another function of the family, or makes no tensor."""
NO_NODE = {
    "Sequential.get_layer": "finds a layer by its name",
    "TensorArray": "is not a node; what its methods make is named",
    "TensorArray.close": "makes nothing",
    "TensorArray.grad": "refuses",
    "TensorArray.write": "gives back the array; test_an_array_names_what_is_written",
    "TensorArray.unstack": "gives back the array; test_an_array_names_what_is_written",
    "TensorArray.scatter": "gives back the array; test_an_array_names_what_is_written",
    "TensorArray.split": "gives back the array; test_an_array_names_what_is_written",
    "adapters.Emitter.": "records other frameworks, whose names tests/adapters/test_emitter.py looks at",
    "Variable.assign": "is a note on the variable, which has its own name",
    "Variable.assign_add": "is a note on the variable, which has its own name",
    "Variable.assign_sub": "is a note on the variable, which has its own name",
    "optimizers.SGD.apply_gradients": "changes variables, which have their own names",
    "explore": "names the function on the plot",
    "explore_2d": "names the function on the plot",
    "breakpoint_when": "is what the stops have to be called",
    "explore_steps": "names the function on the plot",
    "plot_steps": "names the function on the plot",
    "plot_2d": "names the optimizers on the plot",
    "metrics.AUC.add_weight": "names the weight, a variable",
    "metrics.Metric": "names the metric",
    "print": "makes nothing",
    "Assert": "makes nothing",
    "debugging.assert_": "makes nothing",
    "data.Dataset.": "is not a node: a data set is made again in every round",
    "queue.FIFOQueue.close": "makes nothing",
    "queue.FIFOQueue.enqueue": "makes nothing",
    "queue.FIFOQueue.enqueue_many": "makes nothing",
    "signal.inverse_stft_window_fn": "returns a function; the windows that it makes have the name",
    "Variable.scatter_": "is a note on the variable, which has its own name",
}
"""What makes no tensor, and why: these accept a name and go on."""


class _Naming(ast.NodeTransformer):
    """Gives the calls of one function in an example a name, and hands what they return to `_seen`."""

    def __init__(self, function: str) -> None:
        self.function, self.count = function, 0

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if called != self.function or any(k.arg == "name" for k in node.keywords):
            return node
        self.count += 1
        node.keywords.append(ast.keyword("name", ast.Constant("given")))
        return ast.Call(ast.Name("_seen", ast.Load()), [node], [])


def _why_no_node(path: str) -> str:
    """The reason in the table; a row that ends with a dot or a line stands for all that begin like it."""
    if path in SAMPLES:
        return ""
    return next((why for row, why in NO_NODE.items() if path == row or (row[-1] in "._" and path.startswith(row))), "")


def _programs(path: str, value: Callable[..., Any]) -> list[str]:
    if path in SAMPLES:
        return [SAMPLES[path]]
    return [example.source for example in doctest.DocTestParser().get_examples(inspect.getdoc(value) or "")]


def _named_results(path: str, value: Callable[..., Any]) -> tuple[list[Any], lab.Recording]:
    """What the calls in the example of a callable return when they are given a name, and the recording."""
    results: list[Any] = []
    naming = _Naming(path.rsplit(".", 1)[-1])

    def seen(result: Any) -> Any:
        results.append(result)
        for tensor in _tensors(result):
            lab.stop_gradient(tensor)  # so that the recording keeps what no op made, too
        return result

    scope = {"_seen": seen, "lab": lab, "filled": filled}
    with lab.record(namespace={}) as recording:
        for program in _programs(path, value):
            tree = ast.fix_missing_locations(naming.visit(ast.parse(program)))
            exec(compile(tree, f"<example of {path}>", "exec"), scope)
    assert naming.count or _why_no_node(path), f"{path}: its example does not call it"
    return results, recording


def _tensors(value: Any) -> list[lab.Tensor]:
    """The tensors in a result, those of ragged and sparse tensors among them."""
    found: list[lab.Tensor] = []
    for leaf in nest.flatten(value)[0]:
        parts = (leaf, getattr(leaf, "flat_values", None), getattr(leaf, "values", None))
        found += [part for part in parts if isinstance(part, lab.Tensor)][:1]
    return found


@pytest.mark.slow(keep=150)
@pytest.mark.parametrize("path", marked(ACCEPTING, "nn.embedding_lookup_sparse".__eq__))
def test_the_name_that_is_given_is_the_name_in_the_recording(path: str) -> None:
    if path == "TensorArray.grad":
        pytest.skip("refuses whatever it is given")
    results, recording = _named_results(path, ACCEPTING[path])
    if _why_no_node(path):
        return
    tensors = [tensor for result in results for tensor in _tensors(result)]
    assert results
    for result in [] if tensors else results:
        assert result.name.removesuffix(":0").split("/")[-1] == "given"
    for tensor in tensors:
        record = recording.tensors[tensor.id]
        name = record.scope if record.name is None else record.name
        assert name == "given" or name.startswith(("given[", "given.")), (name, recording.to_text())


@pytest.mark.extras
def test_an_array_names_what_is_written() -> None:
    with lab.record() as recording:
        made = lab.TensorArray("float32", 2).write(0, 1.0, name="first").write(1, lab.exp(0.0), name="second").stack()
    assert made.shape == (2,)
    assert {t.name for t in recording.tensors.values()} >= {"first", "second"}


def test_the_name_wins_over_the_variable_and_over_the_scope() -> None:
    x = lab.Variable(2.0, name="x")
    with lab.record() as recording, lab.name_scope("layer"):
        y = lab.exp(x, name="grown")
        z = y * 2.0
    names = {t.id: (t.name, t.scope) for t in recording.tensors.values()}
    assert names[y.id] == ("grown", "layer")
    assert names[z.id] == ("z", "layer")
    assert "grown" in recording.to_text()
    assert ">grown<" in recording.to_svg() or "grown" in recording.to_svg()
    assert y.name == "grown"


def test_the_name_survives_the_wire(tmp_path: Path) -> None:
    with lab.record() as recording:
        y = lab.reduce_sum(lab.constant([1.0, 2.0]), name="total")
    recording.save(tmp_path / "named.json")
    assert lab.load_recording(tmp_path / "named.json").tensors[y.id].name == "total"
    assert lab.load_recording(tmp_path / "named.json") == recording


def test_several_outputs_are_named_by_how_one_reaches_them() -> None:
    with lab.record() as recording:
        parts = lab.unstack(lab.constant([1.0, 2.0]), name="parts")
        best = lab.math.top_k(lab.constant([1.0, 3.0, 2.0]), k=2, name="best")
    assert [recording.tensors[part.id].name for part in parts] == ["parts[0]", "parts[1]"]
    assert [recording.tensors[part.id].name for part in best] == ["best.values", "best.indices"]


def test_a_value_that_is_passed_on_keeps_its_name() -> None:
    x = lab.constant([1.0, 2.0], name="x")
    with lab.record() as recording:
        y = x * 2.0
        same = lab.cast(y, lab.float32, name="other")
        again = lab.convert_to_tensor(y, name="another")
        z = y + 1.0
    assert same is y
    assert again is y
    assert recording.tensors[y.id].name == "y"
    assert recording.tensors[z.id].name == "z"


def test_an_explanation_speaks_of_the_name() -> None:
    x = lab.Variable([-1.0, 1.0], name="x")
    with lab.record() as recording:
        lab.math.log(x, name="logarithm")
    assert "logarithm" in str(recording.first_nonfinite())


def test_a_compiled_program_shows_the_name() -> None:
    @lab.function
    def program(x: Any) -> Any:
        y = lab.exp(x, name="grown")
        return y * lab.reduce_sum(y * y, name="weight")

    program(lab.constant(np.linspace(0.0, 1.0, 5, dtype=np.float32)))
    assert program.fallbacks == 0
    assert "grown" in program.source
    assert "weight" in program.source


def test_a_loss_is_the_scope_of_its_ops() -> None:
    with lab.record() as recording:
        lab.losses.MeanSquaredError(name="distance")(lab.constant([1.0]), lab.constant([2.0]))
        lab.losses.MeanSquaredError()(lab.constant([1.0]), lab.constant([2.0]))
    assert {application.scope for application in recording.applications} == {"distance", ""}
