"""Matrix products inside Numba kernels: a call of a BLAS routine at an address known only at run time.

Needs Numba.  `kernels.blas.routine` gives the address; it travels into a kernel as an argument, so that machine code on
disk serves whatever library the next process finds.
"""
# pyright: reportUnusedFunction=false, reportReturnType=false, reportCallIssue=false
# ruff: noqa: ANN001, ANN201

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic, register_jitable

_ROW_MAJOR, _AS_IT_IS, _TRANSPOSED = 101, 111, 112  # the numbers that CBLAS gives them


@intrinsic
def _call(
    typing_context: Any, address: Any, width: Any, trans_a: Any, trans_b: Any, m: Any, n: Any, k: Any, alpha: Any,
    a: Any, lda: Any, b: Any, ldb: Any, beta: Any, c: Any, ldc: Any,
) -> Any:  # fmt: skip
    """Call ``cblas_?gemm`` with integers of 4 or 8 bytes; a, b and c are addresses."""
    whole = types.int64
    given = (
        whole, whole, types.boolean, types.boolean, whole, whole, whole, alpha, whole, whole, whole, whole, alpha,
        whole, whole,
    )  # fmt: skip

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        where, bytes_, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc = args
        short = ir.IntType(32)
        turned = [builder.select(t, short(_TRANSPOSED), short(_AS_IT_IS)) for t in (ta, tb)]
        pointer = ir.IntType(8).as_pointer()
        pa, pb, pc = (builder.inttoptr(p, pointer) for p in (a, b, c))

        def call(integer: Any, fit: Any) -> None:
            kinds = [short] * 3 + [integer] * 3 + [alpha.type, pointer, integer, pointer, integer, beta.type]
            kind = ir.FunctionType(ir.VoidType(), [*kinds, pointer, integer])
            function = builder.inttoptr(where, kind.as_pointer())
            m_, n_, k_, lda_, ldb_, ldc_ = (fit(v) for v in (m, n, k, lda, ldb, ldc))
            operands = (short(_ROW_MAJOR), *turned, m_, n_, k_, alpha, pa, lda_, pb, ldb_, beta, pc, ldc_)
            builder.call(function, operands)

        with builder.if_else(builder.icmp_signed("==", bytes_, bytes_.type(8))) as (wide, narrow):
            with wide:
                call(ir.IntType(64), lambda v: v)
            with narrow:
                call(short, lambda v: builder.trunc(v, short))
        return context.get_dummy_value()

    return types.void(*given), generate


@register_jitable
def call_gemm(address, width, trans_a, trans_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc):
    """Put ``alpha · op(a) @ op(b) + beta · c`` into c, as ``cblas_sgemm`` and ``cblas_dgemm`` do for rows in order.

    Parameters
    ----------
    address, width : int
        Of `autodiff_lab.kernels.blas.routine` for the dtype of the arrays: where the routine begins, and the bytes of
        its integers.
    trans_a, trans_b : bool
        Whether a is stored as (k, m) and b as (n, k), instead of (m, k) and (k, n).
    m, n, k : int
        op(a) is (m, k), op(b) is (k, n), c is (m, n); each below 2³¹.
    alpha, beta : float
        With beta = 0 what c held is not read, so c may be uninitialised.
    a, b, c : array
        Of any rank, one dtype, float32 or float64; the matrix begins at the first element. c overlaps neither.
    lda, ldb, ldc : int
        Elements from one stored row to the next.

    Notes
    -----
    Nothing is checked, as in BLAS: a wrong length reads or writes memory that is not the array's.
    """
    one = a.dtype.type(alpha)
    rest = a.dtype.type(beta)
    _call(
        address, width, trans_a, trans_b, m, n, k, one, a.ctypes.data, lda, b.ctypes.data, ldb, rest, c.ctypes.data, ldc
    )
