"""Starts and references of the user in the coordinates of the pencil."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import aslinearoperator

import splitmerge as sm
from checking import choices
from pairs import pair_of
from splitmerge.problem.start import columns, given_block

N = 20
SPREAD = np.geomspace(1, 1e4, N)


def equilibrated():
    A, B = (SPREAD[:, None] * M * SPREAD for M in pair_of(np.arange(1.0, N + 1)))
    return A, B, sm.Pencil(A, B, equilibrate=True)


def test_the_coordinates_of_the_pencil():
    """The same directions as the user's, each with largest entry 1."""
    _, _, pencil = equilibrated()
    assert pencil.scaling is not None
    X = np.random.default_rng(0).standard_normal((N, 3)) * [1e200, 1.0, 1e-200]
    Y = columns(X, "x0", pencil)
    np.testing.assert_allclose(np.abs(Y).max(axis=0), 1)
    back = pencil.vectors_of(Y)
    np.testing.assert_allclose(back / np.abs(back).max(axis=0), X / np.abs(X).max(axis=0), rtol=1e-12)
    np.testing.assert_array_equal(given_block(X, 3, pencil, None), Y)


def test_an_exact_start_of_an_equilibrated_pair_takes_hardly_a_step():
    A, B, _ = equilibrated()
    exact = sm.solve(A, B, 1, rng=0).eigenvectors
    sol = sm.solve(A, B, 1, x0=exact, method=sm.Power(), rng=0)
    assert sol.steps <= 2


@pytest.mark.parametrize("method", [sm.Accelerated(), sm.Lanczos()], ids=repr)
def test_the_angle_to_a_reference_in_an_equilibrated_pair(method):
    A, B, _ = equilibrated()
    exact = sm.solve(A, B, 1, rng=0).eigenvectors
    sol = sm.solve(A, B, 1, method=method, stop=sm.SineAngle(exact, 1e-6), rng=0)
    assert sol.reason in (sm.Reason.ANGLE, sm.Reason.RESIDUAL)
    x = sol.eigenvectors[:, 0]
    rest = x - exact[:, 0] * (exact[:, 0] @ B @ x)
    assert rest @ B @ rest <= 1e-10


@pytest.mark.parametrize("options", [{"sigma": 10.2}, {"which": "smallest"}, {}], ids=str)
@pytest.mark.parametrize("kind", [np.asarray, np.diag, sp.diags_array], ids=["lumped", "dense", "sparse"])
def test_a_start_of_massless_unknowns_is_refused(kind, options):
    A, b = np.diag(np.arange(1.0, 101)), np.r_[np.ones(97), np.zeros(3)]
    with pytest.raises(ValueError, match=r"^x0 has a column in the null space of B"):
        sm.solve(A, kind(b), 2, x0=np.eye(100)[:, 98:], **options)
    # one of them is enough
    with pytest.raises(ValueError, match=r"^x0 has a column in the null space of B"):
        sm.solve(A, kind(b), 3, x0=np.eye(100)[:, [0, 98, 1]], **options)


@pytest.mark.parametrize("which", ["largest", "smallest"])
@pytest.mark.parametrize(
    "kinds", [(np.asarray, aslinearoperator), (aslinearoperator, aslinearoperator)], ids=["B", "both"]
)
def test_an_exact_start_of_operators_whose_entries_are_computed(kinds, which):
    """Only then are they equilibrated, and the start with them."""
    rng, n = np.random.default_rng(0), 150
    Q, d = np.linalg.qr(rng.standard_normal((n, n)))[0], np.geomspace(1, 1e-3, n)
    A, B = (d[:, None] * ((Q * values) @ Q.T) * d for values in (np.arange(1.0, n + 1), np.ones(n)))
    exact = (Q / d[:, None])[:, :: 1 if which == "smallest" else -1][:, :2]
    A, B = (kind((M + M.T) / 2) for kind, M in zip(kinds, (A, B), strict=True))
    sol = sm.solve(A, B, 2, which=which, x0=exact, rng=0)
    assert "FORMED_B" in choices(sol)
    assert sol.steps <= 2
    assert sol.history.residual[0] <= 1e-8
