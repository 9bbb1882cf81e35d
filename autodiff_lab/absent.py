"""What programs written for Keras, TensorFlow or PyTorch ask for and this package does not have: what to use instead.

Each table maps a name to the end of the message for it. A namespace answers with them through a module-level
``__getattr__``, a class through `Elsewhere`; every other missing name keeps Python's ordinary AttributeError.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from types import ModuleType
from typing import Any, NoReturn

_TAPE = "with lab.GradientTape() as tape: ..., then tape.gradient(y, x)"
_ONE_PROCESS = "lab.device or model.move_to: a program runs in one process, on one device at a time"
_DOWNLOADS = "nothing is downloaded"
_FILES = "numpy.load or Python's open to read files, then lab.data.Dataset.from_tensor_slices for the arrays"
_INPUTS = "encode before the model, in dataset.map, with lab.strings and lab.one_hot, or with scikit-learn"
_IMAGES = "lab.image in dataset.map, or a layer of your own"
_GRADIENTS = "nothing: gradients are returned and never stored"

ROOT = {
    "Session": "nothing: operations run at once, x.numpy() gives the value", "arange": "lab.range",
    "Function": "lab.custom_gradient",
    "convolve": "lab.nn.conv1d", "interp": "lab.searchsorted and lab.gather", "jacobian": "tape.jacobian",
    "kron": "lab.einsum('ij,kl->ikjl', x, y), and lab.reshape", "tree_map": "lab.nest.map_structure",
    "value_and_gradient": "lab.value_with_gradient",
    "index_add": "lab.tensor_scatter_nd_add, or lab.math.unsorted_segment_sum into zeros",
    "scatter_add": "lab.tensor_scatter_nd_add, or lab.math.unsorted_segment_sum into zeros",
    "segment_softmax": "exponentials over lab.gather(lab.math.unsorted_segment_sum(exponentials, ids, n), ids)",
    "array": "lab.constant", "as_tensor": "lab.constant", "asarray": "lab.constant",
    "audio": "scipy.io.wavfile, and lab.signal for transforms",
    "autograd": "lab.GradientTape, lab.gradient and lab.custom_gradient; lab.record finds where a nan begins",
    "autograph": "lab.cond and lab.while_loop; the code of a lab.function is not rewritten",
    "bmm": "lab.matmul, or x @ y",
    "cat": "lab.concat", "clamp": "lab.clip_by_value",
    "cuda": "lab.device('/GPU:0'), and lab.config.list_physical_devices('GPU')",
    "compat": "the names without it: they are those of version 2", "distribute": _ONE_PROCESS,
    "dot": "lab.matmul, or x @ y", "enable_eager_execution": "nothing: operations run at once",
    "estimator": "keras.Model with compile and fit",
    "experimental": "the function of lab, such as lab.vectorized_map, or lab.gather for take_along_axis of NumPy",
    "feature_column": "keras.layers.Normalization and keras.layers.Embedding, or scikit-learn",
    "from_numpy": "lab.constant", "func": "lab.gradient, lab.jvp, lab.vjp, lab.hessian and lab.vectorized_map",
    "full": "lab.fill", "full_like": "lab.fill",
    "get_variable": "lab.Variable",
    "global_variables_initializer": "nothing: a variable has its value from the start",
    "grad": "lab.gradient", "gradients": f"{_TAPE}; or lab.gradient(f)(x)",
    "inference_mode": "nothing: outside a tape nothing is recorded",
    "init_scope": "nothing: operations run at once", "io": _FILES, "jacfwd": "tape.jacobian, or lab.jvp",
    "jacrev": "tape.jacobian", "jit": "lab.function",
    "lite": "model.save; models are not converted to other runtimes", "load": "keras.models.load_model",
    "logging": "logging.getLogger('autodiff_lab')", "lookup": "a Python dict, or lab.gather",
    "manual_seed": "lab.random.set_seed", "mean": "lab.reduce_mean", "mm": "lab.matmul, or x @ y",
    "no_op": "None: operations run at once",
    "no_grad": "tape.stop_recording(); outside a "
    "tape nothing is recorded", "optim": "lab.optimizers", "prod": "lab.reduce_prod",
    "permute": "lab.transpose(x, perm)", "python": "the public name, such as lab.math or lab.keras",
    "profiler": "lab.record, whose recording shows every op, or Python's cProfile",
    "quantization": "lab.cast; there are no quantized dtypes", "rand": "lab.random.uniform",
    "randint": "lab.random.uniform with dtype=lab.int32", "randn": "lab.random.normal",
    "randperm": "lab.random.shuffle",
    "raw_ops": "the function of lab with that name", "save": "model.save",
    "saved_model": "model.save and keras.models.load_model, or lab.train.Checkpoint", "sum": "lab.reduce_sum",
    "set_default_dtype": "dtype=... of each constant, variable and layer; float32 is the default",
    "set_grad_enabled": "tape.stop_recording(); outside a tape nothing is recorded",
    "summary": "model.fit, which returns a History, keras.callbacks.CSVLogger, or lab.record",
    "Parameter": "lab.Variable", "checkpoint": "lab.recompute_grad, or lab.train.Checkpoint for files",
    "custom_vjp": "lab.custom_gradient", "lax": "lab.scan, lab.while_loop and lab.cond", "remat": "lab.recompute_grad",
    "tensor": "lab.constant", "test": "lab.config.list_physical_devices('GPU'), and pytest for tests",
    "to_float": "lab.cast(x, lab.float32)", "tpu": _ONE_PROCESS, "unsqueeze": "lab.expand_dims(x, axis)",
    "utils": "lab.data for torch.utils.data, and lab.keras.utils", "value_and_grad": "lab.value_with_gradient",
    "version": "lab.__version__", "vmap": "lab.vectorized_map", "xla": "lab.function",
}  # fmt: skip

ARRAYS = {
    "absolute": "lab.abs", "all": "lab.reduce_all", "allclose": "lab.debugging.assert_near, or numpy.allclose",
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
}  # fmt: skip
"""Names of NumPy's, PyTorch's and JAX's functions of arrays."""

