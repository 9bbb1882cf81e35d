"""Checkpoints: ``lab.train``."""

from typing import TYPE_CHECKING

from autodiff_lab.absent import answering as _answering
from autodiff_lab.training.checkpoint_files import list_variables
from autodiff_lab.training.checkpoint_states import CheckpointManager, latest_checkpoint
from autodiff_lab.training.checkpoints import Checkpoint, CheckpointLoadStatus

__all__ = ["Checkpoint", "CheckpointLoadStatus", "CheckpointManager", "latest_checkpoint", "list_variables"]

if not TYPE_CHECKING:  # a checker reports every name that is missing
    __getattr__ = _answering(__name__)
