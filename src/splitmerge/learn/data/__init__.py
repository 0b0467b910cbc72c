"""Data in rows: their storage, centred and scaled views, and checks of what the user gives."""

from .joint import Joint
from .view import View

__all__ = ["Joint", "View"]
