"""The table of statements, concluded: products, linear algebra, losses, convolution and pooling."""

from __future__ import annotations

from typing import Any

from tests.peers.programs.draw import Pool
from tests.peers.programs.statements import add
from tests.peers.programs.values import Call, Ref

EQUATIONS = {
    "ij,jk->ik": ((2, 3), (3, 2)), "ij,ij->": ((2, 3), (2, 3)), "ij->ji": ((2, 3),), "ii->i": ((3, 3),),
    "ij->j": ((2, 3),), "ii": ((3, 3),),
    "...ij,...jk->...ik": ((2, 1, 3), (3, 2)), "bij,bjk->bik": ((2, 2, 3), (2, 3, 1)), "i,j->ij": ((2,), (3,)),
    "abc,cd->abd": ((1, 2, 3), (3, 2)), "ij,kj": ((2, 3), (1, 3)), "...i,...i->...": ((2, 1, 3), (1, 2, 3)),
}  # fmt: skip


def matrices(pool: Pool, name: str) -> Call:
    """A product of matrices, one of them turned at times."""
    x = pool.take("fci", 2, 3, manner="any" if pool.chance(0.5) else "tame")
    array = pool[x]
    rows, columns = array.shape[-2:]
    other = pool.choice.randrange(1, 4)
    first, second = pool.chance(0.3), pool.chance(0.3)
    inner = rows if first else columns
    shape = (other, inner) if second else (inner, other)
    if name == "linalg.matvec":
        y = pool.new(array.dtype.name, (*array.shape[:-2], inner))
        return Call(name, (x, y), {pool.choice.choice(["transpose_a", "adjoint_a"]): True} if first else {})
    y = pool.new(array.dtype.name, (*array.shape[:-2], *shape) if pool.chance(0.6) else shape)
    how = "adjoint" if pool.chance(0.3) else "transpose"
    kwargs = {f"{how}_a": True} if first else {}
    return Call(name, (x, y), {**kwargs, **({f"{how}_b": True} if second else {})})


def einsum(pool: Pool, name: str) -> Call:
    """An Einstein sum."""
    equation = pool.choice.choice(list(EQUATIONS))
    dtype = pool.dtype("fcI")
    return Call(name, (equation, *(pool.new(dtype, shape) for shape in EQUATIONS[equation])), {})


def tensordot(pool: Pool, name: str) -> Call:
    """A contraction over some axes."""
    dtype = pool.dtype("fcI")
    axes: Any = pool.choice.choice([0, 1, 2, [[0], [1]], [[1, 0], [0, 1]]])
    shapes = {"0": ((2,), (3,)), "1": ((2, 3), (3, 2)), "2": ((2, 3), (2, 3))}.get(str(axes), ((2, 3), (3, 2)))
    return Call(name, (*(pool.new(dtype, shape) for shape in shapes), axes), {})


def square(pool: Pool, name: str) -> Call:
    """A function of square matrices."""
    dtype = pool.dtype("FFFc")
    shape = pool.choice.choice([(2, 2), (3, 3), (3, 3), (2, 2, 2), (1, 1), (0, 0), (0, 2, 2)])
    return Call(name, (pool.new(dtype, shape, "tame"),), {})


def hermitian(pool: Pool, name: str) -> Call:
    """A function of a positive definite matrix: here the product of one with its adjoint is its argument."""
    dtype = pool.dtype("FFc")
    size = pool.choice.randrange(1, 4)
    x = pool.new(dtype, (size, size + 1), "tame")
    array = pool[x]
    made = array @ array.conj().T
    pool.inputs[x.at] = pool.arrays[x.at] = made.astype(dtype)
    return Call(name, (x,), {})


def systems(pool: Pool, name: str) -> Call:
    """A system of linear equations."""
    dtype = pool.dtype("FFc")
    a = pool.new(dtype, pool.choice.choice([(3, 3), (2, 2, 2)]), "tame")
    shape = pool[a].shape
    b = pool.new(dtype, (*shape[:-1], 2), "tame")
    adjoint = pool.chance(0.4)
    if name == "linalg.triangular_solve":
        return Call(name, (a, b), {"lower": pool.chance(0.5), "adjoint": adjoint})
    if name == "linalg.lstsq":
        tall = pool.new(dtype, (4, 2), "tame")
        return Call(name, (tall, pool.new(dtype, (4, 2), "tame")), {})
    return Call(name, (a, b), {"adjoint": adjoint})


