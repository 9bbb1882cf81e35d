"""Names of NumPy's, PyTorch's, JAX's and TensorFlow's functions of arrays, random numbers, signals and images."""

from __future__ import annotations

_WINDOW = "scipy.signal.windows, whose arrays can be multiplied by tensors"
_WRITE = "matplotlib.pyplot.imsave"
_KEYS = "seed=(...) of lab.random.stateless_normal and its kin, or lab.random.set_seed"
_FRAMES = "lab.signal.irfft, and lab.tensor_scatter_nd_add for the sum of the frames"
_SEGMENTS = "exponentials over lab.gather(lab.math.unsorted_segment_sum(exponentials, ids, n), ids)"
_KRON = "lab.einsum('ij,kl->ikjl', x, y), and lab.reshape"
_SAMPLE = "lab.gather_nd of the four neighbours, weighted by distance"
_READ = "matplotlib.pyplot.imread, which returns an array"

ARRAYS = {
    "absolute": "lab.abs", "kron": _KRON, "segment_softmax": _SEGMENTS, "all": "lab.reduce_all",
    "allclose": "lab.debugging.assert_near, or numpy.allclose",
    "amax": "lab.reduce_max", "amin": "lab.reduce_min", "any": "lab.reduce_any", "append": "lab.concat",
    "arccos": "lab.acos", "arccosh": "lab.acosh", "arcsin": "lab.asin", "arcsinh": "lab.asinh", "arctan": "lab.atan",
    "arctan2": "lab.atan2", "arctanh": "lab.atanh", "argwhere": "lab.where(condition)", "astype": "lab.cast",
    "associative_scan": "lab.scan, or lab.cumsum and lab.math.cumprod",
    "average": "lab.reduce_mean", "block": "lab.concat", "cdist": "lab.norm(x[:, None] - y[None], axis=-1)",
    "chunk": "lab.split", "clip": "lab.clip_by_value",
    "column_stack": "lab.stack(parts, axis=1)", "concatenate": "lab.concat", "copysign": "lab.sign(y) * lab.abs(x)",
    "cummax": "a loop over lab.maximum", "cumulative_max": "a loop over lab.maximum", "deg2rad": "x * (numpy.pi / 180)",
    "diag": "lab.linalg.diag, or lab.linalg.diag_part", "diagonal": "lab.linalg.diag_part", "diff": "x[1:] - x[:-1]",
    "digitize": "lab.searchsorted", "dstack": "lab.stack(parts, axis=2)", "empty": "lab.zeros",
    "empty_like": "lab.zeros_like", "exp2": "2.0 ** x", "flatten": "lab.reshape(x, [-1])",
    "flip": "lab.reverse(x, axis=[...])", "fliplr": "lab.reverse(x, axis=[1])", "flipud": "lab.reverse(x, axis=[0])",
    "heaviside": "lab.cast(x > 0.0, x.dtype)", "lerp": "x + (y - x) * weight", "matrix_exp": "lab.linalg.expm",
    "nanmean": "lab.reduce_mean(lab.boolean_mask(x, x == x))", "pi": "numpy.pi",
    "sinc": "lab.where(x == 0.0, 1.0, lab.sin(y) / y) with y = numpy.pi * lab.where(x == 0.0, 1.0, x)",
    "solve_triangular": "lab.linalg.triangular_solve", "tril_indices": "numpy.tril_indices",
    "triu_indices": "numpy.triu_indices", "vander": "x[:, None] ** lab.range(0.0, n)",
    "floor_divide": "x // y", "fmod": "lab.math.floormod, whose sign is that of y",
    "hsplit": "lab.split(x, n, axis=1)", "hstack": "lab.concat(parts, axis=-1)", "hypot": "lab.sqrt(x * x + y * y)",
    "i0": "lab.math.bessel_i0", "inner": "lab.linalg.tensordot", "isclose": "lab.abs(x - y) < tolerance",
    "isfinite": "lab.math.is_finite", "isinf": "lab.math.is_inf", "isnan": "lab.math.is_nan",
    "log10": "lab.math.log(x) / lab.math.log(10.0)", "log2": "lab.math.log(x) / lab.math.log(2.0)",
    "logaddexp": "lab.reduce_logsumexp(lab.stack([x, y]), axis=0)", "logcumsumexp": "lab.math.cumulative_logsumexp",
    "logspace": "10.0 ** lab.linspace(a, b, n)", "logsumexp": "lab.reduce_logsumexp",
    "masked_fill": "lab.where(mask, value, x)", "masked_select": "lab.boolean_mask", "max": "lab.reduce_max",
    "median": "lab.sort, and the element in the middle", "min": "lab.reduce_min", "mod": "x % y",
    "moveaxis": "lab.transpose(x, perm)", "movedim": "lab.transpose(x, perm)", "mul": "x * y",
    "nan_to_num": "lab.where(lab.math.is_nan(x), lab.zeros_like(x), x)", "narrow": "a slice, x[:, start:stop]",
    "nonzero": "lab.where(condition)", "outer": "x[:, None] * y",
    "percentile": "lab.sort, and an element of the result",
    "polar": "lab.complex(r * lab.cos(angle), r * lab.sin(angle))", "power": "lab.pow, or x ** y",
    "put_along_axis": "lab.tensor_scatter_nd_update", "quantile": "lab.sort, and an element of the result",
    "rad2deg": "x * (180 / numpy.pi)", "ravel": "lab.reshape(x, [-1])", "reciprocal": "1.0 / x", "remainder": "x % y",
    "repeat_interleave": "lab.repeat", "rot90": "lab.transpose and lab.reverse", "select": "lab.where, or a slice",
    "std": "lab.math.reduce_std", "sub": "x - y", "swapaxes": "lab.transpose(x, perm)",
    "take": "lab.gather(x, indices, axis=...)", "take_along_axis": "lab.gather(x, indices, axis=..., batch_dims=...)",
    "topk": "lab.math.top_k", "tril": "lab.linalg.band_part(x, -1, 0)", "triu": "lab.linalg.band_part(x, 0, -1)",
    "true_divide": "x / y", "trunc": "lab.sign(x) * lab.floor(lab.abs(x))", "unbind": "lab.unstack",
    "var": "lab.math.reduce_variance", "view": "lab.reshape", "vstack": "lab.concat(parts, axis=0)",
    **{name: f"x {sign} y" for name, sign in
       {"div": "/", "eq": "==", "ge": ">=", "gt": ">", "le": "<=", "lt": "<", "ne": "!=", "rem": "%"}.items()},
    **dict.fromkeys(("index_copy", "index_put", "scatter", "dynamic_update_slice"), "lab.tensor_scatter_nd_update"),
    **dict.fromkeys(("take_along_dim", "index_select"), "lab.gather(x, indices, axis=...)"),
    **dict.fromkeys(("trapezoid", "trapz"), "lab.reduce_sum((y[1:] + y[:-1]) * (x[1:] - x[:-1])) / 2.0"),
    **dict.fromkeys(("unfold", "im2col"), "lab.image.extract_patches, or lab.gather of windows"),
    **dict.fromkeys(("atleast_1d", "atleast_2d", "atleast_3d", "unflatten", "collapse"), "lab.reshape"),
    **dict.fromkeys(("broadcast_arrays", "broadcast_tensors"), "lab.broadcast_to"),
    **dict.fromkeys(("compress", "extract"), "lab.boolean_mask"), "expit": "lab.sigmoid", "logistic": "lab.sigmoid",
    **dict.fromkeys(("delete", "insert"), "lab.concat of the slices before and after"),
    **dict.fromkeys(("histogram", "histc"), "lab.histogram_fixed_width"),
    **dict.fromkeys(("kthvalue", "msort", "nanmedian"), "lab.sort, and an element of the result"),
    **dict.fromkeys(("partition", "argpartition"), "lab.math.top_k, or lab.sort"),
    "addmm": "bias + x @ y", "around": "lab.round", "array_equal": "lab.reduce_all(x == y)", "baddbmm": "bias + x @ y",
    "bernoulli": "lab.cast(lab.random.uniform(lab.shape(p)) < p, p.dtype)",
    "betaln": "lab.math.lbeta(lab.stack([a, b], axis=-1))",
    "bitcast_convert_type": "lab.bitcast", "bitwise_not": "lab.bitwise.invert",
    "block_diag": "lab.pad of each block, and lab.concat", "broadcast_shapes": "lab.broadcast_static_shape",
    "bucketize": "lab.searchsorted", "cartesian_prod": "lab.meshgrid, and lab.stack",
    "cbrt": "lab.sign(x) * lab.abs(x) ** (1.0 / 3.0)", "clamp_max": "lab.minimum", "clamp_min": "lab.maximum",
    "clone": "lab.identity", "convert_element_type": "lab.cast", "copy": "lab.identity",
    "correlate": "lab.nn.conv1d", "cov": "d @ lab.transpose(d) / (n - 1) with d = x - the means of its rows",
    "cumlogsumexp": "lab.math.cumulative_logsumexp", "cummin": "a loop over lab.minimum",
    "cumulative_prod": "lab.math.cumprod", "cumulative_sum": "lab.cumsum", "degrees": "x * (180 / numpy.pi)",
    "diag_embed": "lab.linalg.diag", "diagflat": "lab.linalg.diag(lab.reshape(x, [-1]))", "dist": "lab.norm(x - y)",
    "dot_general": "lab.einsum", "dynamic_slice": "lab.slice", "entr": "-lab.math.xlogy(x, x)",
    "erf_inv": "lab.math.erfinv", "expand": "lab.broadcast_to(x, shape)", "fabs": "lab.abs",
    "fix": "lab.sign(x) * lab.floor(lab.abs(x))", "float_power": "x ** y", "fmax": "lab.maximum",
    "fmin": "lab.minimum", "gammainc": "lab.math.igamma", "gammaincc": "lab.math.igammac",
    "gammaln": "lab.math.lgamma", "geomspace": "lab.exp(lab.linspace(lab.math.log(a), lab.math.log(b), n))",
    "ger": "x[:, None] * y", "index_fill": "lab.where(mask, value, x)", "inverse": "lab.linalg.inv",
    "iota": "lab.range", "isin": "lab.reduce_any(x[..., None] == values, axis=-1)", "ldexp": "x * 2.0 ** n",
    "logit": "lab.math.log(p / (1.0 - p))", "map": "lab.map_fn, or lab.vectorized_map", "mgrid": "lab.meshgrid",
    "mv": "lab.linalg.matvec", "nanmax": "lab.reduce_max(lab.boolean_mask(x, x == x))",
    "nanmin": "lab.reduce_min(lab.boolean_mask(x, x == x))",
    "nansum": "lab.reduce_sum(lab.where(lab.math.is_nan(x), lab.zeros_like(x), x))", "ndim": "x.ndim",
    "ndtr": "0.5 * lab.math.erfc(-x / 2.0 ** 0.5)", "neg": "-x", "numel": "lab.size", "permute_dims": "lab.transpose",
    "piecewise": "lab.where, or lab.case", "pinverse": "lab.linalg.pinv", "psi": "lab.math.digamma",
    "ptp": "lab.reduce_max(x) - lab.reduce_min(x)", "radians": "x * (numpy.pi / 180)", "reduce_window": "lab.nn.pool",
    "rev": "lab.reverse", "row_stack": "lab.concat(parts, axis=0)", "rsub": "y - x",
    "scatter_reduce": "lab.math.unsorted_segment_sum and its kin", "select_n": "lab.where", "signbit": "x < 0.0",
    "std_mean": "lab.nn.moments", "swapdims": "lab.transpose(x, perm)", "t": "lab.transpose",
    "tensor_split": "lab.split", "tri": "lab.linalg.band_part(lab.ones([n, n]), -1, 0)", "var_mean": "lab.nn.moments",
    "vdot": "lab.reduce_sum(lab.math.conj(x) * y)", "vecdot": "lab.reduce_sum(lab.math.conj(x) * y, axis=-1)",
    "vectorize": "lab.vectorized_map", "view_as_complex": "lab.complex(x[..., 0], x[..., 1])",
    "view_as_real": "lab.stack([lab.math.real(z), lab.math.imag(z)], axis=-1)", "vsplit": "lab.split(x, n, axis=0)",
}  # fmt: skip
"""Names of NumPy's, PyTorch's and JAX's functions of arrays."""

