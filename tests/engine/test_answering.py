"""Values that implement `__lab_apply__`, which ops and public functions call."""

from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab.engine.op import REGISTRY, Op


class Heard:
    """Records how it was called, and returns its own tensor."""

    CURE = "Try its value."

    def __init__(self, value: Any) -> None:
        self.value = lab.constant(value)
        self.asked: list[tuple[Any, tuple[Any, ...], dict[str, Any]]] = []

    def __lab_apply__(self, op: Any, inputs: tuple[Any, ...], params: dict[str, Any]) -> Any:
        self.asked.append((op, inputs, params))
        return op(*[x.value if isinstance(x, Heard) else x for x in inputs], **params)


def test_an_op_of_one_operand_hands_over_itself() -> None:
    x = Heard([0.0, 1.0])
    assert lab.exp(x).numpy() == pytest.approx(np.exp([0.0, 1.0]))
    assert x.asked == [(REGISTRY["exp"], (x,), {})]


@pytest.mark.parametrize("other", [2.0, [3.0, 4.0], np.float32(2.0)], ids=str)
def test_an_op_of_two_operands_hands_over_the_other_as_it_was_given(other: Any) -> None:
    x = Heard([1.0, 2.0])
    assert np.all(lab.multiply(other, x).numpy() == np.array(other, np.float32) * np.array([1.0, 2.0]))
    assert np.all(lab.multiply(x, other).numpy() == np.array(other, np.float32) * np.array([1.0, 2.0]))
    assert [[i is other for i in inputs] for _, inputs, _ in x.asked] == [[True, False], [False, True]]


def test_the_first_operand_that_can_is_asked() -> None:
    x, y = Heard(1.0), Heard(2.0)
    assert float(lab.subtract(x, y)) == -1.0
    assert (len(x.asked), len(y.asked)) == (1, 0)


def test_a_variable_beside_it_is_read() -> None:
    x, v = Heard(2.0), lab.Variable(3.0)
    with lab.GradientTape() as tape:
        y = lab.multiply(v, x)
    assert x.asked[0][1][0].__class__ is lab.Tensor
    assert float(tape.gradient(y, v)) == 2.0


@pytest.mark.parametrize(
    ("function", "call", "inputs", "params"),
    [
        (lab.reduce_sum, lambda x: lab.reduce_sum(x, 0), 1, {"axis": 0, "keepdims": False}),
        (lab.math.reduce_std, lab.math.reduce_std, 1, {"axis": None, "keepdims": False}),
        (lab.reshape, lambda x: lab.reshape(x, (2, 1)), 1, {"shape": (2, 1)}),
        (lab.cast, lambda x: lab.cast(x, "float64"), 1, {"dtype": "float64"}),
        (lab.clip_by_value, lambda x: lab.clip_by_value(x, 0.0, 1.0), 3, {}),
        (lab.where, lambda x: lab.where([True, False], x, 0.0), 3, {}),
        (lab.boolean_mask, lambda x: lab.boolean_mask(x, [True, False]), 2, {"axis": None}),
    ],
    ids=lambda p: getattr(p, "__name__", ""),
)
def test_a_public_function_hands_over_itself_with_its_operands_and_its_other_arguments(
    function: Any, call: Any, inputs: int, params: dict[str, Any]
) -> None:
    x = Heard([1.0, 2.0])
    call(x)
    op, given, rest = x.asked[0]
    assert op is function
    assert len(given) == inputs
    assert rest == params


def test_a_list_that_holds_one_is_handed_over() -> None:
    class Joined(Heard):
        def __lab_apply__(self, op: Any, inputs: tuple[Any, ...], params: dict[str, Any]) -> Any:
            return op([x.value if isinstance(x, Heard) else x for x in inputs[0]], **params)

    assert lab.concat([lab.constant([1.0]), Joined([2.0])], axis=0).numpy().tolist() == [1.0, 2.0]


def test_what_takes_a_tensor_alone_refuses_with_the_advice_of_the_class() -> None:
    with pytest.raises(lab.errors.NotOneTensor, match=r"A Heard is not a single tensor.*Try its value"):
        lab.linalg.det(Heard([[1.0]]))


def test_an_op_can_be_called_and_has_the_name_of_its_function() -> None:
    op = REGISTRY["multiply"]
    assert isinstance(op, Op)
    assert op.__name__ == "multiply" == op.name
    assert float(op(2.0, 3.0)) == 6.0
