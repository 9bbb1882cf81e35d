"""JAX programs: arithmetic, trees of parameters, transformations, loops, rules of the user's own, networks."""

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

PROGRAMS = {}


def program(*args, wrt=0, order=1, has_aux=False):
    def enter(function):
        PROGRAMS[function.__name__] = (function, args, wrt, order, has_aux)
        return function

    return enter


def noise(*shape, seed=0):
    return jnp.asarray(np.random.default_rng(seed).normal(size=shape).astype(np.float32))


@program(3.0)
def square_and_sine(x):
    return x * x + jnp.sin(x)


@program(noise(3, 1), noise(4), wrt=(0, 1))
def broadcasting(a, b):
    return jnp.mean((a + b) * b - b / (1 + a * a))


@program(noise(4, 3), order=2)
def second_order(x):
    return jnp.sum(jnp.tanh(x) * x**3)


@program(1.5)
def nested_grad(x):
    return jax.grad(lambda t: jnp.sin(t) * t**2)(x) * x


@program(noise(5))
def hessian_vector(x):
    def f(t):
        return jnp.sum(t**3) * t[0]

    return jnp.sum(jax.jvp(jax.grad(f), (x,), (jnp.ones(5),))[1])


@program(noise(6))
def indexing(x):
    return x[2] * jnp.sum(x[1:4]) + jnp.sum(x.at[jnp.array([0, 0])].add(2.0) ** 2) + x[jnp.array([5, 1])].prod()


@program(noise(3, 4))
def reductions(x):
    return jnp.max(x) + jnp.std(x) + jnp.linalg.norm(x) + jnp.sum(jnp.cumsum(x, 0)) + jnp.sum(jnp.sort(x, axis=1)[:, 0])


@program(noise(3, 3))
def linear_algebra(a):
    spd = a @ a.T + 3 * jnp.eye(3)
    return jnp.linalg.slogdet(spd)[1] + jnp.sum(jnp.linalg.solve(spd, a)) + jnp.trace(jnp.linalg.cholesky(spd))


@program(noise(20))
def activations(x):
    n = jax.nn
    parts = [f(x) for f in (n.relu, n.gelu, n.silu, n.softplus, n.elu, n.leaky_relu, n.selu, n.sigmoid, n.softmax)]
    return jnp.sum(sum(parts) + n.log_softmax(x) + n.logsumexp(x))


@program(noise(10))
def masked(x):
    y = jnp.where(x > 0, jnp.sqrt(jnp.abs(x)), x**2)
    return jnp.sum(y + jnp.clip(x, -0.5, 0.5) + jnp.maximum(x, 0.1) + jnp.tril(x.reshape(2, 5)).ravel())


MLP = {"w1": noise(6, 8), "b1": jnp.zeros(8), "w2": noise(8, 3, seed=1), "b2": jnp.zeros(3)}


@program(MLP, noise(5, 6, seed=2), jnp.array([0, 1, 2, 0, 1]))
def mlp(params, x, labels):
    h = jax.nn.relu(x @ params["w1"] + params["b1"])
    logits = h @ params["w2"] + params["b2"]
    return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(logits), labels[:, None], axis=1))


class Dense(NamedTuple):
    kernel: jax.Array
    bias: jax.Array


@program([Dense(noise(4, 4), jnp.zeros(4)), Dense(noise(4, 2, seed=1), jnp.ones(2))], noise(3, 4), has_aux=True)
def layers_of_tuples(layers, x):
    for layer in layers:
        x = jnp.tanh(x @ layer.kernel + layer.bias)
    return jnp.sum(x**2), {"last": x}


@partial(jax.jit, static_argnums=1)
def power(x, n):
    return jnp.sum(x**n) + jnp.prod(x)


@program(noise(4))
def jitted(x):
    return power(x, 3) * power(x, 2)


@program(noise(3), noise(5, 3, seed=1))
def vmapped(w, xs):
    return jnp.sum(jax.vmap(lambda x: jnp.tanh(jnp.dot(w, x)))(xs))


@program(jnp.float32(0.5), noise(5))
def short_scan(w, xs):
    def step(carry, x):
        carry = jnp.tanh(w * carry + x)
        return carry, carry**2

    last, squares = lax.scan(step, 0.0, xs)
    return last + jnp.sum(squares)


