"""Reference kernels in NumPy: the specification of every heavy op, and the oracle of its faster versions."""
