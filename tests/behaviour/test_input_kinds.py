"""Every accepted kind of matrix gives the answer of scipy.linalg.eigh, and is left as it was."""

import numpy as np
import pytest
import scipy.sparse as sp

import splitmerge as sm
from checking import METHODS, check, each_method, each_route, each_solver, exhaustive, short, unchanged_solve
from covering import parametrise
from kinds import KINDS, family
from pairs import indefinite, pair_of, well_separated


def families(combination):
    """Each kind of A beside each family of B, and the other way round."""
    A, B = combination["kind_A"], combination["kind_B"]
    return {(A, "beside", family(B)), (family(A), "beside", B)}


def family_and_method(combination):
    """Each kind, and each family by each method."""
    return {combination["kind"], (family(combination["kind"]), combination["method"])}


class TestKinds:
    @parametrise(families, kind_A=list(KINDS), kind_B=list(KINDS))
    def test_real(self, kind_A, kind_B):
        A, B = well_separated()
        sol = unchanged_solve(KINDS[kind_A](A), KINDS[kind_B](B), 2, rng=0)
        check(sol, A, B, 2)
        assert sol.eigenvectors.dtype == sol.eigenvalues.dtype == np.float64

    @parametrise(family_and_method, kind=list(KINDS), method={short(method): method for method in METHODS})
    def test_same_kind(self, kind, method):
        A, B = well_separated(5)
        if isinstance(method, sm.MirrorDescent) and ("perator" in kind or "object" in kind):
            pytest.skip("mirror descent needs the entries of B")
        check(unchanged_solve(KINDS[kind](A), KINDS[kind](B), 2, method=method, rng=0), A, B, 2)

    @pytest.mark.parametrize("kind", KINDS)
    @each_solver
    def test_complex(self, kind, method):
        A, B = indefinite(dtype=complex)
        sol = unchanged_solve(KINDS[kind](A), KINDS[kind](B), 3, method=method, rng=0)
        check(sol, A, B, 3)
        assert sol.eigenvectors.dtype == np.complex128
        assert sol.eigenvalues.dtype == np.float64

    @pytest.mark.parametrize("kind", KINDS)
    @pytest.mark.parametrize("which", ["largest", "smallest"])
    @each_route
    def test_without_B(self, kind, which, method):
        A = indefinite()[0]
        check(unchanged_solve(KINDS[kind](A), None, 3, which=which, method=method, rng=0), A, None, 3, which)

    @pytest.mark.parametrize("kind", KINDS)
    @each_route
    def test_smallest(self, kind, method):
        A, B = well_separated()
        sol = unchanged_solve(KINDS[kind](A), KINDS[kind](B), 2, which="smallest", method=method, rng=0)
        check(sol, A, B, 2, "smallest")

    @pytest.mark.filterwarnings("ignore:Constructing a DIA matrix")
    # SciPy takes seconds to make a full DOK matrix
    @pytest.mark.parametrize(
        "kind", exhaustive(sorted(KINDS, key=lambda kind: not kind.startswith(("cs", "coo", "ndarray"))), quick=8)
    )
    @pytest.mark.parametrize("which", ["largest", "smallest"])
    def test_beyond_lapack(self, kind, which):
        """Large enough that the default is a search."""
        A, B = pair_of(np.r_[4.0, 3.5, 3.0, np.linspace(2.5, -1.5, 444), -2.0, -2.5, -3.0], condition=2.0)
        sol = unchanged_solve(KINDS[kind](A), KINDS[kind](B), 2, which=which, rng=0)
        check(sol, A, B, 2, which)
        assert isinstance(sol.method, (sm.Accelerated, sm.LocallyOptimal))
        assert sol.verdict != "unchecked"

    @pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
    def test_matrix_class(self):
        A, B = well_separated()
        sol = unchanged_solve(np.matrix(A), np.matrix(B), 2, rng=0)
        check(sol, A, B, 2)
        assert type(sol.eigenvectors) is np.ndarray
        assert type(sol.eigenvalues) is np.ndarray

    @pytest.mark.parametrize(
        ("kind_A", "kind_B"), [("C", "LinearOperator"), ("LinearOperator", "C"), ("csr_array", "object")]
    )
    @each_method
    def test_mixed(self, kind_A, kind_B, method):
        A, B = well_separated(5)
        if isinstance(method, sm.MirrorDescent) and kind_B != "C":
            pytest.skip("mirror descent needs the entries of B")
        check(unchanged_solve(KINDS[kind_A](A), KINDS[kind_B](B), 2, method=method, rng=0), A, B, 2)

    def test_same_array_twice(self):
        B = well_separated()[1]
        check(unchanged_solve(B, B, 2, rng=0), B, B, 2)

    def test_explicit_zeros_and_empty_rows(self):
        A = sp.csr_array((np.array([0.0, 2.0]), (np.array([0, 3]), np.array([1, 3]))), shape=(5, 5))
        check(unchanged_solve(A, sp.eye_array(5, format="csr"), 2, rng=0), A, np.eye(5), 2)

    def test_tiny_asymmetry_is_rounding(self):
        A, B = well_separated()
        A[0, 1] *= 1 + 4e-16
        B[2, 3] *= 1 + 4e-16
        check(unchanged_solve(A, B, 2, rng=0), A, B, 2)

    def test_real_dtype_of_a_real_matrix_stored_as_complex(self):
        A, B = well_separated()
        check(unchanged_solve(A.astype(complex), B.astype(complex), 2, rng=0), A, B, 2)
