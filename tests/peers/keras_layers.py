"""Random layers with random options, created in Keras and here: what is compared, and how."""

from random import Random
from typing import Any

NAMES: dict[str, tuple[tuple[int, ...], dict[str, tuple[Any, ...]]]] = {
    # A layer, the shape of its input without the batch, and the options to draw from.
    "Dense": ((3,), {"units": (1, 4), "use_bias": (True, False), "activation": (None, "relu", "gelu", "softmax")}),
    "Conv1D": ((6, 4), {
        "filters": (2, 4), "kernel_size": (1, 3), "strides": (1, 2), "padding": ("valid", "same", "causal"),
        "dilation_rate": (1,), "groups": (1, 2), "use_bias": (True, False), "activation": (None, "tanh"),
    }),
    "Conv2D": ((5, 6, 4), {
        "filters": (2, 4), "kernel_size": (1, (2, 3)), "strides": (1, 2), "padding": ("valid", "same"),
        "groups": (1, 2), "use_bias": (True, False), "activation": (None, "swish"),
    }),
    "Conv3D": ((3, 4, 3, 2), {"filters": (1, 2), "kernel_size": (2,), "padding": ("valid", "same")}),
    "Conv1DTranspose": ((4, 2), {
        "filters": (1, 3), "kernel_size": (1, 3), "strides": (1, 2, 3), "padding": ("valid", "same"),
    }),
    "Conv2DTranspose": ((3, 4, 2), {
        "filters": (1, 3), "kernel_size": (2, 3), "strides": (1, 2), "padding": ("valid", "same"),
        "use_bias": (True, False),
    }),
    "DepthwiseConv2D": ((4, 5, 3), {
        "kernel_size": (2, 3), "strides": (1, 2), "padding": ("valid", "same"), "depth_multiplier": (1, 2),
    }),
    "SeparableConv2D": ((4, 5, 3), {
        "filters": (2,), "kernel_size": (2, 3), "strides": (1, 2), "padding": ("valid", "same"),
        "depth_multiplier": (1, 2),
    }),
    "SimpleRNN": ((4, 3), {
        "units": (1, 3), "activation": ("tanh", "relu"), "use_bias": (True, False), "return_sequences": (True, False),
        "return_state": (True, False), "go_backwards": (True, False),
    }),
    "LSTM": ((4, 3), {
        "units": (1, 3), "activation": ("tanh", "elu"), "recurrent_activation": ("sigmoid", "hard_sigmoid"),
        "use_bias": (True, False), "unit_forget_bias": (True, False), "return_sequences": (True, False),
        "return_state": (True, False), "go_backwards": (True, False),
    }),
    "GRU": ((4, 3), {
        "units": (1, 3), "activation": ("tanh", "softsign"), "recurrent_activation": ("sigmoid", "relu"),
        "use_bias": (True, False), "reset_after": (True, False), "return_sequences": (True, False),
        "return_state": (True, False), "go_backwards": (True, False),
    }),
    "BatchNormalization": ((3, 4), {
        "axis": (-1, 1, 2), "momentum": (0.99, 0.5), "epsilon": (1e-3, 0.1), "center": (True, False),
        "scale": (True, False),
    }),
    "LayerNormalization": ((3, 4), {
        "axis": (-1, 1, (1, 2), [2, 1]), "epsilon": (1e-3, 0.1), "center": (True, False), "scale": (True, False),
    }),
    "GroupNormalization": ((3, 4), {
        "groups": (1, 2, -1), "epsilon": (1e-3, 0.1), "center": (True, False), "scale": (True, False),
    }),
    "RMSNormalization": ((3, 4), {"epsilon": (1e-6, 0.1)}),
    "UnitNormalization": ((3, 4), {"axis": (-1, 1)}),
    "MaxPooling1D": ((6, 2), {"pool_size": (2, 3), "strides": (None, 1, 2), "padding": ("valid", "same")}),
    "MaxPooling2D": ((5, 6, 2), {"pool_size": (2, (2, 3)), "strides": (None, 1), "padding": ("valid", "same")}),
    "AveragePooling1D": ((6, 2), {"pool_size": (2, 3), "strides": (None, 1, 2), "padding": ("valid", "same")}),
    "AveragePooling2D": ((5, 6, 2), {"pool_size": (2, 3), "strides": (None, 1), "padding": ("valid", "same")}),
    "AveragePooling3D": ((3, 4, 3, 2), {"pool_size": (2,), "padding": ("valid", "same")}),
    "GlobalAveragePooling1D": ((4, 3), {"keepdims": (True, False)}),
    "GlobalAveragePooling2D": ((4, 3, 2), {"keepdims": (True, False)}),
    "GlobalMaxPooling1D": ((4, 3), {"keepdims": (True, False)}),
    "GlobalMaxPooling2D": ((4, 3, 2), {"keepdims": (True, False)}),
    "Flatten": ((3, 2), {}),
    "Reshape": ((3, 4), {"target_shape": ((4, 3), (-1,), (2, -1, 3))}),
    "Permute": ((3, 4), {"dims": ((2, 1), (1, 2))}),
    "RepeatVector": ((3,), {"n": (1, 3)}),
    "UpSampling1D": ((3, 2), {"size": (2, 3)}),
    "UpSampling2D": ((2, 3, 2), {"size": (2, (1, 3)), "interpolation": ("nearest", "bilinear")}),
    "Resizing": ((4, 6, 2), {
        "height": (3,), "width": (4, 9), "interpolation": ("nearest", "bilinear"),
        "crop_to_aspect_ratio": (False, True),
    }),
    "CenterCrop": ((4, 6, 2), {"height": (3, 5), "width": (4, 9)}),
    "ZeroPadding1D": ((3, 2), {"padding": (1, (0, 2))}),
    "ZeroPadding2D": ((3, 2, 1), {"padding": (1, (0, 2), ((1, 0), (2, 1)))}),
    "Cropping1D": ((5, 2), {"cropping": (1, (0, 2))}),
    "Cropping2D": ((5, 4, 1), {"cropping": (1, (0, 1), ((1, 0), (2, 1)))}),
    "ReLU": ((5,), {"max_value": (None, 0.5), "negative_slope": (0.0, 0.2), "threshold": (0.0, 0.3)}),
    "LeakyReLU": ((5,), {"negative_slope": (0.3, 0.1)}),
    "ELU": ((5,), {"alpha": (1.0, 0.5)}),
    "PReLU": ((4, 5), {"shared_axes": (None, (1,), [2])}),
    "Softmax": ((3, 4), {"axis": (-1, 1)}),
    "Activation": ((5,), {"activation": (
        "relu", "sigmoid", "tanh", "softmax", "softplus", "log_softmax", "exponential", "relu6", "leaky_relu", "elu",
        "selu", "gelu", "silu", "mish", "softsign", "hard_tanh", "hard_shrink", "soft_shrink", "tanh_shrink",
        "squareplus", "hard_sigmoid", "hard_silu", "log_sigmoid", "linear", "celu", "glu",
    )}),
    "Dropout": ((5,), {"rate": (0.0,)}),
    "Embedding": ((4,), {"input_dim": (6,), "output_dim": (1, 3)}),
}  # fmt: skip


FLOATS_ONLY = (
    # Of integers Keras takes means and variances that are whole, or gives float32 whatever the layer's dtype.
    "LayerNormalization", "RMSNormalization", "GlobalAveragePooling1D", "GlobalAveragePooling2D", "LeakyReLU",
    "GroupNormalization", "Activation", "Resizing", "CenterCrop", "UpSampling2D",
)  # fmt: skip
RESIZING = ("Resizing", "CenterCrop", "UpSampling2D")
"""Layers that Keras computes in float32 whatever their dtype."""


def drawn(name: str, random: Random) -> dict[str, Any]:
    """Return options of a layer; about half of them are left out."""
    _, options = NAMES[name]
    needed = (
        "units",
        "filters",
        "kernel_size",
        "target_shape",
        "dims",
        "n",
        "activation",
        "input_dim",
        "output_dim",
        "pool_size",
        "height",
        "width",
    )
    found = {
        option: random.choice(values)
        for option, values in options.items()
        if (option in needed and (option != "activation" or name == "Activation")) or option == "rate"
        or random.random() < 0.5
    }  # fmt: skip
    if found.get("strides", 1) not in (1, None) and found.get("dilation_rate", 1) != 1:
        del found["dilation_rate"]
    return found
