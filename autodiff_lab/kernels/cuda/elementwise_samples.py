"""Samples of fused kernels, as `lab.function` writes them: what the compile report sees.

Traffic: each sample reads every input once and writes every result once, the sums of rows excepted, which visit their
rows again while the first or second-level cache holds them.  Blocks have 256 threads and 1 or 2 kB of shared memory
where they fold; registers for the four elements of a thread limit how many blocks a multiprocessor holds.

The texts are written by ``python -m tests.compile.cuda_samples``; a test holds them against what is written now.
"""

from __future__ import annotations

from typing import Any

from autodiff_lab.kernels.cuda import elementwise_folds
from autodiff_lab.kernels.cuda.elementwise import namespace
from autodiff_lab.kernels.cuda.launching import KERNELS, Kernel

FOLDS = elementwise_folds.FOLDS
"""The kernels of the second stage, which stand in the report beside these."""


def _sample(title: str, types: str, text: str) -> None:
    """Declare the kernel of a text, for float32 and for float64."""
    for dtype in ("float32", "float64"):
        scope: dict[str, Any] = {**namespace(dtype), "__name__": __name__}
        exec(compile(text, f"<{title}>", "exec"), scope)
        function, name = scope[title], f"{title}_{dtype}"
        function.__name__ = name
        KERNELS[name] = Kernel(function, ("fused",), (types.replace("float32", dtype),), {})


_sample(
    "fused_chain",
    "float32[::1], float32[::1], float32[::1], uint32",
    """
@cuda.jit(device=True)
def fused_chain_element(x_i, y_i):
    grown_i = exp(x_i)
    v_i = grown_i * y_i
    v_2_i = v_i + x_i
    bent_i = tanh(v_2_i)
    v_3_i = bent_i * bent_i
    v_4_i = v_3_i + y_i
    root_i = sqrt(v_4_i)
    v_5_i = log1p(root_i)
    wave_i = sigmoid(v_5_i)
    v_6_i = wave_i * grown_i
    v_7_i = v_6_i - bent_i
    v_8_i = quotient(v_7_i, root_i)
    return v_8_i

def fused_chain(x, y, out_v_8, n):
    # block b begins with element 4 * THREADS * b; threads side by side take elements side by side
    i = uint32(4 * THREADS * cuda.blockIdx.x + cuda.threadIdx.x)
    while i + 3 * THREADS < n:  # four elements: their reads are under way together
        x_i0, x_i1, x_i2, x_i3 = x[i], x[i + THREADS], x[i + 2 * THREADS], x[i + 3 * THREADS]
        y_i0, y_i1, y_i2, y_i3 = y[i], y[i + THREADS], y[i + 2 * THREADS], y[i + 3 * THREADS]
        out_v_8[i] = fused_chain_element(x_i0, y_i0)
        out_v_8[i + THREADS] = fused_chain_element(x_i1, y_i1)
        out_v_8[i + 2 * THREADS] = fused_chain_element(x_i2, y_i2)
        out_v_8[i + 3 * THREADS] = fused_chain_element(x_i3, y_i3)
        i = uint32(i + 4 * THREADS * cuda.gridDim.x)
    while i < n:  # what is left
        x_i = x[i]
        y_i = y[i]
        out_v_8[i] = fused_chain_element(x_i, y_i)
        i = uint32(i + THREADS)
""",
)

