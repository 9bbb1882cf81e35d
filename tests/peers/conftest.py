"""The tables of counterparts are imported only by tests that have found a peer."""

collect_ignore = ["counterparts.py", "edges.py"]
