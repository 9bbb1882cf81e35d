"""Programs as users write them, for a type checker: `reveal_type` says the type, `wrong:` the rule that a line breaks."""

import numpy as np

import autodiff_lab as lab
from autodiff_lab.typing import TensorLike

x = lab.constant([1.0, 2.0])
w = lab.Variable(1.0, name="w")

# Names that do not exist are reported, lazily loaded ones are known.
lab.recor_graph(x)  # wrong: reportAttributeAccessIssue
lab.nn.rellu(x)  # wrong: reportAttributeAccessIssue
lab.math.lgama(x)  # wrong: reportAttributeAccessIssue
lab.random.nromal((2,))  # wrong: reportAttributeAccessIssue
reveal_type(lab.nn.relu(x))  # type: Tensor
reveal_type(lab.math.lgamma(x))  # type: Tensor

# Values: what becomes a tensor is accepted, what does not is reported.
lab.sin([1, 2.0])
lab.sin(np.zeros(3))
lab.exp(w)
lab.matmul([[1.0]], np.ones((1, 1)))
lab.reduce_sum([[x, x], (x, [1.0, 2.0])], axis=[0, 1])
lab.sin(None)  # wrong: reportArgumentType
lab.sin({1.0})  # wrong: reportArgumentType
lab.reduce_sum(x, axis="rows")  # wrong: reportArgumentType
lab.zeros((2, 3), dtype=3)  # wrong: reportArgumentType
lab.zeros((2, 3), dtpye=lab.float64)  # wrong: reportCallIssue
lab.transpose(x, perm={0: 1})  # wrong: reportArgumentType


def mean_square(values: TensorLike) -> lab.Tensor:
    return lab.reduce_mean(lab.square(values))


mean_square([1.0, 2.0])
mean_square(object())  # wrong: reportArgumentType

# Results.
reveal_type(x + 1.0)  # type: Tensor
reveal_type(x.numpy())  # type: ndarray[tuple[Any, ...], dtype[Any]]
x.numpy().mena()  # wrong: reportAttributeAccessIssue
x.reshap  # wrong: reportAttributeAccessIssue

# Tapes.
with lab.GradientTape() as tape:
    y = w * w
reveal_type(tape.gradient(y, w))  # type: Tensor | Any
reveal_type(tape.gradient(y, [w, w]))  # type: list[Tensor | Any]
reveal_type(tape.gradient(y, {"w": w}))  # type: dict[str, Tensor | Any]
reveal_type(tape.gradient(y, (w, w)))  # type: tuple[Tensor | Any, ...]
tape.gradient(y, w, unconected_gradients="zero")  # wrong: reportCallIssue
tape.gradiant(y, w)  # wrong: reportAttributeAccessIssue


# Decorators keep the parameters and the result.
@lab.function
def scaled(values: lab.Tensor, factor: float = 2.0) -> tuple[lab.Tensor, str]:
    return values * factor, "scaled"


reveal_type(scaled(x, factor=3.0))  # type: tuple[Tensor, str]
scaled(x, fator=3.0)  # wrong: reportCallIssue
scaled("x")  # wrong: reportArgumentType
reveal_type(scaled.fallbacks)  # type: int


@lab.function(backend="numpy")
def halved(values: lab.Tensor) -> lab.Tensor:
    return values / 2.0


reveal_type(halved(x))  # type: Tensor
halved(x, x)  # wrong: reportCallIssue


class Model(lab.Module):
    @lab.function
    def step(self, values: lab.Tensor) -> lab.Tensor:
        return values

    @lab.Module.with_name_scope
    def named(self, values: lab.Tensor) -> int:
        return 1


reveal_type(Model().step(x))  # type: Tensor
Model().step("x")  # wrong: reportArgumentType
reveal_type(Model().named(x))  # type: int
Model().named(x, 1)  # wrong: reportCallIssue


@lab.custom_gradient
def clipped(values: lab.Tensor):
    return lab.identity(values), lambda upstream: lab.minimum(upstream, 1.0)


reveal_type(clipped(x))  # type: Tensor
clipped(values=3)  # wrong: reportArgumentType


@lab.recompute_grad
def body(values: lab.Tensor, times: int) -> lab.Tensor:
    return values * float(times)


reveal_type(body(x, 2))  # type: Tensor
body(x, "2")  # wrong: reportArgumentType
reveal_type(lab.with_recomputation_in_pullbacks(x, halved))  # type: Tensor
reveal_type(lab.grad_pass_through(body)(x, times=1))  # type: Tensor
reveal_type(lab.gradient(lambda t: t * t)(3.0))  # type: Tensor
reveal_type(lab.value_with_gradient(lambda t: t * t)(3.0))  # type: tuple[Tensor, Tensor]

# Layers, losses, metrics, optimizers.
layer = lab.layers.Dense(3, activation="relu", kernel_regularizer="l2", trainable=False)
reveal_type(layer([[1.0, 2.0]]))  # type: Tensor | Any
lab.layers.Dense(3, activatoin="relu")  # wrong: reportCallIssue
lab.layers.LSTM(3, return_sequences=True, dropout=0.1, kernel_initializer="ones", name="reader")
lab.layers.LSTMCell(3, return_sequences=True)  # wrong: reportCallIssue
lab.layers.RNN([lab.layers.LSTMCell(3), lab.layers.GRUCell(2, reset_after=False)], return_state=True)
lab.layers.Dense(3, kernel_regulariser="l2")  # wrong: reportCallIssue
lab.keras.layers.BatchNormalization(momentun=0.9)  # wrong: reportCallIssue
lab.losses.MeanSquaredError(reductoin=None)  # wrong: reportCallIssue
lab.metrics.Mean(nmae="m")  # wrong: reportCallIssue
lab.optimizers.Adam(lr=0.1)  # wrong: reportCallIssue
lab.optimizers.SGD(learning_rate=0.1, momentum="much")  # wrong: reportArgumentType
