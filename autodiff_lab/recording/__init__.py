"""Recorder, Recording, its printed form and its wire form; reads events and does not need the engine.

`block` is where it begins and ends, `recorder` listens, `journal` writes while it runs, `build` puts the events in
order, `recording` is the frozen result, `text` prints it and `wire` saves and loads it.
"""

from autodiff_lab.recording.block import record
from autodiff_lab.recording.recorder import Recorder
from autodiff_lab.recording.recording import Recording
from autodiff_lab.recording.wire import load_recording

__all__ = ["Recorder", "Recording", "load_recording", "record"]