LINALG = {
    "cond": "the singular values of lab.linalg.svd", "kron": _KRON, "matrix_norm": "lab.norm",
    "matrix_power": "lab.matmul, once for each power", "multi_dot": "lab.matmul", "vector_norm": "lab.norm",
    **dict.fromkeys(("cholesky_ex", "cho_factor"), "lab.linalg.cholesky"), "cho_solve": "lab.linalg.cholesky_solve",
    "inv_ex": "lab.linalg.inv", "lu_factor": "lab.linalg.lu", "solve_ex": "lab.linalg.solve",
    "svdvals": "lab.linalg.svd", "toeplitz": "lab.gather(values, i[:, None] - i + n - 1) with i = lab.range(n)",
}  # fmt: skip

RANDOM = {
    "PRNGKey": _KEYS,
    "bernoulli": "lab.random.uniform(shape) < p", "beta": "x / (x + y) of two lab.random.gamma",
    "choice": "lab.gather(x, lab.random.uniform(shape, 0, n, lab.int32))",
    "dirichlet": "lab.random.gamma, divided by the sum", "exponential": "-lab.math.log1p(-lab.random.uniform(shape))",
    "laplace": "the difference of two draws of -lab.math.log1p(-lab.random.uniform(shape))",
    "multinomial": "lab.random.categorical", "permutation": "lab.random.shuffle",
    "rand": "lab.random.uniform", "randint": "lab.random.uniform with dtype=lab.int32", "randn": "lab.random.normal",
    "seed": "lab.random.set_seed", "standard_normal": "lab.random.normal",
    **dict.fromkeys(("fold_in", "key", "split"), _KEYS),
    "binomial": "lab.reduce_sum of draws of lab.random.uniform < p",
    "cauchy": "lab.tan(numpy.pi * (lab.random.uniform(shape) - 0.5))",
    "chisquare": "2.0 * lab.random.gamma(shape, k / 2)",
    "gumbel": "-lab.math.log(-lab.math.log(lab.random.uniform(shape)))",
    "logistic": "lab.math.log(u / (1.0 - u)) with u = lab.random.uniform(shape)",
    "lognormal": "lab.exp(lab.random.normal(shape))",
    "multivariate_normal": "mean + lab.linalg.matvec(lab.linalg.cholesky(covariance), lab.random.normal([..., n]))",
    "orthogonal": "lab.initializers.Orthogonal()(shape)", "rademacher": "lab.sign(lab.random.uniform(shape) - 0.5)",
}  # fmt: skip

