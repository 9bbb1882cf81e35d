"""Devices of this machine: ``lab.config``."""

from autodiff_lab.config import experimental
from autodiff_lab.engine.configuration import (
    LogicalDevice,
    PhysicalDevice,
    list_logical_devices,
    list_physical_devices,
    simulate_gpu,
)

__all__ = [
    "LogicalDevice", "PhysicalDevice", "experimental", "list_logical_devices", "list_physical_devices", "simulate_gpu",
]  # fmt: skip
