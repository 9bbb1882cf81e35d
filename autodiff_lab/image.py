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
from autodiff_lab.extras.families.image_patches import extract_patches
from autodiff_lab.extras.families.image_quality import psnr, ssim, ssim_multiscale
from autodiff_lab.extras.families.image_sizes import (
    ResizeMethod,
    central_crop,
    crop_and_resize,
    crop_to_bounding_box,
    pad_to_bounding_box,
    resize,
    resize_with_crop_or_pad,
    resize_with_pad,
)

__all__ = [
    "ResizeMethod",
    "adjust_brightness",
    "adjust_contrast",
    "central_crop",
    "crop_and_resize",
    "crop_to_bounding_box",
    "extract_patches",
    "flip_left_right",
    "flip_up_down",
    "pad_to_bounding_box",
    "psnr",
    "resize",
    "resize_with_crop_or_pad",
    "resize_with_pad",
    "rgb_to_grayscale",
    "ssim",
    "ssim_multiscale",
    "total_variation",
]

if not TYPE_CHECKING:  # a checker reports every name that is missing
    __getattr__ = _answering(__name__)
