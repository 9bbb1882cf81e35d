"""Names in a recording are those in the user's program, never guessed."""

import operator
from contextlib import ExitStack
from functools import reduce
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest

import autodiff_lab as lab
from autodiff_lab.recording import Recording
from autodiff_lab.recording.names import _executions, names_in


class Pair(NamedTuple):
    """Two things with names."""

    left: Any
    right: Any


def names(recording: Recording) -> list[str | None]:
    """The names of all forward values that ops made, in order."""
    return [recording.tensors[out].name for a in recording.forward for out in a.outputs]


def leaves(recording: Recording) -> list[str | None]:
    return [t.name for t in recording.tensors.values() if t.application is None]


def test_the_last_op_of_an_assignment_has_its_name() -> None:
    """Intermediate results of an expression have none, over several lines too."""
    with lab.record() as recording:
        x = lab.constant(2.0)
        y = x * x + lab.sin(x)
        z = (
            y * y  # a line of its own
            + x
        )
        z -= y
    assert leaves(recording) == ["x"]
    assert names(recording) == [None, None, "y", None, "z", "z"]


def test_each_round_of_a_loop_has_the_name() -> None:
    """The same statement runs three times: three values, one name."""
    with lab.record() as recording:
        y = lab.constant(0.5)
        for _ in range(3):
            y = y * y + y
    assert names(recording) == [None, "y"] * 3


def test_a_sum_of_three_is_one_execution() -> None:
    """``a + b + c`` runs the op twice, and only the second has the name."""
    with lab.record() as recording:
        a = lab.constant(1.0)
        total = a + a + a
    assert names(recording) == [None, "total"]
    del total


def test_partial_sums_have_no_name() -> None:
    a, b, c = (lab.constant(float(k)) for k in range(3))
    with lab.record() as recording:
        for _ in range(2):
            total = sum([a, b, c])
            product = reduce(operator.mul, [a, b, c])
            norm = sum(part * part for part in (a, b))
    assert names(recording) == [None, None, "total", None, "product", None, None, None, "norm"] * 2
    del total, product, norm


def test_what_runs_beside_an_assignment_does_not_get_its_name() -> None:
    w = lab.Variable(1.0, name="w")
    with lab.record() as recording:
        for _ in range(2):
            with lab.GradientTape() as tape:
                loss = w * w
            g = tape.gradient(loss, w); w.assign_sub(0.1 * g)  # fmt: skip # noqa: E702
    assert names(recording) == ["loss", None] * 2
    assert [recording.tensors[key].name for sweep in recording.sweeps for key in sweep.results] == ["g", "g"]
    del g


def test_what_a_list_holds_has_not_the_name_of_the_list() -> None:
    a, b = lab.constant(1.0), lab.constant(2.0)
    with lab.record() as recording:
        waves = [lab.sin(part) for part in (a, b)]
        pair = [lab.sin(a), lab.cos(a)]
        table = {"u": lab.sin(a)}
        both = lab.stack([lab.sin(part) for part in (a, b)])
    assert names(recording) == ["waves[0]", "waves[1]", "pair[0]", "pair[1]", "table['u']", None, None, "both"]
    del waves, pair, table, both


def test_names_inside_functions_belong_to_the_lines_of_the_function() -> None:
    """A function called twice names its values at both calls; the caller's name goes to what it computes itself."""

    def square(t: Any) -> Any:
        squared = t * t
        del t
        return squared

    with lab.record() as recording:
        x = lab.constant(2.0)
        both = square(x) + square(x)
    assert names(recording) == ["squared", "squared", "both"]
    del both


def test_tuple_targets_get_their_parts() -> None:
    """``a, b = x * x, sin(x) + x`` names the last op of each part."""
    with lab.record() as recording:
        x = lab.constant(2.0)
        a, b = x * x, lab.sin(x) + x
    assert names(recording) == ["a", None, "b"]
    del a, b


def test_a_call_names_its_result_only_by_the_local_variable() -> None:
    """What a helper returned is named by the variable that holds it when the block ends."""

    def helper(t: Any) -> Any:
        return t * t

    with lab.record() as recording:
        x = lab.constant(2.0)
        answer = helper(x)
        other = helper(lab.constant(3.0))
    assert names(recording) == ["answer", "other"]
    assert [t.name for t in recording.tensors.values() if t.application is None] == ["x", None]
    del answer, other


def test_given_names_win_and_the_default_name_counts_as_none() -> None:
    """``name=`` beats the variable; "Variable:0" is not a name."""
    first = lab.Variable(1.0, name="weight")
    second = lab.Variable(1.0)
    third = lab.constant(1.0, name="bias")
    with lab.record() as recording:
        _ = first * second + third
    assert leaves(recording) == ["weight", "second", "bias"]