KERAS = {
    "__version__": "lab.__version__",
    "applications": f"training a base model yourself and freezing it: {_DOWNLOADS}, so there are no pretrained weights",
    "config": "keras.backend, or dtype=... of each layer",
    "distribution": _ONE_PROCESS, "dtype_policies": "dtype=... of each layer",
    "estimator": "keras.Model with compile and fit",
    "experimental": "the name without it", "export": "model.save", "legacy": "the name without it",
    "mixed_precision": "dtype=... of each layer; a model may mix them with lab.cast",
    "ops": "the functions of lab, lab.math and lab.nn, such as lab.matmul and lab.nn.relu",
    "preprocessing": "keras.layers.Rescaling and Normalization, lab.image, or keras.utils.PyDataset",
    "quantizers": "lab.cast; there are no quantized dtypes", "random": "lab.random",
    "tree": "lab.nest", "tuner": "a loop over settings with model.fit", "wrappers": "keras.Model with compile and fit",
}  # fmt: skip

UTILS = {
    "array_to_img": "matplotlib's imshow", "audio_dataset_from_directory": _FILES,
    "get_file": f"numpy.load, or open: {_DOWNLOADS}",
    "get_source_inputs": "model.inputs", "image_dataset_from_directory": _FILES, "img_to_array": "numpy.asarray",
    "load_img": "matplotlib.pyplot.imread", "model_to_dot": "lab.record and recording.to_dot()",
    "multi_gpu_model": _ONE_PROCESS, "pad_sequences": "lab.ragged.constant(rows).to_tensor(), or dataset.padded_batch",
    "plot_model": "model.summary(), or lab.record and recording.to_svg()", "Progbar": "tqdm, which fit uses",
    "split_dataset": "dataset.take and dataset.skip",
    "text_dataset_from_directory": _FILES,
    "timeseries_dataset_from_array": "numpy.lib.stride_tricks.sliding_window_view",
}  # fmt: skip

CALLBACKS = {
    "BackupAndRestore": "keras.callbacks.ModelCheckpoint, or lab.train.Checkpoint",
    "ProgbarLogger": "verbose=1 of fit", "RemoteMonitor": "keras.callbacks.LambdaCallback",
    "SwapEMAWeights": "keras.callbacks.LambdaCallback", "TensorBoard": "the History of fit, or "
    "keras.callbacks.CSVLogger",
}  # fmt: skip

_RULE = "lab.optimizers.Adam, or a subclass of lab.optimizers.Optimizer with `change`"
OPTIMIZERS = {
    "Adafactor": _RULE, "Ftrl": _RULE, "Lamb": _RULE, "Lion": _RULE,
    "LossScaleOptimizer": "float32", "Muon": _RULE, "experimental": "the name without it",
    "legacy": "the name without it: there is one version of each",
}  # fmt: skip

