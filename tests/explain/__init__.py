"""Tests of explanations, ledgers and reports of values that are not finite."""
