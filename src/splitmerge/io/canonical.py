"""Canonical CSR form: the columns of each row increase."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp


def canonical(matrix: Any) -> Any:
    """A sparse or dense matrix as a `csr_array` whose rows are sorted and without duplicates; explicit zeros stay."""
    # SciPy has no sparse matrices in half precision
    M: Any = sp.csr_array(matrix.astype(np.float32) if matrix.dtype.char == "e" else matrix)
    if M.has_canonical_format:
        return M
    # it may share its arrays with `matrix`, which is not to be changed
    M = M.copy()
    M.sum_duplicates()
    return M
