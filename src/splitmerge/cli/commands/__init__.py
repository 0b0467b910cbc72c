"""The commands. Each is a module with `add(subparsers)` and `run(args)`, listed in `entry.COMMANDS`."""