def diagonals(pool: Pool, name: str) -> Call:
    """Diagonals taken, set and made."""
    if name in ("linalg.diag", "linalg.tensor_diag"):
        x = pool.take("fci", 1, 2)
        return Call(
            name, (x,), {"k": pool.choice.choice([0, 1, -1])} if name == "linalg.diag" and pool.chance(0.5) else {}
        )
    x = pool.take("fci", 2, 3)
    shape = pool[x].shape
    if name == "linalg.set_diag":
        return Call(name, (x, pool.new(pool[x].dtype.name, (*shape[:-2], min(shape[-2:])))), {})
    if name == "linalg.band_part":
        return Call(name, (x, pool.choice.choice([-1, 0, 1]), pool.choice.choice([-1, 0, 1])), {})
    if name == "linalg.tensor_diag_part":
        return Call(name, (pool.new(pool[x].dtype.name, pool.choice.choice([(2, 2), (2, 3, 2, 3)])),), {})
    return Call(name, (x,), {})


def losses(pool: Pool, name: str) -> Call:
    """A loss of logits."""
    dtype = pool.dtype("f")
    shape = pool.choice.choice([(2, 3), (4,), (2, 2, 3)])
    logits = pool.new(dtype, shape)
    if name == "nn.sparse_softmax_cross_entropy_with_logits":
        ids = pool.new("int32", shape[:-1], "tame")
        pool.inputs[ids.at] = pool.arrays[ids.at] = pool[ids] % shape[-1]
        return Call(name, (), {"labels": ids, "logits": logits})
    return Call(name, (), {"labels": pool.new(dtype, shape, "unit"), "logits": logits})


def convolved(pool: Pool, name: str) -> Call:
    """A convolution or a pooling."""
    dtype = pool.dtype("F")
    padding = pool.choice.choice(["SAME", "VALID"])
    stride = pool.choice.choice([1, 2])
    manner = "any" if pool.chance(0.2) else "tame"
    if name == "nn.conv1d":
        return Call(name, (pool.new(dtype, (1, 5, 2), manner), pool.new(dtype, (3, 2, 2), "tame"), stride, padding), {})
    x = pool.new(dtype, (1, 4, 3, 2), manner)
    if name == "nn.conv2d":
        return Call(name, (x, pool.new(dtype, (2, 2, 2, 3), "tame"), stride, padding), {})
    if name == "nn.depthwise_conv2d":
        return Call(name, (x, pool.new(dtype, (2, 2, 2, 2), "tame"), [1, stride, stride, 1], padding), {})
    return Call(name, (x, pool.choice.choice([2, [1, 2], 3]), stride, padding), {})


def normalized(pool: Pool, name: str) -> Call:
    """Moments, and a normalization by given ones."""
    x = pool.take("f", 2, 3)
    if name == "nn.moments":
        return Call(name, (x, pool.choice.choice([[0], [0, 1], [-1]])), {"keepdims": pool.chance(0.5)})
    parts: list[Ref] = [
        pool.new(pool[x].dtype.name, pool[x].shape[-1:], "tame" if n != 1 else "positive") for n in range(4)
    ]
    return Call(name, (x, *parts), {"variance_epsilon": 0.01})


def crossed(pool: Pool, name: str) -> Call:
    """A cross product."""
    dtype = pool.dtype("Fci")
    return Call(name, (pool.new(dtype, (2, 3)), pool.new(dtype, (2, 3))), {})


add(matrices, "matmul", "linalg.matmul", "linalg.matvec", times=3)
add(einsum, "einsum", times=4)
add(tensordot, "tensordot", times=2)
add(square, "linalg.inv", "linalg.det", "linalg.slogdet", "linalg.trace", "linalg.expm", "linalg.adjoint",
    "linalg.matrix_transpose", "linalg.pinv", "linalg.eigvals", "linalg.sqrtm")  # fmt: skip
add(hermitian, "linalg.cholesky", "linalg.eigvalsh", "linalg.logdet")
add(systems, "linalg.solve", "linalg.triangular_solve", "linalg.lstsq")
add(
    diagonals,
    "linalg.diag",
    "linalg.diag_part",
    "linalg.set_diag",
    "linalg.band_part",
    "linalg.tensor_diag",
    "linalg.tensor_diag_part",
)
add(losses, "nn.softmax_cross_entropy_with_logits", "nn.sparse_softmax_cross_entropy_with_logits",
    "nn.sigmoid_cross_entropy_with_logits", times=2)  # fmt: skip
add(convolved, "nn.conv1d", "nn.conv2d", "nn.depthwise_conv2d", "nn.max_pool2d", "nn.avg_pool2d")
add(normalized, "nn.moments", "nn.batch_normalization")
add(crossed, "linalg.cross")