_sample(
    "fused_total_and_slopes",
    "float32[::1], float32[::1], float32[::1], float32[::1], float32[::1], uint32",
    """
c0 = number(1.0)
c1 = number(1.0)
c2 = number(0.5)
@cuda.jit(device=True)
def fused_total_and_slopes_element(x_i, y_i):
    grown_i = exp(x_i)
    v_i = grown_i * y_i
    v_2_i = v_i + x_i
    bent_i = tanh(v_2_i)
    v_3_i = bent_i * bent_i
    v_4_i = v_3_i + y_i
    root_i = sqrt(v_4_i)
    v_5_i = log1p(root_i)
    wave_i = sigmoid(v_5_i)
    v_6_i = wave_i * grown_i
    v_7_i = v_6_i - bent_i
    v_8_i = quotient(v_7_i, root_i)
    g_v_8_i = quotient(c0, root_i)
    g_v_8_2_i = -v_8_i
    g_v_8_3_i = quotient(g_v_8_2_i, root_i)
    g_v_7_i = -g_v_8_i
    g_v_6_i = g_v_8_i * grown_i
    g_v_6_2_i = g_v_8_i * wave_i
    g_wave_i = c1 - wave_i
    g_wave_2_i = wave_i * g_wave_i
    g_wave_3_i = g_v_6_i * g_wave_2_i
    g_v_5_i = c1 + root_i
    g_v_5_2_i = quotient(g_wave_3_i, g_v_5_i)
    g_v_5_3_i = g_v_8_3_i + g_v_5_2_i
    g_root_i = g_v_5_3_i * c2
    g_root_2_i = quotient(g_root_i, root_i)
    g_v_3_i = g_root_2_i * bent_i
    g_v_3_2_i = g_v_7_i + g_v_3_i
    g_v_3_3_i = g_v_3_2_i + g_v_3_i
    g_bent_i = c1 - v_3_i
    g_bent_2_i = g_v_3_3_i * g_bent_i
    g_v_i = g_bent_2_i * y_i
    g_v_2_i = g_v_6_2_i + g_v_i
    g_v_4_i = g_bent_2_i * grown_i
    g_v_9_i = g_root_2_i + g_v_4_i
    g_grown_i = g_v_2_i * grown_i
    g_grown_2_i = g_bent_2_i + g_grown_i
    return g_v_9_i, g_grown_2_i, v_8_i

def fused_total_and_slopes(x, y, out_g_v_9, out_g_grown_2, parts_total, n):
    held = cuda.shared.array(THREADS, number)
    # block b begins with element 4 * THREADS * b; threads side by side take elements side by side
    sum_total = zero
    i = uint32(4 * THREADS * cuda.blockIdx.x + cuda.threadIdx.x)
    while i + 3 * THREADS < n:  # four elements: their reads are under way together
        x_i0, x_i1, x_i2, x_i3 = x[i], x[i + THREADS], x[i + 2 * THREADS], x[i + 3 * THREADS]
        y_i0, y_i1, y_i2, y_i3 = y[i], y[i + THREADS], y[i + 2 * THREADS], y[i + 3 * THREADS]
        g_v_9_i0, g_grown_2_i0, v_8_i0 = fused_total_and_slopes_element(x_i0, y_i0)
        out_g_v_9[i] = g_v_9_i0
        out_g_grown_2[i] = g_grown_2_i0
        sum_total = sum_total + v_8_i0
        g_v_9_i1, g_grown_2_i1, v_8_i1 = fused_total_and_slopes_element(x_i1, y_i1)
        out_g_v_9[i + THREADS] = g_v_9_i1
        out_g_grown_2[i + THREADS] = g_grown_2_i1
        sum_total = sum_total + v_8_i1
        g_v_9_i2, g_grown_2_i2, v_8_i2 = fused_total_and_slopes_element(x_i2, y_i2)
        out_g_v_9[i + 2 * THREADS] = g_v_9_i2
        out_g_grown_2[i + 2 * THREADS] = g_grown_2_i2
        sum_total = sum_total + v_8_i2
        g_v_9_i3, g_grown_2_i3, v_8_i3 = fused_total_and_slopes_element(x_i3, y_i3)
        out_g_v_9[i + 3 * THREADS] = g_v_9_i3
        out_g_grown_2[i + 3 * THREADS] = g_grown_2_i3
        sum_total = sum_total + v_8_i3
        i = uint32(i + 4 * THREADS * cuda.gridDim.x)
    while i < n:  # what is left
        x_i = x[i]
        y_i = y[i]
        g_v_9_i, g_grown_2_i, v_8_i = fused_total_and_slopes_element(x_i, y_i)
        out_g_v_9[i] = g_v_9_i
        out_g_grown_2[i] = g_grown_2_i
        sum_total = sum_total + v_8_i
        i = uint32(i + THREADS)
    sum_total = add_in_block(sum_total, held)
    if cuda.threadIdx.x == 0 and cuda.threadIdx.y == 0:
        parts_total[cuda.blockIdx.x] = sum_total
""",
)

