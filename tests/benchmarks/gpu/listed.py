"""All programs, in the order of the table."""

from tests.benchmarks.gpu import memory_bound, programs

PROGRAMS = programs.PROGRAMS
NAMES = tuple(PROGRAMS)
__all__ = ["NAMES", "PROGRAMS", "memory_bound"]
