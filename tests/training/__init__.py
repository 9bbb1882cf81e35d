"""Tests of training loops, functional models and whole-model files."""
