"""JAX functions with one fault each: the cause that is to be found, and the op; the line of the fault is marked."""

import jax
import jax.numpy as jnp
from jax import lax

FAULTS = {}


def fault(cause, op, *args, source="w", wrt=0):
    def enter(function):
        FAULTS[function.__name__] = (cause, op, function, args, source, wrt)
        return function

    return enter


PAIR = jnp.array([1.2, 2.0])


@fault("stop_gradient", "stop_gradient", 0.5, 2.0)
def stopped(w, v):
    h = jnp.tanh(w)
    return lax.stop_gradient(h) * v  # here


@fault("not_watched", "mul", 0.5, 2.0, source="v")
def not_asked_for(w, v):
    return w * v  # here


@fault("integer", "convert_element_type", PAIR, 1.0)
def cast_to_whole_numbers(w, v):
    return jnp.sum(w.astype(jnp.int32) * v)  # here


@fault("not_differentiable", "argmax", PAIR, PAIR)
def by_argmax(w, v):
    best = jnp.argmax(w)  # here
    return v[best] * 2


@fault("not_differentiable", "gt", PAIR, PAIR)
def by_comparison(w, v):
    return jnp.sum((w > 1.5) * v)  # here


@fault("control_flow", None, 1.2, 2.0)
def decided_only(w, v):
    return lax.cond(w > 1, lambda t: t * 2, lambda t: t * 3, v)  # here


@fault("no_path", "mul", 1.2, 2.0)
def unused(w, v):
    return v * v  # here


@fault("zero", "relu", -1.2)
def dead_relu(w):
    return jax.nn.relu(w) * 2  # here


@fault("not_differentiable", "floor", jnp.array([1.2, 2.5]))
def rounded(w):
    return jnp.sum(jnp.floor(w))  # here


@fault("zero", "mul", 1.2)
def times_zero(w):
    return w * 0.0  # here


@fault("zero", "max", 0.5)
def below_the_maximum(w):
    return jnp.maximum(w, 1.0)  # here


@fault("not_finite", "sqrt", jnp.array([4.0, 0.0]))
def masked_branch(w):
    return jnp.sum(jnp.where(w > 0, jnp.sqrt(w), 0.0))  # here


@fault("not_finite", "sqrt", jnp.array([0.0, 0.0]))
def norm_at_zero(w):
    return jnp.sqrt(jnp.sum(w * w)) * 0.0  # here


@fault("not_finite", "sqrt", jnp.array([[3.0, 4.0], [1.0, 0.0], [0.0, 0.0]]))
def length_of_a_row_of_zeros(w):  # jax-ml/jax #5798; #347 is the masked branch above
    squares = jnp.sum(w * w, axis=1)
    return jnp.sum(jnp.where(squares > 0, jnp.sqrt(squares), 0.0))  # here


@fault("not_finite", "mul", jnp.array([1.0, 0.0]))
def log_of_zero(w):
    return jnp.sum(jnp.where(w > 0, w * jnp.log(w), 0.0))  # here


@fault("not_finite", "div", jnp.array([1.0, 0.0]))
def divided_by_zero(w):
    return jnp.sum(jnp.where(w != 0, 1.0 / w, 0.0))  # here


@fault("not_finite", "exp", jnp.array([1.0, 100.0]))
def overflow(w):
    return jnp.sum(jnp.exp(w))  # here


@jax.custom_vjp
def deaf(x, y):
    return x * y


deaf.defvjp(lambda x, y: (x * y, x), lambda x, g: (jnp.zeros_like(g), g * x))


@fault("rule_gave_none", "deaf", 1.5, 2.0)
def rule_of_zero(w, v):
    return deaf(w, v)  # here


@fault("stop_gradient", "stop_gradient", {"w": 1.5, "v": 2.0}, source="p['w']")
def stopped_in_a_tree(p):
    frozen = lax.stop_gradient(p["w"])  # here
    return frozen * p["v"]


@fault("not_differentiable", "sign", PAIR, PAIR)
def by_sign(w, v):
    return jnp.sum(jnp.sign(w) * v)  # here


@fault("zero", "clamp", jnp.array([5.0]))
def clipped(w):
    return jnp.sum(lax.clamp(0.0, w, 1.0))  # here
