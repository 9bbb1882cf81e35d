"""Comparisons with other frameworks, where they are installed (`make test-peers`)."""
