"""The paper's first-order methods."""
