"""What cannot be replayed runs eagerly and says why; what a function reads is checked before each call."""

import dataclasses
import io
import operator
import random
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab

x2 = lab.constant([1.0, -2.0])
SETTINGS = {"rate": 0.5}
SCALE = 2.0
GREETED: list[int] = []
LARGE = np.ones(1_100_000, np.float32)
QUEUE = lab.queue.FIFOQueue(10, ["float32"])
total_of_calls = 0


def leaves_by_float(x: Any) -> Any:
    return x * float(x[0])


def leaves_by_numpy(x: Any) -> Any:
    return x * float(np.sum(x))


def large_array_enters(x: Any) -> Any:
    return x * LARGE[:2]


def values_of_a_queue_enter(x: Any) -> Any:
    QUEUE.enqueue(x)
    return x * QUEUE.dequeue()


def asks_numpy_what_time_it_is(x: Any) -> Any:
    return x * np.datetime64("now").astype("int64").astype("float32")


def draws(x: Any) -> Any:
    return lab.random.gamma((2,), alpha=lab.abs(x) + 1.0)


def sets_the_seed(x: Any) -> Any:
    lab.random.set_seed(1)
    return x


def draws_counts(x: Any) -> Any:
    return lab.random.poisson((2,), lab.abs(x))


def draws_with_numpy(x: Any) -> Any:
    return x * float(np.random.rand())  # noqa: NPY002


def draws_with_python(x: Any) -> Any:
    return x * random.random()


def looks_at_the_clock(x: Any) -> Any:
    return x * time.perf_counter()


def prints(x: Any) -> Any:
    print("hello")
    return x


def appends(x: Any) -> Any:
    GREETED.append(1)
    return x


def counts(x: Any) -> Any:
    global total_of_calls  # noqa: PLW0603
    total_of_calls += 1
    return x * total_of_calls


def returns_an_object(x: Any) -> Any:
    return io.StringIO()


def makes_a_variable(x: Any) -> Any:
    return lab.Variable(lab.zeros((2,))) + x


def steps_by_value(x: Any) -> Any:
    return lab.range(0.0, lab.abs(x[1]), 1.0)


CASES: list[tuple[Callable[[Any], Any], str]] = [
    (leaves_by_float, "float"), (leaves_by_numpy, "__array__"),
    (large_array_enters, "LARGE, an array of shape (1100000,), larger than 4 MiB: pass it as an argument"),
    (values_of_a_queue_enter, "queue"), (asks_numpy_what_time_it_is, "datetime64"),
    (draws, "random"), (draws_with_numpy, "random"), (draws_with_python, "random"),
    (looks_at_the_clock, "time"), (prints, "print"), (appends, "GREETED"), (counts, "total_of_calls"),
    (draws_counts, "random"), (sets_the_seed, "seed"),
    (returns_an_object, "StringIO"), (makes_a_variable, "Variable"),
    (steps_by_value, "range"),
]  # fmt: skip


@pytest.mark.parametrize(("function", "words"), CASES, ids=[f.__name__ for f, _ in CASES])
def test_what_cannot_be_replayed_runs_eagerly_and_says_why(function: Callable[[Any], Any], words: str) -> None:
    compiled = lab.function(function)
    for _ in range(3):
        compiled(x2)
    assert compiled.fallbacks == 3
    assert words in compiled.why()
    with pytest.raises(lab.errors.InvalidArgumentError, match="no program"):
        _ = compiled.program


def test_side_effects_happen_each_time(capsys: pytest.CaptureFixture[str]) -> None:
    GREETED.clear()
    loud, counted = lab.function(prints), lab.function(appends)
    for _ in range(3):
        loud(x2)
        counted(x2)
    assert capsys.readouterr().out == "hello\n" * 3
    assert len(GREETED) == 3


def test_refused_functions_give_eager_results_for_other_values() -> None:
    compiled = lab.function(leaves_by_float)
    for values in ([1.0, 1.0], [-1.0, -5.0], [2.0, 2.0]):
        x = lab.constant(values)
        assert np.array_equal(compiled(x).numpy(), leaves_by_float(x).numpy())


def test_why_names_the_line() -> None:
    compiled = lab.function(leaves_by_float)
    compiled(x2)
    line = leaves_by_float.__code__.co_firstlineno + 1
    assert f"line {line} of {__file__}" in compiled.why()


def test_a_changed_global_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    f = lab.function(lambda x: x * SCALE)
    assert np.array_equal(f(x2).numpy(), [2.0, -4.0])
    monkeypatch.setitem(globals(), "SCALE", 3.0)
    assert np.array_equal(f(x2).numpy(), [3.0, -6.0])


