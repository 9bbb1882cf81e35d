"""Images: ``lab.image``."""

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
