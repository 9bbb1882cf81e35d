"""TensorFlow, whole steps under ``tf.function``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.benchmarks.cases.case import Run
from tests.benchmarks.libraries.layers import LayersAndTapes
from tests.benchmarks.libraries.library import Library


class TensorFlow(LayersAndTapes, Library):
    """Tapes inside ``tf.function``."""

    package = family = "tensorflow"
    distribution = "tensorflow-cpu"

    def __init__(self, *, compiled: bool = False) -> None:
        super().__init__(compiled=compiled)
        self.tf: Any = self.module
        self.tf.config.threading.set_intra_op_parallelism_threads(1)
        self.tf.config.threading.set_inter_op_parallelism_threads(1)

    def version(self) -> str:
        return self.tf.__version__

    def gradients(self, forward: Callable[..., Any], leaves: list[Any], *constants: Any) -> Run:
        tf = self.tf
        sources, given = [tf.constant(x) for x in leaves], [tf.constant(x) for x in constants]

        def step(sources: Any, given: Any) -> Any:
            with tf.GradientTape() as tape:
                tape.watch(sources)
                value = forward(*sources, *given)
            return (value, *tape.gradient(value, sources))

        step = self._made(step)
        return lambda: step(sources, given)

    def compute(self, function: Callable[..., Any], *arguments: Any) -> Run:
        function, given = self._made(function), [self.tf.constant(x) for x in arguments]
        return lambda: (function(*given),)

    def array(self, result: Any) -> Any:
        return self.tf.convert_to_tensor(result).numpy()

    def _made(self, function: Callable[..., Any]) -> Callable[..., Any]:
        return self.tf.function(function) if self.compiled else function
