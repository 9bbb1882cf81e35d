"""Names of layers, losses, metrics and optimizers, and of their methods and arguments."""

from __future__ import annotations

_INPUTS = "encode before the model, in dataset.map, with lab.strings and lab.one_hot, or with scikit-learn"
_IMAGES = "lab.image in dataset.map, or a layer of your own"
_GRADIENTS = "nothing: gradients are returned and never stored"
_TAPE = "with lab.GradientTape() as tape: ..., then tape.gradient(y, x)"
_SCHEDULE = "a subclass of lab.optimizers.schedules.LearningRateSchedule with `__call__(self, step)`"
_RULE = "lab.optimizers.Adam, or a subclass of lab.optimizers.Optimizer with `change`"
_ATTENTION = "lab.layers.Attention()([query, value, key]), or lab.layers.MultiHeadAttention"
_OWN_LOSS = "a function of y_true and y_pred, which compile and fit take as a loss"

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
    **{f"{kind}{n}D": f"lab.layers.{name}{n}D" for kind, name in
       {"AvgPool": "AveragePooling", "GlobalAvgPool": "GlobalAveragePooling", "GlobalMaxPool": "GlobalMaxPooling",
        "Convolution": "Conv"}.items() for n in (1, 2)},
    "BatchNorm": "lab.layers.BatchNormalization", "GroupNorm": "lab.layers.GroupNormalization",
    "GlobalAveragePooling3D": "lab.reduce_mean(x, axis=[1, 2, 3])",
    "GlobalMaxPooling3D": "lab.reduce_max(x, axis=[1, 2, 3])",
    **dict.fromkeys(("TransformerEncoder", "TransformerEncoderLayer"),
                    "lab.layers.MultiHeadAttention, LayerNormalization and Dense in a layer of your own"),
    "ThresholdedReLU": "lab.where(x > theta, x, lab.zeros_like(x))", "ActivityRegularization": "self.add_loss in call",
    "Wrapper": "lab.layers.Layer, with the other layer as an attribute",
}  # fmt: skip

NN = {
    "batch_norm": "lab.layers.BatchNormalization", "group_norm": "lab.layers.GroupNormalization",
    "layer_norm": "lab.layers.LayerNormalization", "rms_norm": "lab.layers.RMSNormalization",
    "dot_product_attention": _ATTENTION, "grid_sample": "lab.gather_nd of the four neighbours, weighted by distance",
    "scaled_dot_product_attention": _ATTENTION, "layer_normalization": "lab.layers.LayerNormalization",
    "group_normalization": "lab.layers.GroupNormalization", "normalize": "lab.math.l2_normalize(x, axis)",
    "binary_cross_entropy": "lab.losses.BinaryCrossentropy, or lab.nn.sigmoid_cross_entropy_with_logits",
    "dilation2d": "lab.nn.max_pool2d", "erosion2d": "-lab.nn.max_pool2d(-x, ...)",
    "glu": "x * lab.sigmoid(gate) of the halves that lab.split gives",
    "unfold": "lab.image.extract_patches, or lab.signal.frame",
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
    **{f"adaptive_avg_pool{n}d": f"lab.nn.avg_pool{n}d with the window size of your choice" for n in (1, 2, 3)},
    "nll_loss": "-lab.gather(log_probabilities, labels, axis=1, batch_dims=1)", "embedding": "lab.nn.embedding_lookup",
    "fold": "lab.tensor_scatter_nd_add of the patches", "prelu": "lab.layers.PReLU", "linear": "x @ kernel + bias",
    "binary_cross_entropy_with_logits": "lab.nn.sigmoid_cross_entropy_with_logits", "logsigmoid": "lab.nn.log_sigmoid",
    "hardtanh": "lab.nn.hard_tanh", "hardswish": "lab.nn.hard_swish", "hardsigmoid": "lab.nn.hard_sigmoid",
    "softshrink": "lab.nn.soft_shrink", "hardshrink": "lab.nn.hard_shrink", "tanhshrink": "lab.nn.tanh_shrink",
    "softmin": "lab.nn.softmax(-x, axis)", "pairwise_distance": "lab.norm(x - y, axis=-1)",
    "cosine_embedding_loss": "lab.losses.cosine_similarity", "triplet_margin_loss": _OWN_LOSS,
    "hinge_embedding_loss": _OWN_LOSS, "margin_ranking_loss": _OWN_LOSS, "upsample": "lab.image.resize",
    "compute_average_loss": "lab.reduce_mean",
    "ctc_greedy_decoder": "lab.argmax, then repeats and blanks left out in NumPy",
    "GELU": "lab.nn.gelu", "SiLU": "lab.nn.silu", "Conv1d": "lab.layers.Conv1D", "RNN": "lab.layers.SimpleRNN",
    "GroupNorm": "lab.layers.GroupNormalization", "AvgPool2d": "lab.layers.AveragePooling2D",
    "MultiheadAttention": "lab.layers.MultiHeadAttention", "Identity": "lab.layers.Identity", "LeakyReLU":
    "lab.nn.leaky_relu, or lab.layers.LeakyReLU", "HuberLoss": "lab.losses.Huber", "SmoothL1Loss": "lab.losses.Huber",
    "KLDivLoss": "lab.losses.KLDivergence", "CTCLoss": "lab.nn.ctc_loss", "Dropout2d": "lab.layers.SpatialDropout2D",
}  # fmt: skip

