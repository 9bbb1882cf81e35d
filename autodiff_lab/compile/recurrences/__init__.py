"""Recurrences: loops over arrays that a trace unrolled, each compiled as one function whose body is written once."""
