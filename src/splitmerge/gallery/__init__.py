"""Problems with known properties, for tests, examples and benchmarks."""

from .synthetic import KAPPA_B, SIZES, synthetic_pair

__all__ = ["KAPPA_B", "SIZES", "synthetic_pair"]
