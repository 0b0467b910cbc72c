"""A start of the user's: the short way takes it if it is no better than a random vector, which replaces it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..linalg.blas import kernels
from ..linalg.multiply import product
from ..problem.start import is_far
from ..typing import Array
from .plain import kinds_of


def is_replaced(x0: Any, A: Any, B: Any) -> bool:
    """Is x0 a single plain vector that is far from every eigenvector? False leaves it to the pipeline."""
    if type(x0) is not np.ndarray or not kinds_of(A, B) or x0.dtype != A.dtype:
        return False
    n = A.shape[0]
    size = float(np.abs(x0).max(initial=0.0))
    if x0.shape not in ((n,), (n, 1)) or not 0 < size < math.inf:
        return False
    # what is not finite is refused later
    with np.errstate(over="ignore", invalid="ignore"):
        x = x0.ravel() / size
        return is_far(x, _image(A, x), x if B is None else _image(B, x), kernels(x.dtype))


def _image(M: Any, x: Array) -> Array:
    return product(M, x) if type(M) is np.ndarray else np.asarray(M @ x)
