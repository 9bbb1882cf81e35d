"""Random programs as lists of instructions, evaluated without the engine: values by NumPy, derivatives by differences.

A program is made from a seed, keeps its values moderate, and ends in one number; the derivative of that number with
respect to any intermediate value is found by perturbing that value and running the rest again.
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

Array = np.ndarray
UNARY: dict[str, Callable[[Array], Array]] = {
    "sin": np.sin,
    "cos": np.cos,
    "tanh": np.tanh,
    "exp": np.exp,
    "square": np.square,
    "negative": np.negative,
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "softplus": lambda x: np.log1p(np.exp(x)),
    "log": np.log,
    "sqrt": np.sqrt,
}
BINARY: dict[str, Callable[[Array, Array], Array]] = {
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "divide": np.divide,
}
POSITIVE = {"log", "sqrt"}
STEP = 1e-5


@dataclass(frozen=True)
class Instruction:
    """One op on earlier values; positions count leaves first, then instructions in order."""

    op: str
    inputs: tuple[int, ...]


@dataclass(frozen=True)
class Program:
    """Leaves and instructions, the last of which is a sum to one number."""

    leaves: tuple[Array, ...]
    instructions: tuple[Instruction, ...]

    def values(self, moved: int | None = None, by: Array | float = 0.0) -> list[Array]:
        """Every value; that at position `moved` is changed before it is used."""
        values: list[Array] = []
        for at in range(len(self.leaves) + len(self.instructions)):
            value = self.leaves[at] if at < len(self.leaves) else self.run(at, values)
            values.append(value + by if at == moved else value)
        return values

    def run(self, at: int, values: Sequence[Array]) -> Array:
        """The result of the instruction that makes the value at a position."""
        instruction = self.instructions[at - len(self.leaves)]
        return apply(instruction.op, [values[source] for source in instruction.inputs])

    def slope(self, at: int) -> Array:
        """The derivative of the final number in every element of a value, by central differences."""
        value = np.asarray(self.values()[at], dtype=np.float64)
        slope = np.zeros(value.shape)
        for index in np.ndindex(value.shape):
            step = np.zeros(value.shape)
            step[index] = STEP
            after, before = (float(self.values(at, way * step)[-1]) for way in (1, -1))
            slope[index] = (after - before) / (2 * STEP)
        return slope


def apply(op: str, inputs: Sequence[Array]) -> Array:
    """Run one op in NumPy."""
    if op == "reduce_sum":
        return np.sum(inputs[0])
    return UNARY[op](inputs[0]) if op in UNARY else BINARY[op](inputs[0], inputs[1])


def local_slope(op: str, inputs: Sequence[Array], position: int) -> Array:
    """The derivative of an elementwise op in one of its inputs, by central differences."""
    ends = []
    for way in (1, -1):
        moved = list(inputs)
        moved[position] = moved[position] + way * STEP
        ends.append(apply(op, moved))
    return (ends[0] - ends[1]) / (2 * STEP)


def random_program(seed: int) -> Program:
    """Return a program of 6 to 14 ops on scalars, or on vectors of three numbers."""
    chance = random.Random(seed)
    shape = () if chance.random() < 0.5 else (3,)
    numbers = np.random.default_rng(seed)
    leaves = tuple(np.asarray(numbers.uniform(0.3, 2.0, shape)) for _ in range(chance.randint(1, 3)))
    values: list[Array] = list(leaves)
    instructions: list[Instruction] = []
    wanted = chance.randint(6, 14)
    while len(instructions) < wanted:
        op = chance.choice([*UNARY, *BINARY, *BINARY])
        newest = len(values) - 1
        sources = (newest if chance.random() < 0.6 else chance.randrange(len(values)), chance.randrange(len(values)))
        inputs = sources[:1] if op in UNARY else sources
        if op in POSITIVE and np.min(values[inputs[0]]) < 0.2:
            continue
        if op == "divide" and np.min(np.abs(values[inputs[1]])) < 0.3:
            continue
        value = apply(op, [values[source] for source in inputs])
        if not 1e-2 < np.max(np.abs(value)) < 20:
            continue
        instructions.append(Instruction(op, inputs))
        values.append(value)
    instructions.append(Instruction("reduce_sum", (len(values) - 1,)))
    return Program(leaves, tuple(instructions))
