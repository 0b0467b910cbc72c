"""Harmonic retrieval: frequencies of sinusoids in coloured noise."""
