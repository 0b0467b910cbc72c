"""Common spatial patterns."""
