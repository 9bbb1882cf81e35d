"""Every op, against references and differences: the registry is the table, `samples` says how to call each op."""