@program(jnp.float32(0.9))
def long_scan(w):
    return lax.scan(lambda c, _: (jnp.sin(w * c) + 0.1, None), 1.0, None, length=100)[0]


@program(jnp.float32(0.9))
def counted_loop(w):
    return lax.fori_loop(0, 5, lambda i, c: c * w + i, 1.0)


@program(jnp.float32(2.0))
def open_loop_beside(x):
    steps = lax.while_loop(lambda i: i < 7, lambda i: i + 2, 0)
    return x * steps + jnp.exp(-x)


@program(jnp.float32(0.3))
def branches(x):
    y = lax.cond(x > 0, lambda t: jnp.sin(t), lambda t: t**2, x)
    return lax.switch(1, [jnp.cos, jnp.exp, jnp.tanh], y) + jnp.where(x > 1, x, y)


@jax.custom_vjp
def clipped_back(x):
    return x * 1.0


clipped_back.defvjp(lambda x: (x * 1.0, None), lambda _, g: (jnp.clip(g, -0.1, 0.1),))


@program(noise(4))
def custom_vjp(x):
    return jnp.sum(clipped_back(x * 3) ** 2)


@jax.custom_jvp
def softest(x):
    return jnp.log1p(jnp.exp(x))


@softest.defjvp
def _(primals, tangents):
    (x,), (t,) = primals, tangents
    return softest(x), jax.nn.sigmoid(x) * t


@program(noise(4))
def custom_jvp(x):
    return jnp.sum(softest(x * 2))


@program(noise(3, 3))
def checkpointed(w):
    f = jax.checkpoint(lambda x: jnp.tanh(x @ w))
    return jnp.sum(f(f(jnp.ones((2, 3)))))


@program(noise(4))
def stopped(x):
    return jnp.sum(lax.stop_gradient(jnp.exp(x)) * x)


@program(noise(2, 8, 8, 1), noise(3, 3, 1, 2, seed=1), wrt=(0, 1))
def convolution(x, kernel):
    y = lax.conv_general_dilated(x, kernel, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
    return jnp.mean(lax.reduce_window(jax.nn.relu(y), -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID"))


ATTENTION = {"qkv": noise(8, 24), "out": noise(8, 8, seed=1), "scale": jnp.ones(8)}


@program(ATTENTION, noise(4, 8, seed=2))
def attention(params, x):
    mean, var = jnp.mean(x, -1, keepdims=True), jnp.var(x, -1, keepdims=True)
    with jax.named_scope("attention"):
        q, k, v = jnp.split((x - mean) / jnp.sqrt(var + 1e-5) * params["scale"] @ params["qkv"], 3, axis=-1)
        scores = jnp.where(jnp.tril(jnp.ones((4, 4), bool)), q @ k.T / jnp.sqrt(8.0), -1e9)
        y = jax.nn.softmax(scores) @ v @ params["out"]
    return jnp.mean((x + y) ** 2)


@program({"w": noise(4, 4), "u": noise(3, 4, seed=1)}, noise(6, 3, seed=2))
def recurrent(params, xs):
    state = jnp.zeros(4)
    for x in xs:
        state = jnp.tanh(state @ params["w"] + x @ params["u"])
    return jnp.sum(state)


@program(noise(3), noise(4, 3, seed=1))
def maml(w, x):
    def loss(v):
        return jnp.mean((x @ v - 1) ** 2)

    return loss(w - 0.1 * jax.grad(loss)(w))


@program(noise(5), jax.random.key(0))
def random_numbers(x, key):
    kept = jax.random.bernoulli(key, 0.5, x.shape)
    return jnp.sum(jnp.where(kept, x / 0.5, 0.0) + jax.random.normal(key, x.shape) * x)


@program(jnp.array([1.0, 2.0], jnp.bfloat16))
def casts(x):
    return jnp.sum(x.astype(jnp.float32) ** 2 * jnp.exp(x.astype(jnp.float16)).astype(jnp.float32))


@program(noise(3))
def complex_numbers(x):
    z = lax.complex(x, x**2)
    return jnp.sum(jnp.abs(jnp.fft.fft(jnp.exp(1j * z))) ** 2)
