"""Common spatial patterns."""

from .csp import CSP

__all__ = ["CSP"]
