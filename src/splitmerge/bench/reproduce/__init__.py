"""The paper's evaluation: its table, its figures and its claims, each beside the paper's own numbers."""

from .run import TARGETS, Outcome, reproduce

__all__ = ["TARGETS", "Outcome", "reproduce"]
