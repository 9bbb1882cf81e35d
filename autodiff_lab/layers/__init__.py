"""Modules and layers: ``lab.layers``."""

from typing import TYPE_CHECKING

from autodiff_lab.absent import answering as _answering
from autodiff_lab.layers.activation_layers import ELU, LeakyReLU, PReLU, ReLU, Softmax
from autodiff_lab.layers.attention import MultiHeadAttention
from autodiff_lab.layers.cells import GRUCell, LSTMCell, SimpleRNNCell, StackedRNNCells
from autodiff_lab.layers.convolution import Conv1D, Conv1DTranspose, Conv2D, Conv2DTranspose, Conv3D, Conv3DTranspose
from autodiff_lab.layers.core import Activation, ActivationDiscarding, Dense, Flatten, Identity, Lambda, Reshape
from autodiff_lab.layers.dropout import (
    AlphaDropout,
    Dropout,
    GaussianDropout,
    GaussianNoise,
    SpatialDropout1D,
    SpatialDropout2D,
    SpatialDropout3D,
)
from autodiff_lab.layers.embedding import Embedding
from autodiff_lab.layers.group_normalization import GroupNormalization, RMSNormalization, UnitNormalization
from autodiff_lab.layers.images import CenterCrop, Resizing
from autodiff_lab.layers.inputs import Input, InputLayer
from autodiff_lab.layers.layer import Layer
from autodiff_lab.layers.merging import (
    Add,
    Average,
    Concatenate,
    Dot,
    Maximum,
    Minimum,
    Multiply,
    Subtract,
    add,
    average,
    concatenate,
    dot,
    maximum,
    minimum,
    multiply,
    subtract,
)
from autodiff_lab.layers.normalization import BatchNormalization, LayerNormalization
from autodiff_lab.layers.pooling import (
    AveragePooling1D,
    AveragePooling2D,
    AveragePooling3D,
    GlobalAveragePooling1D,
    GlobalAveragePooling2D,
    GlobalMaxPooling1D,
    GlobalMaxPooling2D,
    MaxPool1D,
    MaxPool2D,
    MaxPool3D,
    MaxPooling1D,
    MaxPooling2D,
    MaxPooling3D,
)
from autodiff_lab.layers.preprocessing import Normalization, Rescaling
from autodiff_lab.layers.recurrent import GRU, LSTM, RNN, SimpleRNN
from autodiff_lab.layers.resizing import (
    Cropping1D,
    Cropping2D,
    Permute,
    RepeatVector,
    UpSampling1D,
    UpSampling2D,
    ZeroPadding1D,
    ZeroPadding2D,
)
from autodiff_lab.layers.separable import DepthwiseConv2D, SeparableConv2D
from autodiff_lab.layers.sequential import Sequential, sequenced
from autodiff_lab.layers.single_head_attention import AdditiveAttention, Attention
from autodiff_lab.layers.wrappers import Bidirectional, TimeDistributed

__all__ = [
    "ELU", "GRU", "LSTM", "RNN", "Activation", "ActivationDiscarding", "Add", "AdditiveAttention", "AlphaDropout",
    "Attention", "Average", "AveragePooling1D", "AveragePooling2D", "AveragePooling3D", "BatchNormalization",
    "Bidirectional", "CenterCrop", "Concatenate", "Conv1D", "Conv1DTranspose", "Conv2D", "Conv2DTranspose", "Conv3D",
    "Conv3DTranspose", "Cropping1D", "Cropping2D", "Dense", "DepthwiseConv2D", "Dot", "Dropout", "Embedding",
    "Flatten", "GRUCell", "GaussianDropout", "GaussianNoise", "GlobalAveragePooling1D", "GlobalAveragePooling2D",
    "GlobalMaxPooling1D", "GlobalMaxPooling2D", "GroupNormalization", "Identity", "Input", "InputLayer", "LSTMCell",
    "Lambda", "Layer", "LayerNormalization", "LeakyReLU", "MaxPool1D", "MaxPool2D", "MaxPool3D", "MaxPooling1D",
    "MaxPooling2D", "MaxPooling3D", "Maximum", "Minimum", "MultiHeadAttention", "Multiply", "Normalization", "PReLU",
    "Permute", "RMSNormalization", "ReLU", "RepeatVector", "Rescaling", "Reshape", "Resizing", "SeparableConv2D",
    "Sequential", "SimpleRNN", "SimpleRNNCell", "Softmax", "SpatialDropout1D", "SpatialDropout2D", "SpatialDropout3D",
    "StackedRNNCells", "Subtract", "TimeDistributed", "UnitNormalization", "UpSampling1D", "UpSampling2D",
    "ZeroPadding1D", "ZeroPadding2D", "add", "average", "concatenate", "dot", "maximum", "minimum", "multiply",
    "sequenced", "subtract",
]

if not TYPE_CHECKING:  # a checker reports every name that is missing
    __getattr__ = _answering(__name__)
