"""Weighted means, co-moments and scatter matrices that can be updated and merged."""
