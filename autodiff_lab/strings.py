"""Strings: ``lab.strings``."""

from autodiff_lab.extras.families.strings import (
    as_string,
    join,
    length,
    lower,
    reduce_join,
    regex_full_match,
    regex_replace,
    strip,
    substr,
    to_number,
    upper,
)
from autodiff_lab.extras.splitting import bytes_split, split, unicode_split

__all__ = [
    "as_string",
    "bytes_split",
    "join",
    "length",
    "lower",
    "reduce_join",
    "regex_full_match",
    "regex_replace",
    "split",
    "strip",
    "substr",
    "to_number",
    "unicode_split",
    "upper",
]
