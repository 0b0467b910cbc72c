"""The trial space of LOBPCG: B-orthonormal, with its products and its projection, whatever has been done to it."""

import numpy as np
import pytest
import scipy.linalg

import splitmerge as sm
from pairs import pair_of
from splitmerge.methods.lobpcg.span import Span
from splitmerge.problem.products import Products

N, WIDTH = 60, 3
# steps without a refresh, and how orthonormal they leave the columns
STEPS, DRIFT = 30, 1e-10
each_dtype = pytest.mark.parametrize("dtype", [float, complex], ids=["real", "complex"])
each_mass = pytest.mark.parametrize("identity", [False, True], ids=["mass", "identity"])


def normal(count, dtype, seed=0):
    X = np.random.default_rng(seed).standard_normal((2, N, count))
    return X[0] + 1j * X[1] if np.dtype(dtype).kind == "c" else X[0]


class Trial:
    """A span of a small pair, with its dense matrices."""

    def __init__(self, dtype, *, identity, fixed=0):
        self.A, self.B = pair_of(np.linspace(-2, 5, N), dtype=dtype, condition=1e4)
        self.B = np.eye(N, dtype=dtype) if identity else self.B
        # eigenvectors, as a probe has them
        fixed = scipy.linalg.eigh(self.A, self.B)[1][:, -fixed:] if fixed else None
        fixed = None if fixed is None else (fixed, self.B @ fixed)
        self.fixed = fixed
        self.span = Span(Products(sm.Pencil(self.A, None if identity else self.B)), WIDTH, fixed)

    def step(self):
        """A step with the residuals of all columns, as LOBPCG takes it."""
        span = self.span
        W = span.AS[:, :WIDTH] - span.BS[:, :WIDTH] * self.values
        count = span.append(W)
        self.check(span.known + count, DRIFT)
        self.values = span.minimise(count, np.ones(WIDTH, bool))

    def check(self, count=None, tol=1e-10):
        span = self.span
        count = span.known if count is None else count
        S, AS, BS = (M[:, :count] for M in (span.S, span.AS, span.BS))
        assert np.abs(S.conj().T @ self.B @ S - np.eye(count)).max() <= tol, "S is not orthonormal"
        np.testing.assert_allclose(AS, self.A @ S, atol=1e3 * tol)
        np.testing.assert_allclose(BS, self.B @ S, atol=1e3 * tol)
        np.testing.assert_allclose(span.H[:count, :count], S.conj().T @ self.A @ S, atol=1e3 * tol)
        if self.fixed is not None:
            assert np.abs(self.fixed[1].conj().T @ S).max() <= tol, "S is not orthogonal to the fixed columns"


@each_dtype
@each_mass
class TestInvariant:
    def test_start(self, dtype, identity):
        trial = Trial(dtype, identity=identity)
        values = trial.span.renew(normal(WIDTH, dtype))
        assert (np.diff(values) < 0).all()
        trial.check()

    @pytest.mark.parametrize("fixed", [0, 4])
    def test_steps(self, dtype, identity, fixed):
        """Without a refresh, whose products would be fresh ones."""
        trial = Trial(dtype, identity=identity, fixed=fixed)
        trial.values = trial.span.renew(normal(WIDTH, dtype))
        for _ in range(STEPS):
            trial.step()
            trial.check(tol=DRIFT)

    def test_known_directions_are_not_appended(self, dtype, identity):
        trial = Trial(dtype, identity=identity)
        trial.span.renew(normal(WIDTH, dtype))
        known = trial.span.S[:, :WIDTH].copy()
        assert trial.span.append(known @ np.array([[1.0], [2.0], [-1.0]])) == 0
        mixed = np.hstack([known[:, :1] + 1e-3 * normal(1, dtype, 2), known[:, 1:2], 0 * known[:, :1]])
        assert trial.span.append(mixed) == 1
        trial.check(WIDTH + 1, 1e-8)

    def test_the_same_twice_is_appended_once(self, dtype, identity):
        trial = Trial(dtype, identity=identity)
        trial.span.renew(normal(WIDTH, dtype))
        w = normal(1, dtype, 3)
        assert trial.span.append(np.hstack([w, -2 * w])) == 1
        trial.check(WIDTH + 1)

    def test_refresh(self, dtype, identity):
        """What rounding, or anything else, has spoilt is computed afresh and orthonormal again."""
        trial = Trial(dtype, identity=identity)
        trial.values = trial.span.renew(normal(WIDTH, dtype))
        trial.step()
        span = trial.span
        span.S[:, : span.known] += 1e-3 * normal(span.known, dtype, 4)
        span.refresh()
        trial.check()

    @pytest.mark.parametrize("spoilt", [0.0, 1e-6])
    def test_refresh_moves_nothing_far(self, dtype, identity, spoilt):
        """The columns stay the Ritz vectors that they were, as far as they were orthonormal."""
        trial = Trial(dtype, identity=identity)
        trial.values = trial.span.renew(normal(WIDTH, dtype))
        for _ in range(5):
            trial.step()
        span = trial.span
        span.S[:, : span.known] += spoilt * normal(span.known, dtype, 4)
        before = span.S[:, : span.known].copy()
        span.refresh()
        lengths = np.linalg.norm(before, axis=0)
        moved = np.linalg.norm(span.S[:, : span.known] - before, axis=0)
        assert (moved <= (1e-8 + 1e3 * spoilt) * lengths).all()
