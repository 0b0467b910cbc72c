"""Interfaces to the operating system: available memory, signals, files, time limits, packages."""
