"""What a resumed solve rests on: blocks whose residuals are next to nothing or all alike, and copies of solutions."""

import copy
import pickle

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator

import splitmerge as sm
from checking import check
from resuming import PROBLEMS, N, close, dense_pair, laplacian, sparse_pair


class TestStarts:
    """What a warm start rests on: blocks whose residuals are next to nothing, or all alike."""

    def test_partial_vectors_of_a_sparse_pair(self):
        """Their residuals are all parallel: the second and third direction were rounding, with duals of their own."""
        rng = np.random.default_rng(0)
        S = sp.random_array((800, 800), density=0.004, rng=rng)
        A, B = sp.csr_array(S + S.T), sp.csr_array(laplacian(800) + sp.diags_array(np.linspace(1, 3, 800)))
        with pytest.raises(sm.NotConverged) as caught:
            sm.solve(A, B, 6, max_steps=2, rng=0)
        sol = sm.solve(A, B, 6, x0=caught.value.solution.eigenvectors, rng=0)
        check(sol, A, B, 6)
        assert sol.counts.A_products <= 1.2 * sm.solve(A, B, 6, rng=0).counts.A_products

    @pytest.mark.parametrize("domain", ["standard", "dense", "sparse", "sigma", "smallest"])
    def test_rounded_eigenvectors(self, domain):
        A, B, options = PROBLEMS[domain]
        sol = sm.solve(A, B, 6, rng=0, **options)
        x0 = sol.eigenvectors.astype(np.float32)
        again = sm.solve(A, B, 6, x0=x0, rng=0, **options)
        close(again, sol)

    def test_exact_eigenvectors_leave_nothing_to_go_on_with(self):
        A = np.diag(np.arange(200.0))
        sol = sm.solve(A, None, 6, x0=np.eye(200)[:, :-5:-1], rng=0)
        np.testing.assert_allclose(sol.eigenvalues, np.arange(199, 193, -1.0))

    def test_both_ends_relative_to_themselves(self):
        """−λ of the lower end is no shift: its own residual would be relative to nothing."""
        A = dense_pair()[0] - np.eye(N)
        U = scipy.linalg.eigh(A)[1]
        sol = sm.solve(A, None, 2, which="ends", x0=U[:, [-1, 0]], rng=0)
        assert sol.shift == 0
        assert sol.steps == 0


@pytest.mark.parametrize("domain", ["standard", "dense", "sparse", "smallest"])
@pytest.mark.parametrize(
    "method", [None, sm.Accelerated(), sm.LocallyOptimal()], ids=["chosen", "accelerated", "locally optimal"]
)
def test_spare_vectors_are_others_than_those_of_the_pairs(domain, method):
    A, B, options = PROBLEMS[domain]
    sol = sm.solve(A, B, 3, method=method, rng=0, **options)
    assert (sol.spare is not None) or not isinstance(method, sm.LocallyOptimal)
    if sol.spare is not None:
        BS = sol.spare if B is None else B @ sol.spare
        lengths = np.sqrt(np.sum(sol.spare.conj() * BS, axis=0).real)
        assert (np.abs(sol.eigenvectors.conj().T @ BS) <= 1e-6 * lengths).all()


class TestCopies:
    def test_pickle(self):
        sol = sm.solve(*sparse_pair(), 2, rng=0)
        again = pickle.loads(pickle.dumps(sol))
        assert again.verdict == sol.verdict
        assert again.problem.which == "largest"
        close(again.resume(k=3, rng=0), sm.solve(*sparse_pair(), 3, rng=0))
        assert copy.deepcopy(sol).explain() == sol.explain()

    def test_not_converged(self):
        with pytest.raises(sm.NotConverged) as caught:
            sm.solve(*sparse_pair(), 2, max_steps=1, rng=0)
        again = pickle.loads(pickle.dumps(caught.value))
        assert str(again) == str(caught.value)
        close(again.solution.resume(max_steps=None, rng=0), sm.solve(*sparse_pair(), 2, rng=0))

    def test_the_matrices_are_not_copied(self):
        A, B = sparse_pair()
        sol = sm.solve(A, B, 2, rng=0)
        assert sol.problem.A is A
        assert sol.problem.B is B
        assert "problem" not in repr(sol)
        assert "spare" not in repr(sol)

    def test_operator(self):
        A = LinearOperator((N, N), matvec=laplacian(N).__matmul__, dtype=float)
        sol = sm.solve(A, None, 2, rng=0)
        assert sol.resume(rng=0).problem.A is A
