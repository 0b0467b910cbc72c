"""How the tests look at an answer, a refusal or a partial result, and the methods they do it for."""

from typing import Any

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator

import splitmerge as sm
from pairs import N, pair

METHODS = [
    sm.Accelerated(),
    sm.SplitMerge(),
    sm.Power(),
    sm.MirrorDescent(),
    sm.GradientDescent(),
    sm.Lanczos(),
    sm.Lanczos(reorthogonalise=False),
]


def short(method):
    return type(method).__name__ + ("Plain" if getattr(method, "reorthogonalise", True) is False else "")


each_method = pytest.mark.parametrize("method", METHODS, ids=short)
each_solver = pytest.mark.parametrize("method", [sm.Accelerated(), sm.SplitMerge(), sm.Lanczos()], ids=short)
# whatever `solve` chooses by itself (LAPACK for the small pairs of the tests), and both kinds of iteration
each_route = pytest.mark.parametrize(
    "method", [None, sm.Accelerated(), sm.SplitMerge()], ids=["default", "Accelerated", "SplitMerge"]
)


def dense(M):
    if isinstance(M, LinearOperator):
        return M @ np.eye(M.shape[0])
    return M.toarray() if sp.issparse(M) else np.asarray(M)


def operator_of(M):
    M = np.asarray(M)
    return LinearOperator(M.shape, matvec=lambda x: M @ x, dtype=M.dtype)


def check(sol, A, B, k, which="largest", tol=1e-8, values=1e-8, orthonormal=1e-10):
    """Values, B-orthonormality, order, sign and residuals against dense double-precision algebra."""
    A = dense(A).astype(np.result_type(dense(A).dtype, np.float64))
    B = np.eye(len(A)) if B is None else dense(B).astype(np.result_type(dense(B).dtype, np.float64))
    every = scipy.linalg.eigh(A, B, eigvals_only=True)
    expected = every[::-1][:k] if which == "largest" else every[:k]
    n, radius = len(A), np.abs(every).max()
    U = sol.eigenvectors.astype(np.result_type(sol.eigenvectors.dtype, np.float64))
    w = sol.eigenvalues.astype(np.float64)
    assert sol.converged
    assert sol.reason in (sm.Reason.RESIDUAL, sm.Reason.PRECISION)
    assert w.shape == sol.residuals.shape == sol.error_bounds.shape == (k,)
    assert U.shape == (n, k)
    assert np.abs(w - expected).max() <= values * radius, f"{w} is not {expected}"
    assert np.abs(U.conj().T @ B @ U - np.eye(k)).max() <= orthonormal
    ordered = w if which == "smallest" else w[::-1]
    assert (np.diff(ordered) >= 0).all()
    largest = np.take_along_axis(U, np.abs(U).argmax(axis=0)[None], axis=0)[0]
    assert (largest.real > 0).all()
    assert np.abs(largest.imag).max() <= 1e-6 * np.abs(largest).max()
    eps = np.finfo(sol.eigenvectors.dtype).eps
    # PRECISION is the excuse of float32, and of a λ that vanishes beside the others
    excuse = 1e-3 if eps > 1e-10 else 1e-6
    assert (sol.residuals <= (tol if sol.reason is sm.Reason.RESIDUAL else excuse)).all()
    true_residuals(sol, A, B)
    assert np.isfinite(sol.error_bounds).all()
    distance = np.abs(w[:, None] - every).min(axis=1)
    assert (distance <= 1.01 * sol.error_bounds + 4 * n * eps * radius).all()


def residual_parts(sol, A, B):
    """‖Au − λBu‖ and max(|λ|‖Bu‖, √eps (‖A‖₁ + |λ|‖B‖₁)‖u‖) of the returned pairs: the residual is their quotient."""
    U, w = sol.eigenvectors.astype(A.dtype if A.dtype.kind == "c" else sol.eigenvectors.dtype), sol.eigenvalues
    eps = np.finfo(sol.eigenvectors.dtype).eps
    BU, lengths = B @ U, np.linalg.norm(U, axis=0)
    norms = abs(A).sum(axis=0).max() + np.abs(w) * abs(B).sum(axis=0).max()
    sizes = np.maximum(np.abs(w) * np.linalg.norm(BU, axis=0), eps**0.5 * norms * lengths)
    return np.linalg.norm(A @ U - BU * w, axis=0), sizes


