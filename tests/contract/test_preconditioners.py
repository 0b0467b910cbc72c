"""Preconditioners: their actions agree, and the domain they lead to has the same eigenvalues."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import splitmerge as sm
from splitmerge.sparse_direct.backends.superlu import symmetric_lu
from strategies import Pair, definite, dtypes, gep, hermitian, pairs, seeds, sparse_definite
from theory import SPARSE_PRECONDITIONERS, few, matrix_of


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize("preconditioner", [*SPARSE_PRECONDITIONERS, sm.IncompleteCholesky(), sm.LowRank()], ids=repr)
@few
@given(n=st.integers(2, 25), log_kappa=st.floats(0, 4), seed=seeds, dtype=dtypes)
def test_four_actions_of_a_preconditioner_agree(
    sparse: bool, preconditioner: object, n: int, log_kappa: float, seed: int, dtype: type
) -> None:
    rng = np.random.default_rng(seed)
    kappa = 10**log_kappa
    B = sparse_definite(n, kappa, rng, dtype) if sparse else definite(n, kappa, rng, dtype)
    P = preconditioner.prepare(sm.Pencil(np.eye(n), B))  # type: ignore[attr-defined]
    p, inverse, adjoint, gram = (
        matrix_of(action, n, dtype) for action in (P.apply, P.solve, P.solve_adjoint, P.gram_solve)
    )
    assert all(X.dtype == np.dtype(dtype) for X in (p, inverse, adjoint, gram))
    cond = np.linalg.cond(p)
    np.testing.assert_allclose(inverse @ p, np.eye(n), atol=1e-13 * n * cond)
    np.testing.assert_allclose(adjoint, inverse.conj().T, atol=1e-13 * n * cond * np.abs(inverse).max())
    product = inverse @ inverse.conj().T
    np.testing.assert_allclose(gram, product, atol=1e-13 * n * cond * np.abs(product).max())
    dense = B.toarray() if sparse else B
    pencil_matrix = p.conj().T @ p
    if P.exact:
        np.testing.assert_allclose(pencil_matrix, dense, atol=1e-13 * n * np.abs(dense).max())
    if isinstance(preconditioner, sm.Diagonal):
        np.testing.assert_allclose(pencil_matrix, np.diag(np.diag(dense)), rtol=1e-14)
    assert P.exact == isinstance(preconditioner, (sm.Exact, sm.SquareRoot))


@few
@given(n=st.integers(2, 25), seed=seeds, dtype=dtypes)
def test_incomplete_becomes_complete_without_dropping(n: int, seed: int, dtype: type) -> None:
    B = sparse_definite(n, 10.0, np.random.default_rng(seed), dtype)
    P = sm.IncompleteCholesky(drop_tol=0.0, fill=100.0).prepare(sm.Pencil(np.eye(n), B))
    p = matrix_of(P.apply, n, dtype)
    np.testing.assert_allclose(p.conj().T @ p, B.toarray(), atol=1e-12 * abs(B).max())


@few
@given(n=st.integers(6, 25), seed=seeds, dtype=dtypes)
def test_low_rank_is_exact_on_identity_plus_low_rank(n: int, seed: int, dtype: type) -> None:
    rng = np.random.default_rng(seed)
    # unit-modulus entries keep the diagonal constant, so the Jacobi scaling leaves the low-rank form alone
    v = np.exp(2j * np.pi * rng.random(n)) if dtype is complex else rng.choice([-1.0, 1.0], n)
    B = np.eye(n) + 10 * np.outer(v, v.conj())
    P = sm.LowRank(rank=1).prepare(sm.Pencil(np.eye(n), B))
    p = matrix_of(P.apply, n, dtype)
    np.testing.assert_allclose(p.conj().T @ p, B, atol=1e-11)


@pytest.mark.parametrize("seed", range(5))
def test_low_rank_of_a_matrix_that_is_singular_to_rounding(seed: int) -> None:
    """Lanczos then finds values of either sign next to zero, and the others have no mean."""
    rng = np.random.default_rng(seed)
    F = rng.standard_normal((30, 5))
    P = sm.LowRank(rank=10).prepare(sm.Pencil(np.eye(30), F @ F.T))
    x = rng.standard_normal(30)
    for action in (P.apply, P.solve, P.solve_adjoint, P.gram_solve):
        assert np.isfinite(action(x)).all()
    assert x @ P.gram_solve(x) > 0


@few
@given(pairs(sparse=True, max_kappa=1e2))
def test_transform_domain_has_the_same_eigenvalues(pair: Pair) -> None:
    pencil = sm.Pencil(pair.A, pair.B)
    for preconditioner in SPARSE_PRECONDITIONERS:
        domain = sm.TransformDomain(pencil, preconditioner.prepare(pencil))  # type: ignore[attr-defined]
        A, B = (matrix_of(X.matvec, pair.n, pair.A.dtype) for X in (domain.A, domain.B))
        np.testing.assert_allclose(gep(hermitian(A), hermitian(B))[0], pair.eigenvalues, atol=1e-10 * pair.top)
        if domain.P.exact:
            np.testing.assert_allclose(B, np.eye(pair.n), atol=1e-11)


def test_incomplete_cholesky_recovers_from_breakdown() -> None:
    """A pivot turns negative without a shift; with one, P exists and improves the conditioning."""
    rng = np.random.default_rng(3)
    X = sp.random_array((60, 60), density=0.08, rng=rng, data_sampler=rng.standard_normal)
    B = sp.csr_array(X @ X.T + 0.02 * sp.eye_array(60))
    root = np.sqrt(B.diagonal())
    scaled = sp.diags_array(1 / root) @ B @ sp.diags_array(1 / root)
    broken = symmetric_lu(scaled, drop_tol=0.1, fill_factor=20.0)
    assert broken is None or (broken.pivots <= 0).any()
    pencil = sm.Pencil(sp.eye_array(60), B)
    P = sm.IncompleteCholesky(drop_tol=0.1).prepare(pencil)
    inverse = np.column_stack([P.gram_solve(e) for e in np.eye(60)])
    np.testing.assert_allclose(inverse, inverse.T, atol=1e-10 * np.abs(inverse).max())
    assert np.linalg.eigvalsh((inverse + inverse.T) / 2)[0] > 0
    L = np.linalg.cholesky((inverse + inverse.T) / 2)
    assert np.linalg.cond(L.T @ B @ L) < np.linalg.cond(scaled.toarray())
