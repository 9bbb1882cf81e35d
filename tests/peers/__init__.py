"""The ops beside those of another framework, where one is installed (`make test-peers`)."""