LAYERS = {
    "AbstractRNNCell": "a layer with state_size and call(inputs, states), in lab.layers.RNN",
    **dict.fromkeys(("BatchNorm1d", "BatchNorm2d"), "lab.layers.BatchNormalization"), "CategoryEncoding": _INPUTS,
    "Conv1d": "lab.layers.Conv1D", "Conv2d": "lab.layers.Conv2D",
    "ConvLSTM2D": "lab.layers.RNN with a cell of your own",
    "DepthwiseConv1D": "lab.layers.DepthwiseConv2D, with an axis of length 1",
    "EinsumDense": "lab.layers.Dense, or lab.einsum in a layer of your own",
    "InstanceNormalization": "lab.layers.GroupNormalization(groups=-1)",
    "LayerNorm": "lab.layers.LayerNormalization", "RMSNorm": "lab.layers.RMSNormalization",
    "InstanceNorm2d": "lab.layers.GroupNormalization(groups=-1)",
    "GroupQueryAttention": "lab.layers.MultiHeadAttention", "SeparableConv1D": "lab.layers.SeparableConv2D, with an "
    "axis of length 1", "SpectralNormalization": "kernel_constraint=... of the layer",
    "CuDNNGRU": "lab.layers.GRU", "CuDNNLSTM": "lab.layers.LSTM", "DenseFeatures": _INPUTS,
    "Discretization": _INPUTS, "Dropout2d": "lab.layers.Dropout", "Hashing": _INPUTS,
    "Masking": "mask=... of the call of a recurrent layer, bools (b, time)",
    "IntegerLookup": _INPUTS, "Linear": "lab.layers.Dense",
    "MaxPool2d": "lab.layers.MaxPool2D",
    "RandomBrightness": _IMAGES, "RandomContrast": _IMAGES, "RandomCrop": _IMAGES, "RandomFlip": _IMAGES,
    "RandomRotation": _IMAGES, "RandomTranslation": _IMAGES, "RandomZoom": _IMAGES,
    "StringLookup": _INPUTS,
    "TextVectorization": _INPUTS, "experimental": "the name without it",
}  # fmt: skip

_ATTENTION = "lab.layers.Attention()([query, value, key]), or lab.layers.MultiHeadAttention"
NN = {
    "batch_norm": "lab.layers.BatchNormalization", "group_norm": "lab.layers.GroupNormalization",
    "layer_norm": "lab.layers.LayerNormalization", "rms_norm": "lab.layers.RMSNormalization",
    "dot_product_attention": _ATTENTION, "grid_sample": "lab.gather_nd of the four neighbours, weighted by distance",
    "scaled_dot_product_attention": _ATTENTION, "layer_normalization": "lab.layers.LayerNormalization",
    "group_normalization": "lab.layers.GroupNormalization", "normalize": "lab.math.l2_normalize(x, axis)",
    "binary_cross_entropy": "lab.losses.BinaryCrossentropy, or lab.nn.sigmoid_cross_entropy_with_logits",
    "dilation2d": "lab.nn.max_pool2d", "erosion2d": "-lab.nn.max_pool2d(-x, ...)",
    "glu": "x * lab.sigmoid(gate) of the halves that lab.split gives", "unfold": "lab.image.extract_patches",
    "gumbel_softmax": "lab.nn.softmax of logits - lab.math.log(-lab.math.log(lab.random.uniform(shape)))",
    "BCELoss": "lab.losses.BinaryCrossentropy", "Conv2d": "lab.layers.Conv2D",
    "CrossEntropyLoss": "lab.losses.SparseCategoricalCrossentropy(from_logits=True)",
    "Dropout": "lab.layers.Dropout", "Embedding": "lab.layers.Embedding", "LSTM": "lab.layers.LSTM",
    "Linear": "lab.layers.Dense", "MSELoss": "lab.losses.MeanSquaredError", "Module": "lab.Module, or lab.keras.Model",
    "Parameter": "lab.Variable", "ReLU": "lab.nn.relu, or lab.layers.ReLU", "Sequential": "lab.Sequential",
    "Tanh": "lab.tanh", "functional": "the functions of lab.nn",
    "init": "lab.initializers", "utils": "lab.clip_by_global_norm, or global_clipnorm=... of an optimizer",
    "BatchNorm1d": "lab.layers.BatchNormalization", "BatchNorm2d": "lab.layers.BatchNormalization",
    "Flatten": "lab.layers.Flatten", "GRU": "lab.layers.GRU", "LayerNorm": "lab.layers.LayerNormalization",
    "MaxPool2d": "lab.layers.MaxPool2D", "ModuleList": "a Python list: modules look into it", "NLLLoss":
    "lab.losses.SparseCategoricalCrossentropy", "Sigmoid": "lab.sigmoid", "Softmax": "lab.nn.softmax",
    "celu": "lab.nn.elu", "cross_entropy": "lab.nn.sparse_softmax_cross_entropy_with_logits(labels, logits), or "
    "lab.nn.softmax_cross_entropy_with_logits for probabilities",
    "huber_loss": "lab.losses.huber", "smooth_l1_loss": "lab.losses.huber", "mse_loss":
    "lab.losses.mean_squared_error", "l1_loss": "lab.losses.mean_absolute_error", "kl_div":
    "lab.losses.kl_divergence(y_true, y_pred), of probabilities", "poisson_nll_loss":
    "lab.losses.poisson, or lab.nn.log_poisson_loss for logarithms of rates", "instance_norm":
    "lab.layers.GroupNormalization(groups=-1)", "interpolate": "lab.image.resize", "pixel_shuffle":
    "lab.nn.depth_to_space", "pixel_unshuffle": "lab.nn.space_to_depth",
    "BCEWithLogitsLoss": "lab.losses.BinaryCrossentropy(from_logits=True)", "L1Loss": "lab.losses.MeanAbsoluteError",
}  # fmt: skip

