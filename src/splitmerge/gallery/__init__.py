"""Test problems with known properties, for tests, examples and benchmarks.

A function `…_values` returns all eigenvalues of the pair of the same name in ascending order.
"""

from .classics import (
    clement_pair,
    clement_pair_values,
    legendre_pair,
    legendre_pair_values,
    mikota_chain,
    mikota_chain_values,
)
from .fem import cube_pair, fem_laplacian, lapla3_like, lapla4_like, stencil_cube
from .laplacians import element_laplacian, element_laplacian_values, grid_laplacian, grid_laplacian_values
from .prescribed import prescribed_pair
from .statistics import cca_pair, labelled_clouds, lda_pair, two_views
from .synthetic import KAPPA_B, SIZES, synthetic_pair

__all__ = [
    "KAPPA_B",
    "SIZES",
    "cca_pair",
    "clement_pair",
    "clement_pair_values",
    "cube_pair",
    "element_laplacian",
    "element_laplacian_values",
    "fem_laplacian",
    "grid_laplacian",
    "grid_laplacian_values",
    "labelled_clouds",
    "lapla3_like",
    "lapla4_like",
    "lda_pair",
    "legendre_pair",
    "legendre_pair_values",
    "mikota_chain",
    "mikota_chain_values",
    "prescribed_pair",
    "stencil_cube",
    "synthetic_pair",
    "two_views",
]
