"""The engine: dtypes, tensors, variables, ops and their registry, the tape and its sweep.

It knows no particular op beyond the few that a sweep itself needs (`primitives`), and it does not know who listens.
"""
