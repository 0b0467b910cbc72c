"""Checkpoints: the vectors of an unfinished solve in a file that is replaced whole, and checked when read."""

from .loaded import LoadedCheckpoint
from .reading import is_checkpoint, load
from .taking import taker
from .writing import check_target

__all__ = ["LoadedCheckpoint", "check_target", "is_checkpoint", "load", "taker"]