_WINDOW = "scipy.signal.windows, whose arrays can be multiplied by tensors"
SIGNAL = {
    "dct": "lab.matmul(x, scipy.fft.dct(numpy.eye(n)))", "fftfreq": "numpy.fft.fftfreq",
    "fftconvolve": "lab.nn.conv1d, or lab.signal.irfft of a product of lab.signal.rfft",
    "frame": "lab.gather(x, starts[:, None] + lab.range(length), axis=-1)", "hamming_window": _WINDOW,
    "hann_window": _WINDOW, "idct": "lab.matmul(x, scipy.fft.idct(numpy.eye(n)))",
    "inverse_stft": "lab.signal.irfft, and lab.tensor_scatter_nd_add for the sum of the frames",
    "kaiser_window": _WINDOW, "linear_to_mel_weight_matrix": "librosa.filters.mel, whose matrix can be multiplied",
    **{f"{kind}2": f"lab.signal.{kind}2d" for kind in ("fft", "ifft", "rfft", "irfft")},
    "overlap_and_add": "lab.tensor_scatter_nd_add", "rfftfreq": "numpy.fft.rfftfreq",
    "stft": "lab.signal.rfft of the frames times a window; lab.gather makes the frames",
}  # fmt: skip

LINALG = {
    "cond": "the singular values of lab.linalg.svd", "kron": ROOT["kron"], "matrix_norm": "lab.norm",
    "matrix_power": "lab.matmul, once for each power", "multi_dot": "lab.matmul", "vector_norm": "lab.norm",
}  # fmt: skip

RANDOM = {
    "PRNGKey": "seed=(...) of lab.random.stateless_normal and its kin, or lab.random.set_seed",
    "bernoulli": "lab.random.uniform(shape) < p", "beta": "x / (x + y) of two lab.random.gamma",
    "choice": "lab.gather(x, lab.random.uniform(shape, 0, n, lab.int32))",
    "dirichlet": "lab.random.gamma, divided by the sum", "exponential": "-lab.math.log1p(-lab.random.uniform(shape))",
    "laplace": "the difference of two draws of -lab.math.log1p(-lab.random.uniform(shape))",
    "multinomial": "lab.random.categorical", "permutation": "lab.random.shuffle",
    "rand": "lab.random.uniform", "randint": "lab.random.uniform with dtype=lab.int32", "randn": "lab.random.normal",
    "seed": "lab.random.set_seed", "standard_normal": "lab.random.normal",
}  # fmt: skip

