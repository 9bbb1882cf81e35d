"""Sequences: small steps of a program that run as one compiled call."""