SIGNAL = {
    "dct": "lab.matmul(x, scipy.fft.dct(numpy.eye(n)))", "fftfreq": "numpy.fft.fftfreq",
    "fftconvolve": "lab.nn.conv1d, or lab.signal.irfft of a product of lab.signal.rfft",
    "frame": "lab.gather(x, starts[:, None] + lab.range(length), axis=-1)", "hamming_window": _WINDOW,
    "hann_window": _WINDOW, "idct": "lab.matmul(x, scipy.fft.idct(numpy.eye(n)))",
    "inverse_stft": _FRAMES,
    "kaiser_window": _WINDOW, "linear_to_mel_weight_matrix": "librosa.filters.mel, whose matrix can be multiplied",
    **{f"{kind}2": f"lab.signal.{kind}2d" for kind in ("fft", "ifft", "rfft", "irfft")},
    "overlap_and_add": "lab.tensor_scatter_nd_add", "rfftfreq": "numpy.fft.rfftfreq",
    "stft": "lab.signal.rfft of the frames times a window; lab.gather makes the frames",
    **dict.fromkeys(("convolve", "correlate"), "lab.nn.conv1d"), "istft": _FRAMES,
    **{name: f"lab.signal.{name.rstrip('nd')}2d or {name.rstrip('nd')}3d" for name in
       ("fftn", "fftnd", "ifftn", "ifftnd", "irfftn", "irfftnd", "rfftn", "rfftnd")},
}  # fmt: skip

