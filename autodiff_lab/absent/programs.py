"""Names of the package itself and of what surrounds a model: Keras, data, files, training."""

from __future__ import annotations

_TAPE = "with lab.GradientTape() as tape: ..., then tape.gradient(y, x)"
_ONE_PROCESS = "lab.device or model.move_to: a program runs in one process, on one device at a time"
_DOWNLOADS = "nothing is downloaded"
_FILES = "numpy.load or Python's open to read files, then lab.data.Dataset.from_tensor_slices for the arrays"

ROOT = {
    "Session": "nothing: operations run at once, x.numpy() gives the value", "arange": "lab.range",
    "Function": "lab.custom_gradient",
    "convolve": "lab.nn.conv1d", "interp": "lab.searchsorted and lab.gather", "jacobian": "tape.jacobian",
    "tree_map": "lab.nest.map_structure",
    "value_and_gradient": "lab.value_with_gradient",
    "index_add": "lab.tensor_scatter_nd_add, or lab.math.unsorted_segment_sum into zeros",
    "scatter_add": "lab.tensor_scatter_nd_add, or lab.math.unsorted_segment_sum into zeros",
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
    **dict.fromkeys(("Tape", "GradTape", "tape"), "lab.GradientTape"),
    "script": "lab.function", "backward": _TAPE, "detach": "lab.stop_gradient",
    "stop_grad": "lab.stop_gradient", "autocast": "dtype=... of each layer, and lab.cast",
    "block_until_ready": "nothing: operations run at once", "custom_jvp": "lab.custom_gradient",
    "debug_nans": "lab.debugging.check_numerics, or lab.record, whose recording says where a nan begins",
    **dict.fromkeys(("devices", "local_devices", "device_count"), "lab.config.list_physical_devices()"),
    "device_put": "x.gpu() and x.cpu(), or lab.device", "disable_jit": "lab.config.run_functions_eagerly(True)",
    "distributions": "lab.random to draw, and densities written with lab.math",
    "enable_grad": "lab.GradientTape: only what is within a tape is recorded", "eval_shape": "f(x).shape",
    "fori_loop": "a Python loop, which lab.function compiles, or lab.while_loop", "hessian_vector_product": "lab.hvp",
    "hessians": "lab.hessian", "linearize": "lab.jvp", "make_jaxpr": "lab.record, or why() of a lab.function",
    "named_scope": "lab.name_scope", "pmap": _ONE_PROCESS, "pure_callback": "lab.numpy_function",
    **dict.fromkeys(("tree", "tree_util"), "lab.nest"), "get_logger": "logging.getLogger('autodiff_lab')",
    "numpy": "the functions of lab and lab.math, or numpy itself where no gradient is needed",
    "scipy": "lab.linalg, lab.math and lab.signal", "seed": "lab.random.set_seed",
    **{name: f"numpy.{name}" for name in ("e", "finfo", "iinfo", "inf", "nan", "set_printoptions")},
}  # fmt: skip

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
    **{kind: f"keras.{kind.lower()}s.{kind}" for kind in ("Initializer", "Layer", "Metric", "Optimizer")},
    "Loss": "keras.losses.Loss",
    "Regularizer": "keras.regularizers", "device": "lab.device", "name_scope": "lab.name_scope",
    "remat": "lab.recompute_grad", "version": "lab.__version__",
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

DATA = {
    "DataLoader": "lab.data.Dataset.from_tensor_slices(...).shuffle(...).batch(...)",
    "FixedLengthRecordDataset": _FILES, "TFRecordDataset": _FILES, "TextLineDataset": _FILES,
    "experimental": "the name without it, such as lab.data.AUTOTUNE",
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
