"""Elementary functions for compiled loops: on vectors of the CPU and on a GPU."""
