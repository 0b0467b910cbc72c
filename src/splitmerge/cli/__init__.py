"""The command line interface."""

from .entry import main

__all__ = ["main"]
