"""Gaps of purified pairs next to a shift, and what rounding excuses in the end."""

from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp

import splitmerge as sm
from splitmerge.problem.target import Target
from splitmerge.run.iteration import Retry
from splitmerge.run.reason import Reason
from splitmerge.verification import confirm
from splitmerge.verification.bounds import bounds_from
from splitmerge.verification.confirm import _gaps, confirmed
from splitmerge.verification.residuals import COLUMNS, Pairs


def gaps_of(values, sigma, error):
    """Of pairs with this error of 1/(λ − σ), relative to it."""
    values = np.array(values)
    pencil, transform = SimpleNamespace(inverse=None), SimpleNamespace(sign=1)
    setup = SimpleNamespace(shift_invert=transform, products=SimpleNamespace(pencil=pencil), target=Target.MAGNITUDE)
    return _gaps(setup, SimpleNamespace(values=values, sigma=sigma, errors=np.full(values.size, error)))


@pytest.mark.parametrize("values", [[2.0, 3.0], [2.0, 1.0], [3.0, 2.0], [2.0]], ids=str)
@pytest.mark.parametrize("error", [1e-12, 0.5, 1e12])
def test_a_shift_on_an_eigenvalue_leaves_no_gaps(values, error):
    """Rounding hides how far the value is from σ, so the gaps of 1/(λ − σ) are finite and bound nothing."""
    gaps, none = gaps_of(values, 2.0, error), [0.0] * len(values)
    assert np.isfinite(gaps).all()
    bounds = bounds_from(values, [error] * len(values), [1e-15] * len(values), none, gaps.tolist(), 2.0, 9)
    assert (bounds.angles == 1).all()


def test_pairs_next_to_a_shift_on_an_eigenvalue_are_bounded():
    """Beside eigenvalues up to 1e8, the nearest is as far from σ as rounding puts it."""
    n, neighbours = 800, np.full(799, 0.1)
    d = np.r_[1, 1.5, 2, np.geomspace(3, 1e8, n - 3)]
    A = sp.diags_array([d, neighbours, neighbours], offsets=[0, 1, -1], format="csr")
    exact = np.linalg.eigvalsh(A.toarray())[:4]
    sol = sm.solve(A, k=4, sigma=exact[0], rng=0)
    assert (np.abs(sol.eigenvalues - exact) <= sol.error_bounds).all()


@pytest.mark.parametrize("place", ["above", "inside", "below"])
@pytest.mark.parametrize("method", [None, sm.Accelerated()], ids=["chosen", "accelerated"])
@pytest.mark.parametrize("tol", [1e-6, 1e-10, *np.geomspace(1e-13, 1e-15, 5)], ids="{:.1e}".format)
def test_bounds_hold_wherever_the_shift_is(place, method, tol):
    """The next eigenvalue is so close to the last pair that rounding mixes their vectors."""
    n, sigma = 300, {"above": 1.1, "inside": 0.3, "below": -1.1}[place]
    for seed, gap in enumerate([1e-8, 1e-7, 1e-6, 1e-4]):
        rng = np.random.default_rng(seed)
        distances = np.r_[0.1, 0.2, 0.6, 0.6 + gap, np.linspace(0.8, 30, n - 4)]
        signs = {"above": -1, "inside": np.r_[1, -1, 1, 1, rng.choice([-1, 1], n - 4)], "below": 1}[place]
        places, A = rng.permutation(n), np.zeros((n, n))
        A[places, places] = sigma + signs * distances
        sol = sm.solve(A, k=3, sigma=sigma, tol=tol, method=method, rng=seed)
        found, wanted = np.argsort(np.abs(sol.eigenvalues - sigma)), places[:3]
        errors, X = np.abs(sol.eigenvalues[found] - A[wanted, wanted]), sol.eigenvectors[:, found].copy()
        assert (errors <= sol.error_bounds[found]).all()
        # what is left are the sines of the angles
        X[wanted, np.arange(3)] = 0
        assert (np.linalg.norm(X, axis=0) <= sol.angle_bounds[found]).all()


def confirmed_with(monkeypatch, norms, floors):
    """Why a run to the tolerance 1e-8 ended whose only pair keeps these ‖r‖, in the user's coordinates and its own.

    What they are relative to is 1 in both. Also returned are the tolerances of the further runs.
    """
    pairs = Pairs(**dict.fromkeys(COLUMNS, np.ones(1)))
    pairs.norms, pairs.floors, pairs.sizes = np.array([norms]).T, np.array([floors]).T, np.ones((2, 1))
    tightened = []

    def run_again(tol, *_, **__):
        tightened.append(tol)
        return Reason.RESIDUAL

    iteration = SimpleNamespace(
        retry=Retry(attempts=2),
        tightened=run_again,
        products=SimpleNamespace(counts=SimpleNamespace(products=1, B_products=0)),
    )
    run = SimpleNamespace(
        rule=SimpleNamespace(residual_tol=1e-8),
        iteration=iteration,
        tighten=lambda factor: None,
        until_end=lambda begin: begin(),
    )
    setup = SimpleNamespace(inverse=None, last=True, products=SimpleNamespace(n=9))
    monkeypatch.setattr(confirm, "pairs_of", lambda *_: pairs)
    monkeypatch.setattr(confirm, "sharpened", lambda setup, pairs, tol, **_: pairs)
    return confirmed(run, setup, Reason.RESIDUAL)[0], tightened


@pytest.mark.parametrize(
    ("norms", "floors", "reason"),
    [
        ([1e-7, 1e-9], [1e-6, 1e-12], Reason.PRECISION),
        ([1e-5, 1e-9], [1e-6, 1e-12], Reason.UNCONFIRMED),
        ([1e-7, 1e-7], [1e-6, 1e-12], Reason.UNCONFIRMED),
    ],
    ids=["excused", "above rounding", "in its own coordinates"],
)
def test_rounding_in_the_users_coordinates_excuses_only_in_the_end(monkeypatch, norms, floors, reason):
    """Further runs come first; what they leave is success where rounding of the user's matrices explains it."""
    found, tightened = confirmed_with(monkeypatch, norms, floors)
    assert found is reason
    assert len(tightened) == 2
    assert max(tightened) < 1e-8
