"""Pairs from files."""