LOSSES = {
    "BinaryFocalCrossentropy": _OWN_LOSS, "CTC": "lab.nn.ctc_loss", "CategoricalFocalCrossentropy": _OWN_LOSS,
    "CategoricalHinge": _OWN_LOSS, "Circle": _OWN_LOSS, "Dice": _OWN_LOSS, "TripletMargin": _OWN_LOSS,
    "TripletLoss": _OWN_LOSS, "Tversky": _OWN_LOSS,
    **{name: f"lab.losses.{own}" for name, own in
       {"BCELoss": "BinaryCrossentropy", "CrossEntropyLoss": "SparseCategoricalCrossentropy(from_logits=True)",
        "KLD": "KLDivergence", "L1Loss": "MeanAbsoluteError", "MSELoss": "MeanSquaredError", "kld": "kl_divergence",
        "kullback_leibler_divergence": "kl_divergence", "logcosh": "log_cosh"}.items()},
    **dict.fromkeys(("NLLLoss", "binary_focal_crossentropy", "categorical_focal_crossentropy", "categorical_hinge",
                     "dice", "tversky"), _OWN_LOSS), "ctc": "lab.nn.ctc_loss",
    "Reduction": "reduction='sum', 'sum_over_batch_size' or 'none'", "deserialize": "lab.losses.get",
    "serialize": "get_config() of the loss",
}  # fmt: skip

OPTIMIZERS = {
    "Adafactor": _RULE, "Ftrl": _RULE, "Lamb": _RULE, "Lion": _RULE,
    "LossScaleOptimizer": "float32", "Muon": _RULE, "experimental": "the name without it",
    "legacy": "the name without it: there is one version of each",
    **dict.fromkeys(("ASGD", "LAMB", "RAdam", "Rprop"), _RULE), "MultiOptimizer": "an optimizer for each group",
    **{name.lower(): f"lab.optimizers.{name}" for name in ("SGD", "Adagrad", "Adam", "AdamW", "RMSprop")},
    "LBFGS": "scipy.optimize.minimize with method='L-BFGS-B' and jac=True: lab.value_with_gradient computes both",
    "NAdam": "lab.optimizers.Nadam", "SparseAdam": "lab.optimizers.Adam, which takes lab.IndexedSlices",
    "lr_scheduler": "lab.optimizers.schedules",
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

SCHEDULES = {
    **dict.fromkeys(("ChainedScheduler", "CosineAnnealingWarmRestarts", "CosineDecayRestarts", "CyclicLR", "LambdaLR",
                     "OneCycleLR", "SequentialLR"), _SCHEDULE),
    "ConstantLR": "a number as the learning_rate", "CosineAnnealingLR": "lab.optimizers.schedules.CosineDecay",
    "ExponentialLR": "lab.optimizers.schedules.ExponentialDecay",
    "LinearLR": "lab.optimizers.schedules.PolynomialDecay",
    "MultiStepLR": "lab.optimizers.schedules.PiecewiseConstantDecay",
    "PolynomialLR": "lab.optimizers.schedules.PolynomialDecay",
    "ReduceLROnPlateau": "lab.callbacks.ReduceLROnPlateau",
    "StepLR": "lab.optimizers.schedules.ExponentialDecay with staircase=True",
}  # fmt: skip

METRICS = {
    **{name: f"lab.metrics.MeanMetricWrapper(lab.losses.{function})" for name, function in
       {"BinaryCrossentropy": "binary_crossentropy", "CategoricalCrossentropy": "categorical_crossentropy",
        "CosineSimilarity": "cosine_similarity", "Hinge": "hinge", "KLDivergence": "kl_divergence",
        "LogCoshError": "log_cosh", "MeanAbsolutePercentageError": "mean_absolute_percentage_error",
        "MeanSquaredLogarithmicError": "mean_squared_logarithmic_error", "Poisson": "poisson",
        "SparseCategoricalCrossentropy": "sparse_categorical_crossentropy", "SquaredHinge": "squared_hinge"}.items()},
    **{name: f"lab.losses.{name}" for name in
       ("binary_crossentropy", "categorical_crossentropy", "hinge", "huber", "mae", "mape", "mse", "msle", "poisson",
        "sparse_categorical_crossentropy", "squared_hinge")},
    **dict.fromkeys(("BinaryIoU", "F1Score", "FBetaScore", "IoU", "MeanIoU", "PearsonCorrelation", "R2Score"),
                    "lab.math.confusion_matrix for classes, or a subclass of lab.metrics.Metric"),
    **dict.fromkeys(("FalseNegatives", "FalsePositives", "TrueNegatives", "TruePositives"),
                    "lab.math.confusion_matrix, lab.metrics.Precision or lab.metrics.Recall"),
}  # fmt: skip

INITIALIZERS = {
    **{name: f"lab.initializers.{own}" for name, own in
       {"constant": "Constant", "identity": "Identity", "normal": "RandomNormal", "ones": "Ones",
        "orthogonal": "Orthogonal", "random_normal": "RandomNormal", "random_uniform": "RandomUniform",
        "truncated_normal": "TruncatedNormal", "uniform": "RandomUniform", "variance_scaling": "VarianceScaling",
        "xavier_normal": "GlorotNormal", "xavier_uniform": "GlorotUniform", "kaiming_normal": "HeNormal",
        "kaiming_uniform": "HeUniform", "zeros": "Zeros"}.items()},
}  # fmt: skip
