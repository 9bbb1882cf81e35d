"""Ragged tensors: ``lab.ragged``."""

from autodiff_lab.structures.partition import row_splits_to_segment_ids, segment_ids_to_row_splits
from autodiff_lab.structures.ragged_functions import (
    boolean_mask,
    constant,
    map_flat_values,
    range,
    stack,
    stack_dynamic_partitions,
)

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
