"""The tables of counterparts are imported by tests that have found a peer, and by nobody else."""

collect_ignore = ["counterparts.py", "edges.py"]
