"""The tests, one folder or file per layer; the files at the top check rules for the whole project."""
