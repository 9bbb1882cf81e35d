"""The loss of connectionist temporal classification, and its derivative."""
