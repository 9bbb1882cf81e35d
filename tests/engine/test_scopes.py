"""Name scopes: paths, the names of variables made inside, modules whose methods run in their own scope."""

import pickle
from typing import Any

import pytest

import autodiff_lab as lab


class TreeModule(lab.Module):
    """Creates one variable in its constructor and another when it is called."""

    def __init__(self, name: str | None = None) -> None:
        super().__init__(name)
        with self.name_scope:
            self.early = lab.Variable(1.0, name="early")

    @lab.Module.with_name_scope
    def __call__(self, x: Any) -> Any:
        if not hasattr(self, "late"):
            self.late = lab.Variable(x, name="late")
        return self.late * x


@pytest.mark.extras
def test_scopes_nest_and_come_before_the_names_of_variables() -> None:
    with lab.name_scope("foo") as outer:
        assert (outer, lab.Variable(1.0, name="bar").name) == ("foo/", "foo/bar:0")
        with lab.name_scope("baz") as inner:
            assert (inner, lab.Variable(1.0).name) == ("foo/baz/", "foo/baz/Variable:0")
        with lab.name_scope("top/") as top:
            assert (top, lab.Variable(1.0, name="v").name) == ("top/", "top/v:0")
        with lab.name_scope("") as root:
            assert (root, lab.Variable(1.0, name="v").name) == ("", "v:0")
        with lab.name_scope(inner):
            assert lab.get_current_name_scope() == "foo/baz"
    assert lab.Variable(1.0, name="v").name == "v:0"


@pytest.mark.extras
def test_a_scope_is_entered_again_and_decorates() -> None:
    scope = lab.name_scope("a")
    assert scope.name == "a"
    with scope, scope:
        assert lab.get_current_name_scope() == "a/a"

    @lab.name_scope("b")
    def inside() -> str:
        return lab.get_current_name_scope()

    assert inside() == "b"
    assert lab.get_current_name_scope() == ""
    with pytest.raises(ValueError, match="name must be a string"):
        lab.name_scope(3)  # type: ignore[arg-type]


def test_a_copy_of_a_variable_keeps_its_name_in_another_scope() -> None:
    with lab.name_scope("first"):
        v = lab.Variable(1.0, name="v", constraint=abs)
    with lab.name_scope("second"):
        copy = pickle.loads(pickle.dumps(v))  # noqa: S301 - our own
    assert (copy.name, copy.constraint) == ("first/v:0", abs)


def test_weights_of_layers_are_named_after_the_layer_alone() -> None:
    with lab.name_scope("somewhere"):
        layer = lab.layers.Dense(1, name="out")
        layer(lab.ones((1, 2)))
        optimizer = lab.optimizers.Adam()
        optimizer.build(layer.trainable_variables)
    assert [w.name for w in layer.weights] == ["out/kernel:0", "out/bias:0"]
    assert not any(v.name.startswith("somewhere") for v in optimizer.variables)


@pytest.mark.parametrize(("written", "said"), [
    ("TreeModule", "tree_module"), ("MLP2D", "mlp2_d"), ("ABCThing", "abc_thing"), ("lower_case", "lower_case"),
    ("HTTPServer2X", "http_server2_x"), ("A", "a"),
])  # fmt: skip
def test_a_module_is_named_after_its_class_in_words(written: str, said: str) -> None:
    assert type(written, (lab.Module,), {})().name == said


def test_methods_of_a_module_run_in_its_scope() -> None:
    module = TreeModule()
    module(2.0)
    assert [v.name for v in module.variables] == ["tree_module/early:0", "tree_module/late:0"]
    with lab.name_scope("outer"):
        other = TreeModule("mine")
    other(2.0)  # the scope is that in which it was made
    assert [v.name for v in other.variables] == ["outer/mine/early:0", "outer/mine/late:0"]
    assert module.name_scope.name == "tree_module/"
