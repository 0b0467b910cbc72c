"""The result, in the user's units and in words; files and resuming."""
