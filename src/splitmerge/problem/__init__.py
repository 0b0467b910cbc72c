"""The problem: operators, the pencil, what is wanted, starting vectors."""
