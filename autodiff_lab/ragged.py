"""Ragged tensors: ``lab.ragged``."""

from autodiff_lab.extras.ragged.functions import (
    boolean_mask,
    constant,
    map_flat_values,
    range,
    stack,
    stack_dynamic_partitions,
)
from autodiff_lab.extras.ragged.partition import row_splits_to_segment_ids, segment_ids_to_row_splits

__all__ = [
    "boolean_mask",
    "constant",
    "map_flat_values",
    "range",
    "row_splits_to_segment_ids",
    "segment_ids_to_row_splits",
    "stack",
    "stack_dynamic_partitions",
]
