"""Widgets, one folder each: thin Python wrappers around plain JavaScript."""

from importlib.util import find_spec

from autodiff_lab.errors import MissingPackage

if find_spec("anywidget") is None:
    raise MissingPackage.of("A widget", "anywidget", "lab")
