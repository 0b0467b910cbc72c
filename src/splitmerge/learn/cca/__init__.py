"""Canonical correlation analysis of two and of several views."""
