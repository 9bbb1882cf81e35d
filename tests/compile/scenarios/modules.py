"""Modules: their values, imports inside functions, replaced functions and built-ins, generated code."""

import builtins
import importlib
import math
import operator
import sys
import types

import numpy as np

import autodiff_lab as lab
from tests.compile.scenarios import X, scenario

SETTING = 2.0
cfg = types.ModuleType("scenario_cfg")
pkg = types.ModuleType("scenario_pkg")


def _module(name, **values):
    """A module of the user's, as if it had been imported."""
    module = types.ModuleType(name)
    vars(module).update(values)
    sys.modules[name] = module
    return module


@scenario(compiles=True)
def value_of_a_global_module(wrap):
    f = wrap(lambda x: x * cfg.rate)
    for cfg.rate in (2.0, 3.0):
        yield f(X)


@scenario()
def value_of_a_submodule(wrap):
    pkg.config = types.ModuleType("scenario_pkg.config")
    f = wrap(lambda x: x * pkg.config.rate)
    for pkg.config.rate in (2.0, 3.0):
        yield f(X)


@scenario()
def module_in_a_closure(wrap):
    module = _module("scenario_local", rate=2.0)
    f = wrap(lambda x: x * module.rate)
    for module.rate in (2.0, 3.0):
        yield f(X)


@scenario()
def module_in_a_namespace(wrap):
    names = types.SimpleNamespace(cfg=_module("scenario_named", rate=2.0))
    f = wrap(lambda x: x * names.cfg.rate)
    for names.cfg.rate in (2.0, 3.0):
        yield f(X)


@scenario()
def module_as_an_argument(wrap):
    module = _module("scenario_given", rate=2.0)
    f = wrap(lambda x, m: x * m.rate)
    for module.rate in (2.0, 3.0):
        yield f(X, module)


@scenario()
def import_inside(wrap):
    module = _module("scenario_inside", rate=2.0)

    @wrap
    def f(x):
        import scenario_inside

        return x * scenario_inside.rate

    for module.rate in (2.0, 3.0):
        yield f(X)


@scenario()
def from_import_inside(wrap):
    module = _module("scenario_from", rate=2.0)

    @wrap
    def f(x):
        from scenario_from import rate

        return x * rate

    for module.rate in (2.0, 3.0):
        yield f(X)


@scenario()
def import_by_name(wrap):
    module = _module("scenario_by_name", rate=2.0)
    f = wrap(lambda x: x * importlib.import_module("scenario_by_name").rate)
    for module.rate in (2.0, 3.0):
        yield f(X)


@scenario()
def module_replaced_in_sys_modules(wrap):
    _module("scenario_swapped", rate=2.0)
    f = wrap(lambda x: x * sys.modules["scenario_swapped"].rate)
    yield f(X)
    _module("scenario_swapped", rate=3.0)
    yield f(X)


@scenario()
def module_reloaded(wrap, tmp=[]):
    import pathlib
    import tempfile

    folder = pathlib.Path(tempfile.mkdtemp())
    name = f"scenario_reloaded_{folder.name}"
    (folder / f"{name}.py").write_text("def scaled(x):\n    return x * 2.0\n")
    sys.path.insert(0, str(folder))
    sys.dont_write_bytecode, before = True, sys.dont_write_bytecode
    try:
        module = importlib.import_module(name)
        f = wrap(lambda x: module.scaled(x))
        yield f(X)
        (folder / f"{name}.py").write_text("def scaled(x):\n    return x * 30.0\n")
        importlib.reload(module)
        yield f(X)
    finally:
        sys.path.remove(str(folder))
        sys.dont_write_bytecode = before


@scenario()
def module_getattr(wrap):
    module = _module("scenario_getattr")
    store = {"rate": 2.0}
    module.__getattr__ = store.__getitem__
    f = wrap(lambda x: x * module.rate)
    for store["rate"] in (2.0, 3.0):
        yield f(X)


