"""Choice of pencil, transformation, solver and method."""
