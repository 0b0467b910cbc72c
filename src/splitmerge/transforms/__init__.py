"""Spectral transformations."""
