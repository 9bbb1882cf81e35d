"""What optimizers refuse, and the constraints of variables that they apply."""

import logging

import pytest

import autodiff_lab as lab


def test_a_variable_of_whole_numbers_is_refused_and_stays() -> None:
    v = lab.Variable([1, 2], name="count")
    with pytest.raises(TypeError, match=r"count:0 is int32, and a gradient step would be truncated"):
        lab.optimizers.SGD(0.5).apply_gradients([(lab.constant([1.0, 1.0]), v)])
    assert v.numpy().tolist() == [1, 2]


def test_a_missing_gradient_among_others_is_logged_by_name(caplog: pytest.LogCaptureFixture) -> None:
    used, unused = lab.Variable(1.0, name="used"), lab.Variable(2.0, name="unused")
    with caplog.at_level(logging.WARNING, logger="autodiff_lab"):
        lab.optimizers.SGD(0.5).apply_gradients([(lab.constant(1.0), used), (None, unused)])
    assert [record.getMessage() for record in caplog.records] == [
        "apply_gradients: the gradient of unused:0 is None, so it is not changed. Try tape.explain(loss, variable)."
    ]
    assert (float(used), float(unused)) == (0.5, 2.0)


@pytest.mark.parametrize("kind", ["SGD", "Adam", "AdamW", "RMSprop", "Adagrad", "Nadam", "Adamax", "Adadelta"])
def test_a_setting_that_is_not_a_number_is_refused_when_the_optimizer_is_made(kind: str) -> None:
    make = getattr(lab.optimizers, kind)
    taken = 0
    for setting in ("learning_rate", "weight_decay", "clipnorm", "clipvalue", "global_clipnorm", "momentum", "beta_1",
                    "beta_2", "epsilon", "rho", "initial_accumulator_value"):  # fmt: skip
        try:
            make(**{setting: 0.5})
        except TypeError:
            continue
        taken += 1
        for value in ("0.5", [0.5, 0.5], {"a": 1}, object(), lab.ones(2)):
            with pytest.raises(lab.errors.InvalidArgumentError, match=f"{setting} must be a number"):
                make(**{setting: value})
    assert taken >= 6


@pytest.mark.parametrize("gradient", [lab.constant([True, False]), lab.constant(["a", "b"]), lab.constant([1j, 2j])])
def test_a_gradient_of_another_kind_is_refused_and_nothing_moves(gradient: lab.Tensor) -> None:
    v = lab.Variable([1.0, 2.0], name="v")
    with pytest.raises(lab.errors.DtypeMismatch, match=r"the gradient of v:0 is \w+, the variable float32"):
        lab.optimizers.Adam().apply_gradients([(gradient, v)])
    assert v.numpy().tolist() == [1.0, 2.0]


@pytest.mark.parametrize("pairs", [None, 3.0, object(), "ab", {"a": 1}, lab.ones(2)])
def test_what_is_not_a_list_of_pairs_is_refused(pairs: object) -> None:
    with pytest.raises(lab.errors.InvalidArgumentError, match="expected pairs of a gradient and a variable"):
        lab.optimizers.SGD().apply_gradients(pairs)  # type: ignore[arg-type]


@pytest.mark.parametrize(("kind", "compiled"), [
    ("SGD", False), ("Adam", False), ("AdamW", False), ("RMSprop", False), ("Adagrad", False), ("Adam", True),
    ("Nadam", False), ("Nadam", True), ("Adamax", False),
])  # fmt: skip
def test_a_constraint_holds_after_each_step_and_other_variables_move_freely(kind: str, compiled: bool) -> None:
    positive = lab.Variable([1.0, -2.0, 0.25], constraint=lab.nn.relu)
    unit = lab.Variable([3.0, 4.0], constraint=lambda w: w / lab.norm(w))
    free = lab.Variable([0.25])
    optimizer = getattr(lab.optimizers, kind)(0.5)

    def step(x: lab.Tensor) -> lab.Tensor:
        with lab.GradientTape() as tape:
            loss = x * (lab.reduce_sum(positive) + lab.reduce_sum(unit * unit) + lab.reduce_sum(free))
        sources = [positive, unit, free]
        optimizer.apply_gradients(zip(tape.gradient(loss, sources), sources, strict=True))
        return loss

    run = lab.function(step) if compiled else step
    for _ in range(3):
        run(lab.constant(2.0))
        assert (positive.numpy() >= 0).all()
        assert float(lab.norm(unit)) == pytest.approx(1.0, abs=1e-6)
    assert positive.numpy().tolist()[1:] == [0.0, 0.0]
    assert float(free[0]) < 0
    if compiled:
        assert not run.refusals  # type: ignore[attr-defined]


def test_no_tape_hears_of_a_constraint() -> None:
    v = lab.Variable([1.0, -1.0], constraint=lab.nn.relu)
    with lab.GradientTape() as tape:
        lab.optimizers.SGD(1.0).apply_gradients([(lab.constant([-1.0, 1.0]), v)])
    assert v.numpy().tolist() == [2.0, 0.0]
    assert v not in tape.watched_variables()
