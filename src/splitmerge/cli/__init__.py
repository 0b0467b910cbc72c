"""The command line. Each command is a module with `add(subparsers)` and `run(args)`, listed in `entry.COMMANDS`."""

from .entry import main

__all__ = ["main"]
