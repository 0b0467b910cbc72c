"""The default solver: block, thick-restarted Rayleigh–Ritz on Ritz vectors, split directions and memory."""

from .domain import Inverted, Paired, Whitened
from .method import Accelerated
from .search import Search
from .wanted import Wanted

__all__ = ["Accelerated", "Inverted", "Paired", "Search", "Wanted", "Whitened"]
