"""Tests of `autodiff_lab.testing`: the verdict of a gradient check."""
