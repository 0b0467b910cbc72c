"""Pairs of extreme size: the answer is that of the pair scaled to size one."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import aslinearoperator

import splitmerge as sm
from checking import check, each_method, each_route, each_solver, unchanged_solve
from pairs import indefinite, pair_of, well_separated

SCALES = [(a, b) for a in (1e-150, 1e150) for b in (1e-150, 1e150)]


class TestScaling:
    @staticmethod
    def compare(method, kind, a, b, dtype, which="largest", rtol=1e-8):
        A, B = (M.astype(dtype) for M in indefinite(6, dtype=dtype))
        plain = sm.solve(A, B, 3, method=method, which=which, rng=0)
        A_scaled, B_scaled = A * dtype(a), B * dtype(b)
        sol = unchanged_solve(kind(A_scaled), kind(B_scaled), 3, method=method, which=which, rng=0)
        assert sol.converged
        real = plain.eigenvalues.dtype
        np.testing.assert_allclose(sol.eigenvalues / (a / b), plain.eigenvalues, rtol=rtol)
        np.testing.assert_allclose(sol.eigenvectors * np.sqrt(b), plain.eigenvectors, atol=max(100 * rtol, 1e-5))
        assert sol.eigenvectors.dtype == dtype
        assert sol.eigenvalues.dtype == real
        gram = sol.eigenvectors.conj().T.astype(complex) @ (B.astype(complex) * b) @ sol.eigenvectors
        assert np.abs(gram - np.eye(3)).max() <= 1e3 * np.finfo(dtype).eps
        assert (sol.error_bounds > 0).all()
        np.testing.assert_array_less(sol.error_bounds / (a / b), 1e-3)

    @pytest.mark.parametrize(("a", "b"), SCALES)
    @pytest.mark.parametrize("kind", [np.asarray, sp.csr_array, aslinearoperator])
    @each_solver
    def test_double(self, method, kind, a, b):
        self.compare(method, kind, a, b, np.float64)

    @pytest.mark.parametrize(("a", "b"), SCALES)
    @each_method
    def test_methods(self, method, a, b):
        self.compare(method, np.asarray, a, b, np.float64, "smallest")

    @pytest.mark.parametrize(("a", "b"), SCALES)
    @each_route
    def test_complex(self, method, a, b):
        self.compare(method, np.asarray, a, b, np.complex128)

    @pytest.mark.parametrize(("a", "b"), [(a, b) for a in (1e-15, 1e15) for b in (1e-15, 1e15)])
    @pytest.mark.parametrize("kind", [np.asarray, sp.csr_array, aslinearoperator])
    @each_solver
    def test_single(self, method, kind, a, b):
        self.compare(method, kind, a, b, np.float32, rtol=1e-5)

    @pytest.mark.parametrize("scale", [1e-290, 1e-200, 1e200, 1e290])
    @pytest.mark.parametrize("kind", [np.asarray, sp.csr_array, aslinearoperator])
    @each_solver
    def test_both_extreme(self, method, kind, scale):
        self.compare(method, kind, scale, scale, np.float64)

    @pytest.mark.parametrize(("a", "b"), SCALES)
    @pytest.mark.parametrize("kind", [np.asarray, sp.csr_array, aslinearoperator])
    @pytest.mark.parametrize("which", ["largest", "smallest"])
    def test_default(self, kind, a, b, which):
        self.compare(None, kind, a, b, np.float64, which)

    @pytest.mark.parametrize("scale", [1e-290, 1e290])
    @each_route
    def test_start_of_extreme_size(self, method, scale):
        A, B = well_separated()
        check(sm.solve(A, B, method=method, x0=np.full(8, scale), rng=0), A, B, 1)

    @pytest.mark.parametrize("method", [None, sm.Accelerated(), sm.Lanczos()], ids=repr)
    def test_rows_of_very_different_size(self, method):
        """A congruence with a diagonal over twelve decades leaves the eigenvalues alone."""
        A, B = well_separated(6)
        D = np.logspace(-6, 6, 6)
        sol = sm.solve(D[:, None] * A * D, D[:, None] * B * D, rng=0, method=method, tol=1e-12)
        np.testing.assert_allclose(sol.eigenvalues, [1.0], rtol=1e-6)


def test_a_ridge_is_reported_in_the_units_of_B():
    B = 2.0**-700 * np.diag([1.0, 1.0, 0.0])
    report = sm.solve(np.diag([1.0, 2.0, 3.0]), B, b_policy="ridge").b_report
    assert 0 < report.ridge < 2.0**-720


def test_the_shift_is_in_the_units_of_the_eigenvalues():
    A = 2.0**600 * np.diag(np.r_[-5.0, np.linspace(1, 2, 399)])
    sol = sm.solve(sp.csr_array(A), k=2, which="smallest", method=sm.Accelerated())
    assert sol.eigenvalues[0] == pytest.approx(-5 * 2.0**600)
    assert 2.0**600 < abs(sol.shift) < 2.0**610


@pytest.mark.parametrize("exponent", [-700, 700])
def test_a_solver_of_the_users_for_a_B_of_extreme_size(exponent):
    d = np.linspace(1, 2, 40)
    B = np.ldexp(np.diag(d), exponent)
    inner = sm.UserSolve(lambda b: np.ldexp(b / d, -exponent))
    sol = sm.solve(np.diag(np.arange(40.0)), B, method=sm.Lanczos(inner=inner), rng=0)
    assert sol.eigenvalues[0] == pytest.approx(np.ldexp(np.max(np.arange(40.0) / d), -exponent))


RESTRICTED = {
    "chosen": {},
    "chosen, smallest": {"which": "smallest"},
    "chosen, nearest": {"sigma": 3.0},
    "Krylov": {"method": sm.Accelerated()},
}


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize(("a", "b"), [(1e40, 1), (1e-40, 1), (1, 1e40), (1, 1e-40), (1e40, 1e40), (1e-40, 1e40)])
@pytest.mark.parametrize("name", RESTRICTED)
def test_figures_of_a_restricted_pair_do_not_depend_on_its_units(name, a, b, kind):
    A, B, figures = pair_of(np.arange(1.0, 31.0))[0], np.diag(np.r_[np.linspace(1, 2, 20), np.zeros(10)]), []
    for x, y in ((1, 1), (a, b)):
        options = dict(RESTRICTED[name])
        if "sigma" in options:
            options["sigma"] *= x / y
        sol = sm.solve(kind(x * A), kind(y * B), k=2, b_policy="restrict", rng=0, **options)
        figures.append((sol.eigenvalues / (x / y), sol.error_bounds / (x / y), sol.residuals, sol.verdict))
    (values, bounds, residuals, verdict), scaled = figures
    np.testing.assert_allclose(scaled[0], values, rtol=1e-10)
    np.testing.assert_allclose(scaled[1], bounds, rtol=0.2)
    # rounding errors differ
    assert (np.abs(np.log10(scaled[2] / residuals)) < 2).all()
    assert scaled[3] == verdict


@pytest.mark.parametrize("factor", [16.0, 1 / 16])
def test_bounds_of_lapack_scale_with_the_pair(factor):
    A, B = sm.gallery.synthetic_pair(40, 50, rng=2)
    bounds = sm.solve(A, B, k=3, which="smallest").error_bounds
    np.testing.assert_allclose(sm.solve(A, factor * B, k=3, which="smallest").error_bounds * factor, bounds, rtol=1e-6)


SCALED_SOLVES = {
    "LAPACK": {},
    "LAPACK, smallest": {"which": "smallest", "k": 3},
    "LAPACK, nearest": {"sigma": 2.5, "k": 3},
    "Krylov": {"method": sm.Accelerated(), "k": 3},
    "Krylov, smallest": {"method": sm.Accelerated(), "which": "smallest", "k": 3},
    "shift-invert": {"method": sm.Accelerated(), "sigma": 2.5, "k": 3},
    "Lanczos": {"method": sm.Lanczos()},
    "Split-Merge": {"method": sm.SplitMerge(), "k": 2},
    "power, smallest": {"method": sm.Power(), "which": "smallest", "tol": 1e-4},
    "LOBPCG": {"method": sm.LocallyOptimal(), "k": 2},
}


@pytest.mark.parametrize("exponents", [(40, 0), (0, -40), (-40, 40), (330, 0), (0, 330), (-330, -330)])
@pytest.mark.parametrize("name", SCALED_SOLVES)
def test_every_figure_scales_with_the_pair(name, exponents):
    """Units of A and B: eigenvalues, bounds, shift and history follow, relative figures stay."""
    options = dict(SCALED_SOLVES[name])
    A, B = pair_of(np.r_[np.linspace(-3, 4, 58), 5.0, 7.0])
    a, b = (2.0**exponent for exponent in exponents)
    plain = sm.solve(A, B, rng=0, **options)
    if "sigma" in options:
        options["sigma"] *= a / b
    scaled = sm.solve(a * A, b * B, rng=0, **options)
    np.testing.assert_allclose(scaled.eigenvalues / (a / b), plain.eigenvalues, rtol=1e-7)
    np.testing.assert_allclose(scaled.shift / (a / b), plain.shift, rtol=0.1)
    # beyond that, rounding errors differ
    for figure, unit, floor in (
        ("error_bounds", a / b, 1e-12),
        ("residuals", 1.0, 1e-12),
        ("angle_bounds", 1.0, 1e-10),
    ):
        before, after = getattr(plain, figure), getattr(scaled, figure) / unit
        assert (after <= 5 * before + floor).all(), figure
        assert (before <= 5 * after + floor).all(), figure
    assert (scaled.reason, scaled.verdict) == (plain.reason, plain.verdict)
    assert abs(scaled.steps - plain.steps) <= 0.1 * plain.steps + 1
    some = slice(0, min(len(plain.history.residual), 4))
    np.testing.assert_allclose(scaled.history.residual[some], plain.history.residual[some], rtol=1e-3, atol=1e-9)
