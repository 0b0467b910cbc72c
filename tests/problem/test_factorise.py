"""Inertia counts of matrices whose sparse factors do not show them."""

import numpy as np
import pytest
import scipy.sparse as sp

from splitmerge.linalg.ldl import DenseShifted
from splitmerge.linalg.rounding import ROUNDING_UNITS
from splitmerge.problem import factorise
from splitmerge.problem.adapt import adapt
from splitmerge.problem.factorise import counting_factor, shifted_factor


def grid(shift):
    """A periodic grid of 4 × 4 cells with eigenvalues 0, 2, 4, 6 and 8, minus a shift near its diagonal of 4."""
    T = 2 * np.eye(4) - np.roll(np.eye(4), 1, 0) - np.roll(np.eye(4), -1, 0)
    return sp.csr_array(np.kron(T, np.eye(4)) + np.kron(np.eye(4), T) - shift * np.eye(16))


@pytest.mark.parametrize("phase", [1.0, 1j])
@pytest.mark.parametrize(("shift", "below"), [(4 - 1e-9, 5), (4 + 1e-9, 11)])
def test_a_dense_factorisation_counts_where_a_sparse_one_does_not(shift, below, phase):
    # a unitary similarity by the phases of the rows
    d = phase ** np.arange(16)
    K = adapt(sp.csr_array(d[:, None] * grid(shift).toarray() * d.conj()), "A")
    assert shifted_factor(K).negative is None
    assert counting_factor(K).negative == below


def test_a_large_one_is_left_alone(monkeypatch):
    monkeypatch.setattr(factorise, "MAX_PIVOTED_N", 15)
    assert counting_factor(adapt(grid(4 - 1e-9), "A")).negative is None


def test_good_sparse_factors_are_kept():
    factor = counting_factor(adapt(grid(1.0), "A"))
    assert factor.negative == 1
    assert not isinstance(factor, DenseShifted)


@pytest.mark.parametrize("pivot", [1e-2, -1e-3])
def test_pivots_that_have_grown_do_not_count(pivot):
    """Solves are accurate still, but signs of pivots are certain up to the growth of the largest only."""
    K = adapt(sp.csr_array(np.kron(np.eye(4), [[pivot, 1], [1, 0.5]])), "A")
    assert shifted_factor(K).backward_error > ROUNDING_UNITS
    factor = counting_factor(K)
    assert (factor.negative, factor.backward_error) == (4, 1.0)