DATA = {
    "DataLoader": "lab.data.Dataset.from_tensor_slices(...).shuffle(...).batch(...)",
    "FixedLengthRecordDataset": _FILES, "TFRecordDataset": _FILES, "TextLineDataset": _FILES,
    "experimental": "the name without it, such as lab.data.AUTOTUNE",
}  # fmt: skip

_OWN_LOSS = "a function of y_true and y_pred, which compile and fit take as a loss"
LOSSES = {
    "BinaryFocalCrossentropy": _OWN_LOSS, "CTC": "lab.nn.ctc_loss", "CategoricalFocalCrossentropy": _OWN_LOSS,
    "CategoricalHinge": _OWN_LOSS, "Circle": _OWN_LOSS, "Dice": _OWN_LOSS, "TripletMargin": _OWN_LOSS,
    "TripletLoss": _OWN_LOSS, "Tversky": _OWN_LOSS,
}  # fmt: skip

_READ = "matplotlib.pyplot.imread, which returns an array"
IMAGE = {
    "dense_image_warp": NN["grid_sample"], "grid_sample": NN["grid_sample"],
    "convert_image_dtype": "lab.cast(x, lab.float32) / 255.0",
    "decode_image": _READ, "decode_jpeg": _READ, "decode_png": _READ,
    "per_image_standardization": "lab.nn.moments",
    "random_brightness": "lab.image.adjust_brightness with a random number",
    "random_contrast": "lab.image.adjust_contrast with a random number",
    "random_crop": "a slice at a random place", "random_flip_left_right": "lab.image.flip_left_right, half of the time",
    "random_flip_up_down": "lab.image.flip_up_down, half of the time",
    "rot90": "lab.transpose and lab.reverse",
}  # fmt: skip

BACKEND = {
    "batch_dot": "lab.matmul", "cast_to_floatx": "lab.cast(x, lab.float32)", "categorical_crossentropy":
    "lab.losses.categorical_crossentropy", "constant": "lab.constant", "ctc_batch_cost": "lab.nn.ctc_loss",
    "dot": "lab.matmul", "eval": "x.numpy()", "function": "keras.Model(inputs, outputs)", "get_session": "nothing: "
    "operations run at once", "get_value": "v.numpy()", "gradients": _TAPE, "int_shape": "x.shape",
    "learning_phase": "training=... of a call", "mean": "lab.reduce_mean", "set_epsilon": "epsilon=... of each layer",
    "set_floatx": "dtype=... of each layer", "set_image_data_format": "channels last, the only one there is",
    "set_learning_phase": "training=... of a call", "set_session": "nothing: operations run at once",
    "set_value": "v.assign(value)", "sum": "lab.reduce_sum", "variable": "lab.Variable",
}  # fmt: skip

TRAIN = {
    "AdamOptimizer": "lab.optimizers.Adam", "Example": _FILES, "ExponentialMovingAverage": "v.assign(...) in your loop",
    "GradientDescentOptimizer": "lab.optimizers.SGD", "Saver": "lab.train.Checkpoint",
}  # fmt: skip

TABLES = {
    "autodiff_lab.image": IMAGE,
    "autodiff_lab": ARRAYS | ROOT, "autodiff_lab.callbacks": CALLBACKS, "autodiff_lab.data": DATA,
    "autodiff_lab.keras": KERAS,
    "autodiff_lab.keras.backend": BACKEND, "autodiff_lab.keras.utils": UTILS, "autodiff_lab.layers": LAYERS,
    "autodiff_lab.linalg": LINALG, "autodiff_lab.losses": LOSSES, "autodiff_lab.nn": NN, "autodiff_lab.random": RANDOM,
    "autodiff_lab.signal": SIGNAL,
    "autodiff_lab.optimizers": OPTIMIZERS, "autodiff_lab.train": TRAIN,
}  # fmt: skip

