"""Residuals, error bounds and completeness of a result."""