_sample(
    "fused_broadcasting",
    "float32[::1], float32[::1], float32[::1], float32[::1], uint32, uint32, uint32",
    """
@cuda.jit(device=True)
def fused_broadcasting_element(x_i, weight_i, offset_i):
    v_i = x_i * weight_i
    v_2_i = v_i + offset_i
    v_3_i = tanh(v_2_i)
    return v_3_i

def fused_broadcasting(x, weight, offset, out_v_3, rows, columns, per):
    # a thread keeps to column c; threads side by side take columns side by side, blocks `per` rows each
    c = uint32(cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x)
    height = uint32(cuda.blockDim.y)
    if c < columns:
        weight_i = weight[c]
        r = uint32(cuda.blockIdx.y * per + cuda.threadIdx.y)  # its first row
        last = min(rows, uint32((cuda.blockIdx.y + 1) * per))
        step = uint32(height * columns)  # from a row of it to the next
        while r + 3 * height < last:  # four elements: their reads are under way together
            i = uint32(r * columns + c)
            x_i0, x_i1, x_i2, x_i3 = x[i], x[i + step], x[i + 2 * step], x[i + 3 * step]
            offset_i0 = offset[r]
            offset_i1 = offset[r + height]
            offset_i2 = offset[r + 2 * height]
            offset_i3 = offset[r + 3 * height]
            out_v_3[i] = fused_broadcasting_element(x_i0, weight_i, offset_i0)
            out_v_3[i + step] = fused_broadcasting_element(x_i1, weight_i, offset_i1)
            out_v_3[i + 2 * step] = fused_broadcasting_element(x_i2, weight_i, offset_i2)
            out_v_3[i + 3 * step] = fused_broadcasting_element(x_i3, weight_i, offset_i3)
            r = uint32(r + 4 * height)
        while r < last:  # what is left
            i = uint32(r * columns + c)
            x_i = x[i]
            offset_i = offset[r]
            out_v_3[i] = fused_broadcasting_element(x_i, weight_i, offset_i)
            r = uint32(r + height)
""",
)

