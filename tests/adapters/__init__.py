"""Tests of the adapters: programs of other frameworks, recorded."""
