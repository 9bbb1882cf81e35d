"""Memory of GPUs, what they are, and determinism: ``lab.config.experimental``, where TensorFlow has them."""

from autodiff_lab.engine.configuration import (
    enable_op_determinism,
    get_device_details,
    get_memory_info,
    reset_memory_stats,
    set_memory_growth,
)

__all__ = ["enable_op_determinism", "get_device_details", "get_memory_info", "reset_memory_stats", "set_memory_growth"]
