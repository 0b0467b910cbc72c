"""How far a count of the short way stays from the pairs: as rounding of A and B needs, whatever vectors were found."""

import numpy as np
import pytest

from splitmerge.express import complete
from splitmerge.express.complete import _inverse_norm, clearance
from splitmerge.express.found import by_lapack, standard
from splitmerge.express.plain import plain_pair
from splitmerge.linalg.rounding import Scale

N = 40


def plain_of(masses, dtype=float, couple=0.0):
    """A diagonal pair whose largest eigenvalues belong to the first unknowns, as dense matrices."""
    B = np.diag(masses).astype(dtype)
    B[1, 0] = B[0, 1] = couple
    if dtype is complex:
        B[1, 0], B[0, 1] = 1j * couple, -1j * couple
    A = np.diag(masses * np.arange(N, 0, -1.0)).astype(dtype)
    return plain_pair(np.asfortranarray(A), np.asfortranarray(B), 3, smallest=False)


@pytest.mark.parametrize("dtype", [float, complex])
@pytest.mark.parametrize("least", [1.0, 0.5, 0.01])
def test_the_norm_of_the_inverse_of_B(least, dtype):
    masses = np.r_[np.full(N - 1, 1.0), least]
    assert _inverse_norm(plain_of(masses, dtype)) == pytest.approx(1 / least, rel=0.2)
    # λ of [[1, c], [c̄, 1]] are 1 ± |c|
    assert _inverse_norm(plain_of(np.ones(N), dtype, couple=0.9)) == pytest.approx(10, rel=0.2)


def test_without_B_it_is_1():
    plain = plain_pair(np.asfortranarray(np.diag(np.arange(1.0, N))), None, 3, smallest=False)
    assert _inverse_norm(plain) == 1.0


@pytest.mark.parametrize(("least", "longest"), [(1.0, 1.0), (0.01, 10.0)])
def test_rounding_is_that_of_the_longest_vector_of_norm_1(least, longest, monkeypatch):
    """Not of the found ones only: an eigenvalue that was passed over may belong to a longer one."""
    plain = plain_of(np.r_[np.full(N - 1, 1.0), least])
    found = standard(plain, by_lapack(plain, None, 3, largest=True))
    seen = []

    def resolution_of(scale, length, size):
        seen.append((length, size))
        return 1e-12

    monkeypatch.setattr(complete, "resolution_of", resolution_of)
    scale = Scale(0.0, 0.0, N, 2.0**-52, float(N), 1.0, 32.0)
    free = clearance(plain, found, [1e-12] * 3, float(N - 3), scale, above=True)
    assert 0 < free < 1
    ((length, size),) = seen
    assert length == pytest.approx(longest, rel=0.1)
    assert size == pytest.approx(N - 2)


@pytest.mark.parametrize("above", [True, False])
def test_a_pair_that_was_passed_over_is_noticed(above):
    """A count beyond the last pair, at either end of the spectrum."""
    plain = plain_of(np.ones(N))
    found = standard(plain, by_lapack(plain, None, 4, largest=above))
    scale = Scale(0.0, 0.0, N, 2.0**-52, float(N), 1.0, 32.0)
    ordered = found.taken(sorted(range(4), key=found.values.__getitem__, reverse=above))
    following = N - 4.0 if above else 5.0
    assert clearance(plain, ordered, [1e-12] * 4, following, scale, above=above) > 0
    missing = ordered.taken([0, 1, 3])
    assert clearance(plain, missing, [1e-12] * 3, following, scale, above=above) is None