def test_a_changed_dict_list_closure_attribute_and_helper_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    weights = [1.0, 2.0]
    offset = 1.0

    class Holder:
        factor = 1.0

    holder = Holder()
    holder.factor = 2.0

    def helper(x: Any) -> Any:
        return x * holder.factor + offset

    def f(x: Any) -> Any:
        return helper(x) * SETTINGS["rate"] + lab.constant(weights)

    compiled = lab.function(f)

    def check() -> None:
        assert np.array_equal(compiled(x2).numpy(), f(x2).numpy())

    check()
    weights[0] = 10.0
    check()
    offset = 5.0
    check()
    holder.factor = 7.0
    check()
    monkeypatch.setitem(SETTINGS, "rate", 0.25)
    check()
    assert compiled.fallbacks == 0


def test_a_learning_rate_that_is_set_is_seen() -> None:
    v = lab.Variable([1.0, 1.0])
    optimizer = lab.optimizers.SGD(1.0)

    @lab.function
    def step() -> None:
        optimizer.apply_gradients([(lab.constant([1.0, 2.0]), v)])

    step()
    step()
    optimizer.learning_rate = 10.0
    step()
    assert np.array_equal(v.numpy(), [-11.0, -23.0])
    assert not step.fallbacks  # the first call, which builds the optimizer's state, is none


def test_what_changes_at_every_call_is_not_traced_for_ever() -> None:
    holder = {"n": 0.0}
    f = lab.function(lambda x: x * holder["n"])
    for n in range(12):
        holder["n"] = float(n) + 0.5
        assert np.array_equal(f(x2).numpy(), (x2 * holder["n"]).numpy())
    assert "changes from call to call" in f.why()


def test_constants_and_loops_over_them_are_no_exit() -> None:
    @lab.function
    def f(x: Any) -> Any:
        total = x
        for i in lab.range(3):
            total = total + float(i)
        return total

    f(x2)
    assert np.array_equal(f(x2).numpy(), [4.0, 1.0])
    assert f.fallbacks == 0


def test_an_error_that_the_function_catches_is_not_baked_in() -> None:
    def f(x: Any, i: Any) -> Any:
        try:
            return lab.gather(x, i)
        except lab.errors.InvalidArgumentError:
            return x * 0.0

    good, bad = lab.constant([1]), lab.constant([7])
    for order in ((bad, good, bad), (good, bad, good)):
        compiled = lab.function(f)
        for i in order:
            assert np.array_equal(compiled(x2, i).numpy(), f(x2, i).numpy())


@pytest.mark.parametrize("name", ["segment_prod", "unsorted_segment_prod"])
def test_a_refusal_names_the_function_that_was_called_and_no_wrapper_of_it(name: str) -> None:
    called = getattr(lab.math, name)
    more = [100] if name.startswith("un") else []

    @lab.function
    def program(ids: lab.Tensor) -> lab.Tensor:
        return called(ids, ids, *more)

    program(lab.range(100))
    assert [refusal.reason for refusal in program.refusals] == [f"{name} looks at the values of a tensor"]


GET_RATE = operator.attrgetter("rate")


@dataclasses.dataclass
class Settings:
    rate: float = 2.0


NOW = Settings()


def gets_by_a_path(x: Any) -> Any:
    return x * GET_RATE(NOW)


def asks_a_library(x: Any) -> Any:
    return x * dataclasses.asdict(NOW)["rate"]


def takes_a_ratio(x: Any) -> Any:
    return lab.nn.leaky_relu(x, x[0])


NAMED: list[tuple[Callable[[Any], Any], str]] = [
    (gets_by_a_path, "GET_RATE (an attrgetter)"), (asks_a_library, "asdict() is called"),
    (takes_a_ratio, "leaky_relu looks at the values of a tensor"),
]  # fmt: skip


@pytest.mark.parametrize(("function", "words"), NAMED, ids=[f.__name__ for f, _ in NAMED])
def test_a_reason_names_what_the_user_knows_and_a_line_of_the_users(function: Callable[[Any], Any], words: str) -> None:
    compiled = lab.function(function)
    compiled(x2)
    assert words in compiled.why()
    assert {r.place for r in compiled.refusals} == {(__file__, function.__code__.co_firstlineno + 1)}


X = lab.ones((3, 4))
WRONG_PLACES: list[Any] = [
    np.array([0, 1]), (np.array([0, 1]), np.array([1, 2])), np.array([1.0]), (np.array([True, False, True]), 1), "a",
    1.5, (0, (1, 2)), (..., ...), (0, 0, 0), [0, 1, 2], lab.constant([0, 1]), (lab.constant(5), 0), 7,
    (None, np.array([0, 1])), slice(0.5, 2),
]  # fmt: skip


@pytest.mark.parametrize("place", WRONG_PLACES, ids=str)
def test_a_wrong_place_is_refused_as_in_the_eager_function(place: Any) -> None:
    said: list[str] = []
    for wrap in (lambda f: f, lab.function):
        with pytest.raises(lab.errors.LabError) as caught:
            wrap(lambda x: x[place])(X)
        said.append(str(caught.value).partition("\n")[0])
    assert said[0] == said[1]
    assert "Try" in said[0] or "out of" in said[0] or "ellipsis" in said[0]
