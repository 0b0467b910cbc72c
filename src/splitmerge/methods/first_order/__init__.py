"""The first-order methods of the paper: gradient descent, mirror descent, the power method and Split-Merge."""
