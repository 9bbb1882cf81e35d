"""Images: ``lab.image``."""

from typing import TYPE_CHECKING

from autodiff_lab.absent import answering as _answering
from autodiff_lab.extras.families.image import (
    adjust_brightness,
    adjust_contrast,
    flip_left_right,
    flip_up_down,
    rgb_to_grayscale,
    total_variation,
)

__all__ = [
    "adjust_brightness",
    "adjust_contrast",
    "flip_left_right",
    "flip_up_down",
    "rgb_to_grayscale",
    "total_variation",
]

if not TYPE_CHECKING:  # a checker reports every name that is missing
    __getattr__ = _answering(__name__)
