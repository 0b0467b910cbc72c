"""Memory, signals, files, progress."""