def test_gradients_are_named_by_the_assignment() -> None:
    """``dw, db = tape.gradient(...)`` names the two results, and not the seed."""
    w, b = lab.Variable(3.0, name="w"), lab.Variable(1.0, name="b")
    with lab.record() as recording:
        with lab.GradientTape() as tape:
            y = w * w + b
        dw, db = tape.gradient(y, [w, b])
    (sweep,) = recording.sweeps
    assert [recording.tensors[r].name for r in sweep.results if r is not None] == ["dw", "db"]
    del dw, db


def test_containers_and_plain_objects_are_looked_into_one_level_deep() -> None:
    """``weights[0]``, ``layer['b']``, ``net.w`` and ``pair.left`` are names."""
    weights = [lab.Variable(1.0), lab.Variable(2.0)]
    layer = {"b": lab.Variable(3.0)}
    net = SimpleNamespace(w=lab.Variable(4.0), _hidden=lab.Variable(9.0))
    pair = Pair(lab.Variable(5.0), [lab.Variable(6.0)])
    with lab.record() as recording:
        lab.stack([*weights, layer["b"], net.w, net._hidden, pair.left, pair.right[0]])
    variables = [t.name for t in recording.tensors.values() if t.kind == "variable"]
    assert variables == ["weights[0]", "weights[1]", "layer['b']", "net.w", None, "pair.left", None]


def test_a_loop_variable_gives_its_name_last() -> None:
    """After a loop over weights, the last one is still called by its place in the list."""
    weights = [lab.Variable(1.0), lab.Variable(2.0)]
    with lab.record() as recording:
        for weight in weights:
            _ = weight * 2.0
    assert [t.name for t in recording.tensors.values() if t.kind == "variable"] == ["weights[0]", "weights[1]"]


def test_reading_names_runs_no_code_of_the_users() -> None:
    """Containers and objects that would raise or print when touched are left alone."""

    class Touchy(dict):
        def items(self) -> Any:
            raise RuntimeError("touched")

        def __getattr__(self, name: str) -> Any:
            raise RuntimeError("touched")

    class Row(list):
        def __getitem__(self, key: Any) -> Any:
            raise RuntimeError("touched")

    v = lab.Variable(1.0)
    found = names_in({"t": Touchy(v=v), "row": Row([lab.Variable(2.0)]), "_private": lab.Variable(3.0)})
    assert list(found.values()) == [["t['v']"], ["row[0]"]]


def test_members_are_named_as_the_program_reaches_them() -> None:
    """By index, key and attribute; braces are part of a key, and classes of users may derive from any of ours."""

    class Names(str):
        __slots__ = ("inside",)

    class Own:
        pass

    a, b, c, d, e = (lab.Variable(float(n)) for n in range(5))
    own, text = Own(), Names("text")
    own.a, own._b = a, b  # type: ignore[attr-defined]
    text.inside = e
    found = names_in({"own": own, "pair": Pair(1, b), "table": {"{0}": c, 3: d, (1,): e}, "text": text})
    assert found == {a._id: ["own.a"], b._id: ["pair.right"], c._id: ["table['{0}']"], d._id: ["table[3]"]}


def test_a_block_entered_through_an_exit_stack_finds_the_same_variables() -> None:
    """The frame that is read is the user's and not that of contextlib."""
    with ExitStack() as stack:
        recording = stack.enter_context(lab.record())
        hidden_in_stack = [lab.constant(1.0)]
        lab.sin(hidden_in_stack[0])
    assert leaves(recording) == ["hidden_in_stack[0]"]


def test_a_namespace_can_be_given() -> None:
    """Then the variables around the block do not count."""
    v = lab.Variable(1.0)
    with lab.record(namespace={"other": v}) as recording:
        _ = v * 2.0
    assert "other" in leaves(recording)


def test_names_from_hostile_sources_are_text_only() -> None:
    """A name is kept as it was given, whatever it contains."""
    v = lab.Variable(1.0, name="<script>alert(1)</script>")
    with lab.record() as recording:
        _ = v * 2.0
    assert leaves(recording)[0] == "<script>alert(1)</script>"
    assert "<script>" in recording.to_text()


def test_sources_that_cannot_be_read_or_parsed_give_no_names() -> None:
    """Code from `exec` without a source file is recorded like any other."""
    space: dict[str, Any] = {"lab": lab}
    with lab.record(namespace={}) as recording:
        exec(compile("y = lab.sin(lab.constant(1.0))", "<nowhere>", "exec"), space)
    assert names(recording) == [None]
    assert recording.line(recording.applications[0].place) == ""


@pytest.mark.parametrize(
    ("ops", "at_least", "ends"),
    [
        ("ab", 2, [1]),
        ("ababab", 2, [1, 3, 5]),
        ("aa", 2, [1]),
        ("aaaa", 2, [1, 3]),
        ("aaa", 1, [0, 1, 2]),
        ("abc", 1, [2]),
        ("a", 3, [0]),
    ],
)
def test_executions_are_the_shortest_repetition_that_holds_the_written_operations(
    ops: str, at_least: int, ends: list[int]
) -> None:
    """A loop is told from a long expression by how many operations are written in it."""
    assert [run[-1] for run in _executions(list(ops), at_least)] == ends
