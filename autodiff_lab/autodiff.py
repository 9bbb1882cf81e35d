"""Forward mode under its familiar name: ``lab.autodiff``."""

from autodiff_lab.transforms.forward import ForwardAccumulator

__all__ = ["ForwardAccumulator"]
