"""A queue returns elements in order and without gradients, and never waits for what cannot come."""

from typing import Any

import pytest

import autodiff_lab as lab
from tests.refusals import refused


def test_elements_come_out_in_order() -> None:
    queue = lab.queue.FIFOQueue(5, [lab.int32, lab.float32], shapes=[(), (2,)])
    for i in range(3):
        queue.enqueue((i, [i + 0.5, i + 1.0]))
    assert int(queue.size()) == 3
    number, pair = queue.dequeue()
    assert (int(number), pair.numpy().tolist()) == (0, [0.5, 1.0])
    numbers, pairs = queue.dequeue_many(2)
    assert (numbers.numpy().tolist(), pairs.shape) == ([1, 2], (2, 2))
    assert int(queue.size()) == 0


def test_many_go_in_by_row() -> None:
    queue = lab.queue.FIFOQueue(5, [lab.float32], shapes=[()])
    queue.enqueue_many([[1.0, 2.0, 3.0]])
    assert queue.dequeue_many(2).numpy().tolist() == [1.0, 2.0]
    queue.close()
    assert queue.dequeue_up_to(5).numpy().tolist() == [3.0]


def test_elements_can_have_names() -> None:
    queue = lab.queue.FIFOQueue(2, [lab.float32, lab.string], names=["x", "label"])
    queue.enqueue({"x": 1.0, "label": "one"})
    element = queue.dequeue()
    assert (float(element["x"]), element["label"].numpy()) == (1.0, b"one")
    assert queue.names == ["x", "label"]


def test_gradients_stop_and_a_recording_hears_of_it() -> None:
    x = lab.Variable(3.0)
    with lab.record() as recording, lab.GradientTape() as tape:
        queue = lab.queue.FIFOQueue(3, [lab.float32], shapes=[()])
        y = x * x
        queue.enqueue(y)
        z = queue.dequeue() * 2.0
    assert float(z) == 18.0
    assert tape.gradient(z, x) is None
    assert [note.detail for note in recording.notes if note.kind == "left"] == ["queue"]


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda q: [q.enqueue(1.0) for _ in range(3)], lab.errors.QueueBlocked, "full"),
        (lambda q: q.dequeue(), lab.errors.QueueBlocked, "block forever"),
        (lambda q: (q.close(), q.dequeue()), lab.errors.OutOfRangeError, "closed"),
        (lambda q: (q.close(), q.enqueue(1.0)), lab.errors.QueueBlocked, "closed"),
        (lambda q: q.enqueue(lab.constant(1)), lab.errors.DtypeMismatch, "expected dtype float32, got int32"),
        (lambda q: q.enqueue([1.0, 2.0]), lab.errors.ShapeMismatch, r"got \(2,\)"),
        (lambda q: q.enqueue_many(1.0), lab.errors.ShapeMismatch, "rows"),
    ],
)  # fmt: skip
def test_refusals_say_why(call: Any, error: type[Exception], words: str) -> None:
    with refused(error, words):
        call(lab.queue.FIFOQueue(2, [lab.float32], shapes=[()]))


def test_batches_need_shapes() -> None:
    queue = lab.queue.FIFOQueue(2, lab.float32)
    queue.enqueue([1.0, 2.0])
    with pytest.raises(lab.errors.InvalidArgumentError, match="shapes"):
        queue.dequeue_many(1)
    assert not bool(queue.is_closed())
    with pytest.raises(lab.errors.InvalidArgumentError, match="got 2 for 1"):
        lab.queue.FIFOQueue(2, [lab.float32], names=["a", "b"])
    with pytest.raises(lab.errors.InvalidArgumentError, match="got 2 for 1"):
        lab.queue.FIFOQueue(2, [lab.float32], shapes=[(), ()])
