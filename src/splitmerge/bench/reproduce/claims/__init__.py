"""The claims of the paper, and their judgement by the measurements."""

from .listing import CLAIMS, table

__all__ = ["CLAIMS", "table"]
