"""Lanczos and the thick-restarted default method."""
