"""Backward passes that are wrong on purpose: to run an idea, step through it, and recognize it by its numbers.

An `Engine` is a backward pass whose parts can be replaced. `replay` runs one over a finished recording and returns a
recording of the wrong pass; `forward` does the same for forward mode. `wrong_engines` are the common ideas, and
`diagnose_answer` says which of them gives a learner's answer.
"""

from autodiff_lab.teaching.books import Books, Local, run
from autodiff_lab.teaching.diagnosis import Diagnosis, diagnose_answer
from autodiff_lab.teaching.engines import Engine
from autodiff_lab.teaching.probes import Probe
from autodiff_lab.teaching.program import Program
from autodiff_lab.teaching.reading import program_of
from autodiff_lab.teaching.replay import forward, replay
from autodiff_lab.teaching.wrong import IDEAS, wrong_engines

__all__ = [
    "IDEAS",
    "Books",
    "Diagnosis",
    "Engine",
    "Local",
    "Probe",
    "Program",
    "diagnose_answer",
    "forward",
    "program_of",
    "replay",
    "run",
    "wrong_engines",
]