@scenario()
def function_of_a_module_replaced(wrap):
    module = _module("scenario_patched", act=lambda x: x * 2.0)
    f = wrap(lambda x: module.act(x))
    yield f(X)
    module.act = lambda x: x * 3.0
    yield f(X)


@scenario()
def function_of_math_replaced(wrap):
    f = wrap(lambda x: x * math.floor(2.5))
    yield f(X)
    before = math.floor
    math.floor = lambda v: 7
    try:
        yield f(X)
    finally:
        math.floor = before


@scenario()
def op_replaced(wrap):
    f = wrap(lambda x: lab.square(x))
    yield f(X)
    before = lab.square
    lab.square = lambda x: x * 100.0
    try:
        yield f(X)
    finally:
        lab.square = before
    yield f(X)


@scenario()
def numpy_function_replaced(wrap):
    f = wrap(lambda x: x * float(np.prod([2, 3])))
    yield f(X)
    before = np.prod
    np.prod = lambda v: 5
    try:
        yield f(X)
    finally:
        np.prod = before


@scenario()
def builtin_replaced(wrap):
    f = wrap(lambda x: x * float(len("ab")))
    yield f(X)
    before = builtins.len
    builtins.len = lambda v: 7
    try:
        out = f(X)
    finally:
        builtins.len = before
    yield out


@scenario()
def method_replaced_on_the_class(wrap):
    class Model:
        def scale(self, x):
            return x * 2.0

    model = Model()
    f = wrap(lambda x: model.scale(x))
    yield f(X)
    Model.scale = lambda self, x: x * 3.0
    yield f(X)


@scenario()
def method_replaced_on_the_object(wrap):
    class Model:
        def scale(self, x):
            return x * 2.0

    model = Model()
    f = wrap(lambda x: model.scale(x))
    yield f(X)
    model.scale = lambda x: x * 3.0
    yield f(X)
    del model.scale
    yield f(X)


@scenario()
def method_added_that_was_inherited(wrap):
    class Base:
        def scale(self, x):
            return x * 2.0

    class Model(Base):
        pass

    model = Model()
    f = wrap(lambda x: model.scale(x))
    yield f(X)
    Model.scale = lambda self, x: x * 3.0
    yield f(X)


@scenario()
def eval_of_a_global(wrap):
    global SETTING
    f = wrap(lambda x: x * eval("SETTING"))
    for SETTING in (2.0, 3.0):
        yield f(X)


@scenario()
def globals_dict(wrap):
    global SETTING
    f = wrap(lambda x: x * globals()["SETTING"])
    for SETTING in (2.0, 3.0):
        yield f(X)


@scenario()
def exec_inside(wrap):
    names = {"n": 0}

    @wrap
    def f(x):
        exec("n += 1", names)
        return x * float(names["n"])

    for _ in range(3):
        yield f(X)
    yield names["n"]


@scenario(compiles=True)
def function_made_by_exec(wrap):
    names = {"k": 2.0}
    exec("def h(x): return x * k", names)
    f = wrap(names["h"])
    yield f(X)
    names["k"] = 5.0
    yield f(X)


@scenario()
def operator_functions(wrap):
    table, holder = {"k": 2.0}, types.SimpleNamespace(k=2.0)
    item, attribute = operator.itemgetter("k"), operator.attrgetter("k")
    f = wrap(lambda x: x * item(table) + attribute(holder))
    yield f(X)
    table["k"] = 3.0
    yield f(X)
    holder.k = 4.0
    yield f(X)


@scenario()
def method_caller(wrap):
    class Counter:
        n = 0.0

        def step(self):
            self.n += 1.0
            return self.n

    counter, step = Counter(), operator.methodcaller("step")
    f = wrap(lambda x: x * step(counter))
    for _ in range(3):
        yield f(X)
    yield counter.n


@scenario()
def config_of_the_package(wrap):
    f = wrap(lambda x: lab.cast(x, lab.as_dtype(names["dtype"])))
    names = {"dtype": "float64"}
    yield f(X)
    names["dtype"] = "float16"
    yield f(X)
