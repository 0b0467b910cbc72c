"""Solutions in files: one npz without pickles, with a JSON header; it is replaced whole, and checked when read."""

from .reading import load
from .writing import save

__all__ = ["load", "save"]
