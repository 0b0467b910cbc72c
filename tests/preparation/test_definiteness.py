"""B is told to be definite, semidefinite or neither, whatever it looks like."""

import numpy as np
import pytest
import scipy.sparse as sp

import splitmerge as sm
from asking import asked, tridiagonal
from splitmerge.planning.choose import choose
from splitmerge.preparation.definiteness import check_B, has_definite_rest, has_rank, massless
from splitmerge.preparation.workspace import Workspace
from splitmerge.problem.adapt import adapt

N = 12


def gram(rank, seed=0):
    X = np.random.default_rng(seed).standard_normal((rank, N))
    return X.T @ X


def padded(block, rows=3):
    """The block, and rows of zeros beside it."""
    return np.pad(block, ((0, rows), (0, rows)))


TRIDIAGONAL = tridiagonal(N).toarray()
FREE = TRIDIAGONAL.copy()
FREE[0, 0] = FREE[-1, -1] = 1
DEFINITE = {
    "identity": np.eye(N),
    "dominant": TRIDIAGONAL + np.eye(N),
    "held": TRIDIAGONAL,
    "full rank": gram(3 * N),
    "badly scaled": np.diag(np.geomspace(1e-12, 1e12, N)),
    "mass": tridiagonal(N, 4.0, 1.0).toarray(),
}
RING = 2 * np.eye(N) - np.roll(np.eye(N), 1, axis=0) - np.roll(np.eye(N), -1, axis=0)
SEMIDEFINITE = {
    "free": FREE,
    "ring": RING,
    "complete graph": N * np.eye(N) - np.ones((N, N)),
    "rank": gram(N - 2),
    "massless": np.diag(np.r_[np.ones(N - 2), 0, 0]),
    "massless and rank": padded(gram(N - 2)),
    "of ones": np.ones((N, N)),
}
INDEFINITE = {
    "negative entry": np.diag(np.r_[np.ones(N - 1), -1.0]),
    "positive diagonal": np.full((N, N), 2.0) - np.eye(N),
    "nearly dominant": tridiagonal(N, 1.0, 0.6).toarray(),
    "zero on the diagonal": np.fliplr(np.eye(N)),
    "zero beside another entry": padded(np.array([[0.0, 1.0], [1.0, 2.0]])),
    "beside rows of zeros": padded(np.array([[1.0, 2.0], [2.0, 1.0]])),
    "a little": FREE - 1e-3 * np.eye(N),
    "hardly": FREE - 1e-8 * np.eye(N),
}
each_kind = pytest.mark.parametrize("kind", [np.asarray, sp.csr_array], ids=["dense", "sparse"])


def checked(B, k=1):
    problem, pencil = asked(np.eye(B.shape[0], dtype=B.dtype), B, k, sigma=0.1)
    workspace = Workspace(problem, pencil, choose(problem, pencil), np.random.default_rng(0))
    check_B(workspace)
    return workspace.semidefinite


@each_kind
class TestCheck:
    @pytest.mark.parametrize("B", DEFINITE.values(), ids=DEFINITE)
    def test_definite(self, kind, B):
        assert checked(kind(B)) is False

    @pytest.mark.parametrize("B", SEMIDEFINITE.values(), ids=SEMIDEFINITE)
    def test_semidefinite(self, kind, B):
        assert checked(kind(B)) is True

    @pytest.mark.parametrize("dtype", [np.float32, np.complex64])
    @pytest.mark.parametrize("B", SEMIDEFINITE.values(), ids=SEMIDEFINITE)
    def test_semidefinite_in_single_precision(self, kind, B, dtype):
        """Rounding of the entries makes eigenvalues negative by more than that of double precision."""
        assert checked(kind(B.astype(dtype))) is True

    @pytest.mark.parametrize("B", INDEFINITE.values(), ids=INDEFINITE)
    def test_indefinite(self, kind, B):
        with pytest.raises(sm.NotPositiveDefinite):
            checked(kind(B))

    def test_zero(self, kind):
        with pytest.raises(sm.NotPositiveDefinite, match="it is zero"):
            checked(kind(np.zeros((N, N))))

    def test_no_more_than_there_are_finite_ones(self, kind):
        B = padded(np.eye(5))
        assert checked(kind(B), 5) is True
        with pytest.raises(ValueError, match="only 5 eigenvalues are finite"):
            checked(kind(B), 6)

    def test_the_infinite_ones_that_no_row_shows_are_found_by_the_solve(self, kind):
        A, B = np.diag(np.arange(1.0, N + 1)), gram(3)
        assert np.isfinite(sm.solve(kind(A), kind(B), 3, sigma=0.1, rng=0).eigenvalues).all()
        with pytest.raises(ValueError, match="finite"):
            sm.solve(kind(A), kind(B), 4, sigma=0.1, rng=0)


@each_kind
def test_massless(kind):
    B = np.diag([1.0, 0, 2, 0, 1])
    assert massless(adapt(kind(B), "B")).tolist() == [1, 3]
    B[1, 1] = -1.0
    assert massless(adapt(kind(B), "B")).tolist() == [3]
    assert has_definite_rest(adapt(kind(B), "B"), np.array([1, 3]))
    assert not has_definite_rest(adapt(kind(padded(gram(N - 2), 1)), "B"), np.array([N]))


def test_a_few_steps_refuse_what_is_clearly_indefinite(monkeypatch):
    """Before it is factorised."""
    B = sp.csr_array(sp.diags_array([np.full(300, 1.0), np.full(299, 0.9), np.full(299, 0.9)], offsets=[0, 1, -1]))
    monkeypatch.setattr("splitmerge.preparation.definiteness.factorise", None)
    with pytest.raises(sm.NotPositiveDefinite, match="B is indefinite") as caught:
        sm.solve(sp.csr_array(sp.eye_array(300)), B, k=2, which="smallest")
    assert caught.value.indefinite


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("zeros", [0, 1, 4])
def test_the_rank_is_that_of_the_rows_with_entries(zeros, kind):
    """As far as the rest is positive definite; of an operator nothing is known."""
    B = adapt(kind(padded(TRIDIAGONAL, zeros)), "B")
    assert [has_rank(B, k) for k in (1, N - 1, N, N + 1)] == [True, True, True, False]
    assert not has_rank(adapt(kind(padded(FREE, zeros)), "B"), 1)
    assert not has_rank(None, 1)
