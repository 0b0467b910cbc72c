"""Harmonic retrieval: frequencies of sinusoids in coloured noise."""

from .harmonic import Harmonics, harmonic_retrieval

__all__ = ["Harmonics", "harmonic_retrieval"]