_sample(
    "fused_sums_over_rows",
    "float32[::1], float32[::1], float32[::1], float32[::1], float32[::1], float32[::1], uint32, uint32, uint32",
    """
c0 = number(1.0)
@cuda.jit(device=True)
def fused_sums_over_rows_element(x_i, weight_i, offset_i):
    v_i = x_i * weight_i
    v_2_i = v_i + offset_i
    v_3_i = tanh(v_2_i)
    g_v_3_i = v_3_i * v_3_i
    g_v_3_2_i = c0 - g_v_3_i
    g_v_i = g_v_3_2_i * x_i
    return v_3_i, g_v_3_2_i, g_v_i

def fused_sums_over_rows(x, weight, offset, out_v_3, parts_g_v_2, parts_g_v_4, rows, columns, per):
    held = cuda.shared.array(THREADS, number)
    # a thread keeps to column c; threads side by side take columns side by side, blocks `per` rows each
    sum_g_v_2 = zero
    sum_g_v_4 = zero
    c = uint32(cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x)
    height = uint32(cuda.blockDim.y)
    if c < columns:
        weight_i = weight[c]
        offset_i = offset[c]
        r = uint32(cuda.blockIdx.y * per + cuda.threadIdx.y)  # its first row
        last = min(rows, uint32((cuda.blockIdx.y + 1) * per))
        step = uint32(height * columns)  # from a row of it to the next
        while r + 3 * height < last:  # four elements: their reads are under way together
            i = uint32(r * columns + c)
            x_i0, x_i1, x_i2, x_i3 = x[i], x[i + step], x[i + 2 * step], x[i + 3 * step]
            v_3_i0, g_v_3_2_i0, g_v_i0 = fused_sums_over_rows_element(x_i0, weight_i, offset_i)
            out_v_3[i] = v_3_i0
            sum_g_v_2 = sum_g_v_2 + g_v_3_2_i0
            sum_g_v_4 = sum_g_v_4 + g_v_i0
            v_3_i1, g_v_3_2_i1, g_v_i1 = fused_sums_over_rows_element(x_i1, weight_i, offset_i)
            out_v_3[i + step] = v_3_i1
            sum_g_v_2 = sum_g_v_2 + g_v_3_2_i1
            sum_g_v_4 = sum_g_v_4 + g_v_i1
            v_3_i2, g_v_3_2_i2, g_v_i2 = fused_sums_over_rows_element(x_i2, weight_i, offset_i)
            out_v_3[i + 2 * step] = v_3_i2
            sum_g_v_2 = sum_g_v_2 + g_v_3_2_i2
            sum_g_v_4 = sum_g_v_4 + g_v_i2
            v_3_i3, g_v_3_2_i3, g_v_i3 = fused_sums_over_rows_element(x_i3, weight_i, offset_i)
            out_v_3[i + 3 * step] = v_3_i3
            sum_g_v_2 = sum_g_v_2 + g_v_3_2_i3
            sum_g_v_4 = sum_g_v_4 + g_v_i3
            r = uint32(r + 4 * height)
        while r < last:  # what is left
            i = uint32(r * columns + c)
            x_i = x[i]
            v_3_i, g_v_3_2_i, g_v_i = fused_sums_over_rows_element(x_i, weight_i, offset_i)
            out_v_3[i] = v_3_i
            sum_g_v_2 = sum_g_v_2 + g_v_3_2_i
            sum_g_v_4 = sum_g_v_4 + g_v_i
            r = uint32(r + height)
    sum_g_v_2 = add_in_column(sum_g_v_2, held)
    sum_g_v_4 = add_in_column(sum_g_v_4, held)
    if c < columns and cuda.threadIdx.y == 0:
        parts_g_v_2[uint32(cuda.blockIdx.y * columns + c)] = sum_g_v_2
        parts_g_v_4[uint32(cuda.blockIdx.y * columns + c)] = sum_g_v_4
""",
)

