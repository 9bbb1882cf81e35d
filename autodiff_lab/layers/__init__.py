"""Modules and layers: ``lab.layers``."""

from autodiff_lab.layers.convolution import Conv1D, Conv2D, Conv2DTranspose, Conv3D
from autodiff_lab.layers.core import Activation, ActivationDiscarding, Dense, Flatten, Lambda, Reshape
from autodiff_lab.layers.embedding import Embedding
from autodiff_lab.layers.layer import Layer
from autodiff_lab.layers.normalization import BatchNormalization, Dropout, LayerNormalization
from autodiff_lab.layers.pooling import (
    AveragePooling1D,
    AveragePooling2D,
    GlobalAveragePooling2D,
    MaxPool1D,
    MaxPool2D,
    MaxPooling1D,
    MaxPooling2D,
)
from autodiff_lab.layers.recurrent import GRU, LSTM, SimpleRNN
from autodiff_lab.layers.sequential import Sequential, sequenced

__all__ = [
    "GRU", "LSTM", "Activation", "ActivationDiscarding", "AveragePooling1D", "AveragePooling2D", "BatchNormalization",
    "Conv1D", "Conv2D", "Conv2DTranspose", "Conv3D", "Dense", "Dropout", "Embedding", "Flatten",
    "GlobalAveragePooling2D", "Lambda", "Layer", "LayerNormalization", "MaxPool1D", "MaxPool2D", "MaxPooling1D",
    "MaxPooling2D", "Reshape", "Sequential", "SimpleRNN", "sequenced",
]
