"""Common spatial patterns and source power comodulation."""

from .csp import CSP
from .spoc import SPoC

__all__ = ["CSP", "SPoC"]
