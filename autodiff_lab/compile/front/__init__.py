"""The front: a call of a compiled function, its trace, and whether what it saw can be guarded."""