IMAGE = {
    "dense_image_warp": _SAMPLE, "grid_sample": _SAMPLE,
    "convert_image_dtype": "lab.cast(x, lab.float32) / 255.0",
    "decode_image": _READ, "decode_jpeg": _READ, "decode_png": _READ,
    "per_image_standardization": "lab.nn.moments",
    "random_brightness": "lab.image.adjust_brightness with a random number",
    "random_contrast": "lab.image.adjust_contrast with a random number",
    "random_crop": "a slice at a random place", "random_flip_left_right": "lab.image.flip_left_right, half of the time",
    "random_flip_up_down": "lab.image.flip_up_down, half of the time",
    "rot90": "lab.transpose and lab.reverse",
    **dict.fromkeys(("decode_bmp", "decode_gif", "decode_webp"), _READ), "encode_jpeg": _WRITE, "encode_png": _WRITE,
    **dict.fromkeys(("hsv_to_rgb", "rgb_to_hsv"), "matplotlib.colors, whose functions take arrays"),
    **dict.fromkeys(("rgb_to_yiq", "rgb_to_yuv", "yiq_to_rgb", "yuv_to_rgb"), "lab.tensordot(x, matrix, 1)"),
    **{f"stateless_random_{name}": f"lab.image.{name} and lab.random.stateless_uniform" for name in
       ("flip_left_right", "flip_up_down")},
    "adjust_gamma": "gain * x ** gamma",
    "adjust_saturation": "gray + (x - gray) * factor, with lab.image.rgb_to_grayscale",
    "grayscale_to_rgb": "lab.repeat(x, 3, axis=-1)",
    "image_gradients": "x[:, 1:] - x[:, :-1] and x[:, :, 1:] - x[:, :, :-1]",
    "non_max_suppression": "a loop over the boxes in order of their scores, in NumPy",
    "sobel_edges": "lab.nn.depthwise_conv2d with Sobel's two filters", "transpose": "lab.transpose(x, [0, 2, 1, 3])",
}  # fmt: skip

MATH = {
    **{name: f"lab.math.bessel_{name}" for name in ("i0e", "i1", "i1e")},
    "segment_softmax": _SEGMENTS,
}  # fmt: skip
