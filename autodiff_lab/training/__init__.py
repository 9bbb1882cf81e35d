"""Training loops: what `Model.compile`, `fit`, `evaluate` and `predict` do, callbacks, and progress."""
