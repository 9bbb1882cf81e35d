"""The engine by behaviour: tensors, variables, tapes, sweeps, threads, memory, messages."""
