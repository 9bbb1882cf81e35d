"""Nested structures: ``lab.nest``."""

from autodiff_lab.extras.nesting import assert_same_structure, flatten, is_nested, map_structure, pack_sequence_as

__all__ = ["assert_same_structure", "flatten", "is_nested", "map_structure", "pack_sequence_as"]
