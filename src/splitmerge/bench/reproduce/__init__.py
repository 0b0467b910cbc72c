"""Reproduction of the paper's evaluation: its table, figures and claims, next to the paper's own numbers."""

from .run import TARGETS, Outcome, reproduce

__all__ = ["TARGETS", "Outcome", "reproduce"]
