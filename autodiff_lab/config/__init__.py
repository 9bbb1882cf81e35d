"""Devices of this machine, and how compiled functions run: ``lab.config``."""

from autodiff_lab.config import experimental
from autodiff_lab.engine.configuration import (
    LogicalDevice,
    PhysicalDevice,
    functions_run_eagerly,
    list_logical_devices,
    list_physical_devices,
    run_functions_eagerly,
    simulate_gpu,
)

__all__ = [
    "LogicalDevice", "PhysicalDevice", "experimental", "functions_run_eagerly", "list_logical_devices",
    "list_physical_devices", "run_functions_eagerly", "simulate_gpu",
]  # fmt: skip
