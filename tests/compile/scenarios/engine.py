"""State of the engine: variables, their attributes, trainable flags, subclasses, scopes, other compiled functions."""

import autodiff_lab as lab
from tests.compile.scenarios import X, attempt, scenario


def _slope(w):
    """The gradient of a product by `w`, and zero where it has none."""

    def f(x):
        with lab.GradientTape() as tape:
            y = w * x
        g = tape.gradient(y, w)
        return x * 0.0 if g is None else g * x

    return f


@scenario()
def trainable_set_later(wrap):
    w = lab.Variable(2.0)
    f = wrap(_slope(w))
    for flag in (True, False, True):
        try:
            w.trainable = flag
        except AttributeError:
            w._trainable = flag
        yield f(X)


@scenario(compiles=True)
def variable_assigned_between_calls(wrap):
    w = lab.Variable([1.0, 2.0])
    f = wrap(lambda x: x * w)
    for k in (1.0, 2.0, 3.0):
        w.assign(X * k)
        yield f(X)


@scenario(compiles=True)
def variable_replaced(wrap):
    class Model(lab.Module):
        pass

    model = Model()
    model.w = lab.Variable(2.0)
    f = wrap(lambda x: x * model.w)
    yield f(X)
    model.w = lab.Variable(5.0)
    yield f(X)


@scenario()
def variable_of_an_open_shape(wrap):
    w = lab.Variable([1.0, 2.0], shape=lab.TensorShape([None]))
    f = wrap(lambda: w * 2.0)
    yield f()
    w.assign([1.0, 2.0, 3.0])
    yield f()
    w.assign([1.0])
    yield f()


@scenario(compiles=True)
def list_of_variables_that_grows(wrap):
    ws = [lab.Variable(1.0)]
    f = wrap(lambda x: sum(w * x for w in ws))
    yield f(X)
    ws.append(lab.Variable(2.0))
    yield f(X)
    ws[0].assign(5.0)
    yield f(X)


@scenario(compiles=True)
def variable_in_a_dict(wrap):
    ws = {"a": lab.Variable(1.0)}
    f = wrap(lambda x, k: x * ws[k])
    yield f(X, "a")
    ws["b"] = lab.Variable(7.0)
    yield f(X, "b"), f(X, "a")


@scenario()
def attribute_of_a_variable(wrap):
    w = lab.Variable(2.0)
    f = wrap(lambda x: x * w.k)
    for k in (3.0, 5.0):
        if attempt(setattr, w, "k", k) is not None:
            break
        yield f(X)


@scenario()
def attribute_of_a_tensor(wrap):
    t = X * 2.0
    f = wrap(lambda x: x * t.k)
    for k in (3.0, 5.0):
        if attempt(setattr, t, "k", k) is not None:
            break
        yield f(X)


@scenario()
def attribute_of_a_subclass_of_variable(wrap):
    class Scaled(lab.Variable):
        pass

    w = Scaled(2.0)
    f = wrap(lambda x: x * w.k * w)
    for w.k in (3.0, 5.0):
        yield f(X)


@scenario()
def method_of_a_subclass_of_variable(wrap):
    class Counted(lab.Variable):
        reads = 0

        def scaled(self, x):
            self.reads += 1
            return x * self

    w = Counted(2.0)
    f = wrap(lambda x: w.scaled(x))
    for _ in range(3):
        yield f(X)
    yield w.reads


@scenario()
def attribute_of_a_subclass_of_tensor(wrap):
    class Tagged(lab.Tensor):
        pass

    t = attempt(lambda: Tagged([1.0, 2.0]))
    if isinstance(t, Exception):
        return
    t.k = 2.0
    f = wrap(lambda x: x * t.k)
    for t.k in (2.0, 3.0):
        yield f(X)


@scenario()
def attribute_of_a_module(wrap):
    class Model(lab.Module):
        def __init__(self):
            super().__init__()
            self.gain, self.calls = 2.0, 0

        def __call__(self, x):
            self.calls += 1
            return x * self.gain

    model = Model()
    f = wrap(lambda x: model(x))
    for model.gain in (2.0, 3.0):
        yield f(X)
    yield model.calls


@scenario()
def name_of_a_variable(wrap):
    w = lab.Variable(2.0, name="w")
    f = wrap(lambda x: x * float(len(w.name)))
    yield f(X), f(X)


@scenario()
def made_in_the_first_call(wrap):
    class Model:
        w = None

        def __call__(self, x):
            if self.w is None:
                self.w = lab.Variable(lab.ones(x.shape) * 3.0)
            return x * self.w

    model = Model()
    f = wrap(lambda x: model(x))
    for _ in range(3):
        yield f(X)
    model.w.assign(X)
    yield f(X)


@scenario()
def made_in_every_call(wrap):
    made = []

    @wrap
    def f(x):
        made.append(lab.Variable(x))
        return made[-1] * 2.0

    for k in (1.0, 2.0):
        yield f(X * k)
    yield made


@scenario()
def made_in_every_call_and_dropped(wrap):
    def f(x):
        w = lab.Variable(x)
        w.assign_add(x)
        return w * 2.0

    f = wrap(f)
    for k in (1.0, 2.0):
        yield f(X * k)


@scenario(compiles=True)
def assigned_in_a_loop(wrap):
    w = lab.Variable([1.0, 1.0])

    @wrap
    def f(x):
        for k in range(3):
            w.assign(w * x + float(k))
        return w.read_value()

    for _ in range(3):
        yield f(X * 0.5)
    yield w


@scenario(compiles=True)
def read_between_assignments(wrap):
    w = lab.Variable([1.0, 1.0])

    @wrap
    def f(x):
        a = w * 2.0
        w.assign(x)
        b = w * 2.0
        w.assign_sub(a)
        return a, b, w * 1.0

    for _ in range(3):
        yield f(X)
    yield w


@scenario()
def assignment_of_a_part(wrap):
    w = lab.Variable([1.0, 1.0])

    @wrap
    def f(x):
        w[0].assign(x[1])
        return w * 1.0

    for _ in range(2):
        yield f(X)
    yield w


@scenario()
def scattered_update(wrap):
    w = lab.Variable([1.0, 1.0])

    @wrap
    def f(x):
        w.scatter_add(lab.IndexedSlices(x[:1], lab.constant([1])))
        return w * 1.0

    for _ in range(2):
        yield f(X)
    yield w
