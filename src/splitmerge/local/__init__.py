"""The way without solves: f minimised over Ritz vectors, preconditioned gradients and a memory."""

from .method import LocallyOptimal
from .search import LocalSearch, usual_block

__all__ = ["LocalSearch", "LocallyOptimal", "usual_block"]
