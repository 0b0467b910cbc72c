"""What is certified of a search for sparse pairs with a loose tolerance: the most wanted ones, or a cluster of them."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import linear_sum_assignment

import splitmerge as sm
from rotated import turned
from splitmerge.verification.counts import CLUSTER_FRACTION

N = 400
QUESTIONS = [{"which": "largest"}, {"which": "smallest"}, {"which": "magnitude"}, {"sigma": 0.0}, {"sigma": 0.3}]


def spectrum(question, close, rng):
    """Eigenvalues of which these are the most wanted: by them, 1 is the best."""
    rest = N - close.size
    if question == {"which": "smallest"}:
        return np.r_[close, 2 + 20 * rng.random(rest)]
    if "sigma" in question:
        return question["sigma"] + np.r_[close, 2 + 20 * rng.random(rest)] * rng.choice([-1, 1], N)
    d = 4 - np.r_[close, 2 + rng.random(rest)]
    return d * rng.choice([-1, 1], N) if question["which"] == "magnitude" else d


def best_first(values, question):
    keys = {"largest": -values, "smallest": values, "magnitude": -np.abs(values)}
    return np.argsort(np.abs(values - question["sigma"]) if "sigma" in question else keys[question["which"]])


def loose_solves(question, widths, tolerances, count):
    """Certified solves where values beyond the last pair are about this close to it, with all eigenvalues in order."""
    for seed in range(count):
        rng = np.random.default_rng(seed)
        k, width, tol = int(rng.integers(1, 4)), 10 ** rng.uniform(*widths), 10 ** rng.uniform(*tolerances)
        d = spectrum(question, 1 + width * rng.uniform(0, k + 2, k + 2), rng)
        A = turned(d, seed)
        sol = sm.solve(sp.csr_array((A + A.T) / 2), k=k, tol=tol, certify=True, rng=seed, **question)
        assert sol.verdict == "certified"
        yield sol, d[best_first(d, question)]


def is_cut(solution):
    return "cluster" in solution.verdict.why


@pytest.mark.parametrize("question", QUESTIONS, ids=str)
class TestLoose:
    def test_what_is_called_a_cut_cluster_is_one(self, question):
        """The next value is as close as it may be to the last: errors that overlap are not enough."""
        for widths in ((-5, -2), (-10, -7)):
            for sol, values in loose_solves(question, widths, (-4, -1), 12):
                k, centre = sol.eigenvalues.size, question.get("sigma", 0.0)
                inner, outer = np.abs(values[k - 1 : k + 1] - centre)
                width = CLUSTER_FRACTION * np.abs(values[k - 1 : k + 1]).max()
                assert not is_cut(sol) or abs(outer - inner) <= width

    def test_certified_values_are_the_most_wanted_within_their_bounds(self, question):
        """Each of them has one of its own, but for a cluster that is cut."""
        for sol, values in loose_solves(question, (-5, -3.5), (-2, -1), 30):
            allowed = sol.error_bounds + 1e-12 + (CLUSTER_FRACTION * np.abs(values).max() if is_cut(sol) else 0.0)
            within = np.abs(values[: sol.eigenvalues.size, None] - sol.eigenvalues) <= allowed
            assert within[linear_sum_assignment(~within)].all()
