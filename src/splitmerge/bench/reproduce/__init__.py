"""The paper's evaluation: its table, its figures and its claims, each beside the paper's own numbers."""