MODULES = {
    "add_metric": "metrics=[...] of compile", "add_update": "variable.assign in call", "children": "model.layers",
    "cpu": "model.move_to('/CPU:0')", "cuda": "model.move_to('/GPU:0')", "double": "dtype='float64' of each layer",
    "eval": "model(x, training=False), which is the default", "evaluate_generator": "evaluate, which takes generators",
    "export": "model.save", "fit_generator": "fit, which takes generators", "forward": "model(x); override `call`",
    "half": "dtype='float16' of each layer", "load_state_dict": "model.load_weights(path), or set_weights",
    "modules": "model.submodules", "named_modules": "model.submodules", "named_parameters": "[(v.name, v) for v in "
    "model.trainable_variables]", "parameters": "model.trainable_variables",
    "predict_classes": "lab.argmax(model.predict(x), axis=-1)", "predict_generator": "predict, which takes generators",
    "predict_proba": "model.predict(x)", "register_buffer": "lab.Variable(value, trainable=False)",
    "register_forward_hook": "lab.record, or lab.events.observing", "register_parameter": "lab.Variable",
    "requires_grad_": "model.trainable = True or False", "reset_states": "initial_state=... of the layer",
    "state_dict": "model.get_weights(), or model.save_weights(path)", "to": "model.move_to('/GPU:0')",
    "to_yaml": "model.save, or model.get_config()",
    "train": "model(x, training=True)", "zero_grad": _GRADIENTS,
}  # fmt: skip

STEPPERS = {
    "add_param_group": "an optimizer for each group", "get_gradients": _TAPE, "load_state_dict": "load_state(path)",
    "param_groups": "an optimizer for each group", "state_dict": "save_state(path)",
    "step": "optimizer.apply_gradients(zip(gradients, variables))", "zero_grad": _GRADIENTS,
}  # fmt: skip


ARGUMENTS = {
    "input_length": "leaving it out: lengths are those of the data",
    "mask_zero": "mask=lab.not_equal(numbers, 0) of the call of the recurrent layer that follows",
    "stateful": "return_state=True, and initial_state=... of the next call",
    "time_major": "lab.transpose of the input",
    "unroll": "leaving it out: it changes no result",
}
"""Arguments of Keras's layers that those of this package do not have."""


def no_name(module: ModuleType, name: str) -> AttributeError:
    """Return the error for a name that a namespace does not have: what to use, or where the name is.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(no_name(lab, "log"))
    module 'autodiff_lab' has no attribute 'log'. Try lab.math.log.
    >>> print(no_name(lab.keras, "mixed_precision"))
    module 'autodiff_lab.keras' has no attribute 'mixed_precision'. Try dtype=... of each layer; a model may mix...
    """
    cure = cure_for(module.__name__, name)
    text = f"module {module.__name__!r} has no attribute {name!r}" + (f". Try {cure}." if cure else "")
    return AttributeError(text, name=name, obj=module)


def cure_for(module: str, name: str) -> str:
    """Return what to use instead of a name that a namespace does not have, empty if nothing is known.

    Examples
    --------
    >>> cure_for("autodiff_lab", "optim"), cure_for("autodiff_lab.nn", "nonsense")
    ('lab.optimizers', '')
    """
    cure = TABLES.get(module, {}).get(name)
    if cure is None and module in _OF_ANY_NAME and not name.startswith("_"):  # Python itself asks for those
        cure = " or ".join(_homes(name)) or ARRAYS.get(name)
    return cure or ""


_OF_ANY_NAME = ("autodiff_lab", "autodiff_lab.keras.backend", "autodiff_lab.linalg", "autodiff_lab.math",
                "autodiff_lab.nn", "autodiff_lab.random", "autodiff_lab.signal")  # fmt: skip
"""Namespaces that are asked for what lies in others, and for what NumPy calls otherwise."""


def _homes(name: str) -> list[str]:
    """Return where a name is: in the package itself, or in its namespaces."""
    package = sys.modules["autodiff_lab"]
    if name in package.__all__:
        return [f"lab.{name}"]
    for module in package._MODULES:
        with suppress(ModuleNotFoundError):
            import_module(f"autodiff_lab.{module}")
    return [
        f"lab.{home}.{name}"
        for home, module in sorted(vars(package).items())
        if isinstance(module, ModuleType) and name in getattr(module, "__all__", ())
    ]


def answering(module: str) -> Callable[[str], Any]:
    """Return the ``__getattr__`` of a namespace, of which completion offers the public names.

    Examples
    --------
    >>> from autodiff_lab import keras
    >>> keras.utils.plot_model
    Traceback (most recent call last):
        ...
    AttributeError: module 'autodiff_lab.keras.utils' has no attribute 'plot_model'. Try model.summary(), or lab.reco...
    """

    def answer(name: str) -> NoReturn:
        raise no_name(sys.modules[module], name)

    namespace = vars(sys.modules[module])
    namespace.setdefault("__path__", [])  # for the finder in `imports`
    namespace["__dir__"] = lambda: list(namespace["__all__"])
    return answer