def true_residuals(sol, A, B):
    """The reported residuals are those of the returned pairs, as far as the precision of the solution shows them."""
    errors, sizes = residual_parts(sol, A, B)
    eps = np.finfo(sol.eigenvectors.dtype).eps
    slack = 100 * len(A) * eps * (np.linalg.norm(A) * np.linalg.norm(sol.eigenvectors, axis=0) + sizes)
    assert (np.abs(errors - sol.residuals * sizes) <= 0.01 * errors + slack).all()


def honest(sol, A, B):
    """Residuals, Rayleigh quotients and orthonormality of whatever came back from a real pair in double precision."""
    U, w = sol.eigenvectors, sol.eigenvalues
    assert U.shape == (A.shape[0], w.size)
    assert sol.residuals.shape == sol.error_bounds.shape == w.shape
    errors, sizes = residual_parts(sol, A, B)
    np.testing.assert_allclose(sol.residuals, errors / sizes, rtol=1e-6, atol=1e-13)
    np.testing.assert_allclose(U.T @ (B @ U), np.eye(w.size), atol=1e-10)
    np.testing.assert_allclose(np.diag(U.T @ (A @ U)), w, rtol=1e-10, atol=1e-12)


def partial(reason, *arguments, **options):
    """The solution inside the NotConverged that `solve` must raise."""
    with pytest.raises(sm.NotConverged) as caught:
        sm.solve(*arguments, rng=0, **options)
    sol = caught.value.solution
    assert isinstance(caught.value, RuntimeError)
    assert sol.reason is reason
    assert not sol.converged
    assert reason.advice in str(caught.value)
    honest(sol, *arguments[:2])
    return sol


def contents(M):
    """Everything of an input that could be modified, as bytes; nothing of what has no entries."""
    if sp.issparse(M):
        parts = {name: getattr(M, name, None) for name in ("data", "indices", "indptr", "row", "col", "offsets")}
        arrays = [(k, v.tobytes()) for k, v in parts.items() if isinstance(v, np.ndarray) and v.dtype != object]
        return [M.format, M.shape, M.dtype, M.nnz, M.toarray().tobytes(), *arrays]
    if isinstance(M, np.ndarray):
        return [M.tobytes(), M.shape, M.strides, M.dtype, M.flags.writeable]
    if isinstance(M, (list, tuple)):
        return [repr(M)]
    return [M._M.tobytes()] if hasattr(M, "_M") else []


def unchanged_solve(A, B, *arguments, **options):
    """`solve`, which must leave A and B as they were."""

    def look():
        return [[dense(M).tobytes()] if isinstance(M, LinearOperator) else contents(M) for M in (A, B)]

    before = look()
    sol = sm.solve(A, B, *arguments, **options)
    assert look() == before
    return sol


def refuse(pattern, A, B=None, k=1, *, error=ValueError, **options):
    """`solve` raises `error` matching `pattern`, takes no step and leaves A, B and x0 as they were."""

    def no_step(state):
        pytest.fail(f"step {state.step} was taken before the input was refused")

    inputs = [A, B, options.get("x0")]
    before = [contents(M) for M in inputs]
    options.setdefault("callback", no_step)
    with pytest.raises(error, match=pattern) as caught:
        sm.solve(A, B, k, rng=0, **options)
    assert isinstance(caught.value, ValueError)
    assert [contents(M) for M in inputs] == before
    return str(caught.value)


STORED = {
    "dense": np.asarray,
    "fortran": np.asfortranarray,
    "csr": sp.csr_array,
    "csc_matrix": sp.csc_matrix,
    "coo": sp.coo_array,
    "dia": sp.dia_array,
    "lil": sp.lil_array,
    "dok": sp.dok_array,
}
each_kind = pytest.mark.parametrize("kind", STORED.values(), ids=STORED)
each_name = pytest.mark.parametrize("name", ["A", "B"])


def place(name, bad):
    """The bad matrix as A or as B, beside a good one."""
    A, B = pair(N)
    return (bad, B) if name == "A" else (A, bad)


def exhaustive(values, quick):
    """Parameters of a test: the first `quick` of them in every run, the others in `make test-slow`."""
    values = [value if isinstance(value, tuple) else (value,) for value in values]
    return [pytest.param(*value, marks=[pytest.mark.slow] * (i >= quick)) for i, value in enumerate(values)]


def choices(sol: sm.Solution) -> set[str]:
    """The names of the choices behind a solution."""
    return {decision.choice.name for decision in sol.decisions}


def figures_of(sol: sm.Solution, name: str) -> dict[str, Any]:
    """The figures of the only decision of that name."""
    (decision,) = [decision for decision in sol.decisions if decision.choice.name == name]
    return decision.figures