_sample(
    "fused_shares_of_rows",
    "float32[::1], float32[::1], uint32, uint32",
    """
c0 = number(0.5)
@cuda.jit(device=True)
def fused_shares_of_rows_visit_1(x_i):
    v_i = x_i * c0
    return v_i

@cuda.jit(device=True)
def fused_shares_of_rows_visit_2(x_i, v_2_i):
    v_i = x_i * c0
    v_3_i = v_i - v_2_i
    v_4_i = exp(v_3_i)
    return v_4_i

@cuda.jit(device=True)
def fused_shares_of_rows_visit_3(x_i, v_5_i, v_2_i):
    v_i = x_i * c0
    v_3_i = v_i - v_2_i
    v_4_i = exp(v_3_i)
    shares_i = quotient(v_4_i, v_5_i)
    v_6_i = shares_i * x_i
    return v_6_i

def fused_shares_of_rows(x, out_v_6, rows, columns):
    held = cuda.shared.array(THREADS, number)
    # `width` threads side by side share row r; the block takes as many rows at once as it has room for
    lane, width = uint32(cuda.threadIdx.x), uint32(cuda.blockDim.x)
    first = uint32(cuda.blockIdx.x * cuda.blockDim.y)
    while first < rows:  # all threads of a block go on together
        here = first + cuda.threadIdx.y < rows
        r = uint32(first + cuda.threadIdx.y) if here else first
        end = columns if here else uint32(0)  # below the last row there are no elements
        low = uint32(r * columns)
        sum_v_2 = -infinity
        c = lane
        while c + 3 * width < end:  # four elements: their reads are under way together
            i = uint32(low + c)
            x_i0, x_i1, x_i2, x_i3 = x[i], x[i + width], x[i + 2 * width], x[i + 3 * width]
            v_i0 = fused_shares_of_rows_visit_1(x_i0)
            sum_v_2 = larger(sum_v_2, v_i0)
            v_i1 = fused_shares_of_rows_visit_1(x_i1)
            sum_v_2 = larger(sum_v_2, v_i1)
            v_i2 = fused_shares_of_rows_visit_1(x_i2)
            sum_v_2 = larger(sum_v_2, v_i2)
            v_i3 = fused_shares_of_rows_visit_1(x_i3)
            sum_v_2 = larger(sum_v_2, v_i3)
            c = uint32(c + 4 * width)
        while c < end:  # what is left
            i = uint32(low + c)
            x_i = x[i]
            v_i = fused_shares_of_rows_visit_1(x_i)
            sum_v_2 = larger(sum_v_2, v_i)
            c = uint32(c + width)
        v_2_i = largest_in_row(sum_v_2, held)
        sum_v_5 = zero
        c = lane
        while c + 3 * width < end:  # four elements: their reads are under way together
            i = uint32(low + c)
            x_i0, x_i1, x_i2, x_i3 = x[i], x[i + width], x[i + 2 * width], x[i + 3 * width]
            v_4_i0 = fused_shares_of_rows_visit_2(x_i0, v_2_i)
            sum_v_5 = sum_v_5 + v_4_i0
            v_4_i1 = fused_shares_of_rows_visit_2(x_i1, v_2_i)
            sum_v_5 = sum_v_5 + v_4_i1
            v_4_i2 = fused_shares_of_rows_visit_2(x_i2, v_2_i)
            sum_v_5 = sum_v_5 + v_4_i2
            v_4_i3 = fused_shares_of_rows_visit_2(x_i3, v_2_i)
            sum_v_5 = sum_v_5 + v_4_i3
            c = uint32(c + 4 * width)
        while c < end:  # what is left
            i = uint32(low + c)
            x_i = x[i]
            v_4_i = fused_shares_of_rows_visit_2(x_i, v_2_i)
            sum_v_5 = sum_v_5 + v_4_i
            c = uint32(c + width)
        v_5_i = add_in_row(sum_v_5, held)
        c = lane
        while c + 3 * width < end:  # four elements: their reads are under way together
            i = uint32(low + c)
            x_i0, x_i1, x_i2, x_i3 = x[i], x[i + width], x[i + 2 * width], x[i + 3 * width]
            out_v_6[i] = fused_shares_of_rows_visit_3(x_i0, v_5_i, v_2_i)
            out_v_6[i + width] = fused_shares_of_rows_visit_3(x_i1, v_5_i, v_2_i)
            out_v_6[i + 2 * width] = fused_shares_of_rows_visit_3(x_i2, v_5_i, v_2_i)
            out_v_6[i + 3 * width] = fused_shares_of_rows_visit_3(x_i3, v_5_i, v_2_i)
            c = uint32(c + 4 * width)
        while c < end:  # what is left
            i = uint32(low + c)
            x_i = x[i]
            out_v_6[i] = fused_shares_of_rows_visit_3(x_i, v_5_i, v_2_i)
            c = uint32(c + width)
        first = uint32(first + cuda.gridDim.x * cuda.blockDim.y)
""",
)
