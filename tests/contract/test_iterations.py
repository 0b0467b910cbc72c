"""What holds for every iteration: whatever ends its run, it leaves B-orthonormal vectors with their values."""

from dataclasses import asdict
from functools import cache, cached_property

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp

import splitmerge as sm
from asking import asked
from checking import operator_of, short
from pairs import pair_of
from splitmerge.errors import OutOfTime
from splitmerge.methods.deflation import Deflation
from splitmerge.methods.direct import Direct
from splitmerge.methods.krylov.thick_restart import ThickRestart
from splitmerge.methods.lobpcg.iteration import Lobpcg
from splitmerge.methods.refinement.mixed_precision import MixedPrecision
from splitmerge.methods.refinement.near_start import NearStart
from splitmerge.planning.choose import choose
from splitmerge.preparation.prepare import bind, setups
from splitmerge.preparation.workspace import Workspace
from splitmerge.problem.start import given_block, random_vector
from splitmerge.run.iteration import RitzBlock
from splitmerge.run.loop import Monitor, Run
from splitmerge.verification.confirm import pairs_of

FIRST_ORDER = [
    *(sm.SplitMerge(), sm.Power(), sm.MirrorDescent(), sm.GradientDescent()),
    *(sm.Lanczos(), sm.Lanczos(reorthogonalise=False)),
]
# the iteration, what is asked for, and how the matrices are given
CASES = {f"Deflation, {short(method)}": (Deflation, {"method": method}, np.asarray) for method in FIRST_ORDER} | {
    "Deflation, smallest": (Deflation, {"method": sm.SplitMerge(), "which": "smallest"}, np.asarray),
    "ThickRestart": (ThickRestart, {"method": sm.Accelerated()}, np.asarray),
    "ThickRestart, restarted": (ThickRestart, {"method": sm.Accelerated(max_basis=9)}, np.asarray),
    "ThickRestart, sparse": (ThickRestart, {"method": sm.Accelerated()}, sp.csr_array),
    "ThickRestart, operators": (ThickRestart, {"method": sm.Accelerated()}, operator_of),
    "ThickRestart, magnitude": (ThickRestart, {"method": sm.Accelerated(), "which": "magnitude"}, np.asarray),
    "ThickRestart, ends": (ThickRestart, {"method": sm.Accelerated(), "which": "ends"}, np.asarray),
    "ThickRestart, smallest": (ThickRestart, {"method": sm.Accelerated(), "which": "smallest"}, sp.csr_array),
    "ThickRestart, sigma": (ThickRestart, {"method": sm.Accelerated(), "sigma": 0.3}, np.asarray),
    "Lobpcg": (Lobpcg, {"method": sm.LocallyOptimal()}, np.asarray),
    "Lobpcg, smallest": (Lobpcg, {"method": sm.LocallyOptimal(), "which": "smallest"}, np.asarray),
    "MixedPrecision": (MixedPrecision, {"k": 1}, np.asarray),
    "NearStart": (NearStart, {"k": 1}, np.asarray),
    "Direct": (Direct, {}, np.asarray),
    "Direct, smallest": (Direct, {"which": "smallest"}, np.asarray),
    "Direct, sigma": (Direct, {"sigma": 0.3}, np.asarray),
}
SIZES = {MixedPrecision: 400, NearStart: 120}
STEPPING = {name: case for name, case in CASES.items() if case[0] is not Direct}
CONTINUED = {name: case for name, case in STEPPING.items() if case[0] not in (MixedPrecision, NearStart)}

each_dtype = pytest.mark.parametrize("dtype", [float, complex], ids=["real", "complex"])

# what the vectors of an iteration may lose; those that are returned are orthonormalised
SEMI_ORTHOGONAL = 1e-10


def spectrum(n):
    return np.r_[1.0, 0.5, 0.25, 0.13, np.linspace(0.05, -0.05, n - 7), -0.15, -0.3, -0.6]


@cache
def matrices(n, dtype):
    return pair_of(spectrum(n), dtype=dtype)


def entries(pencil):
    unit = np.eye(pencil.n, dtype=pencil.dtype)
    A, B = (op.times_block(unit) for op in (pencil.A, pencil.B))
    return (A + A.conj().T) / 2, (B + B.conj().T) / 2


class Started:
    """An iteration as the pipeline makes it, ready to run."""

    def __init__(self, case, dtype, stop=None):
        self.kind, options, make = case
        options = {"k": 3} | options
        A, B = matrices(SIZES.get(self.kind, 80), dtype)
        k = options.pop("k")
        if self.kind is NearStart:
            u, error = scipy.linalg.eigh(A, B)[1][:, -1], np.random.default_rng(1).standard_normal(len(A))
            options["x0"] = u / np.linalg.norm(u) + 1e-3 * error / np.linalg.norm(error)
        self.problem, pencil = asked(make(A), make(B), k, **options)
        rng = np.random.default_rng(0)
        given = given_block(self.problem.x0, k, pencil, None)
        self.X = random_vector(pencil, rng)[:, None] if given is None else given
        workspace = Workspace(self.problem, pencil, choose(self.problem, pencil), rng, given)
        _, self.setup = next(iter(setups(workspace)))
        self.iteration = bind(self.setup)
        assert type(self.iteration) is self.kind
        self.run = Run(self.iteration, self.problem.rule if stop is None else stop, Monitor())
        workspace.budget.begin()

    def until_end(self):
        return self.run.until_end(lambda: self.iteration.start(self.X))

    @cached_property
    def matrices(self):
        """The pair that the iteration works on, which may be (−A, B) or (B, A)."""
        return entries(self.iteration.products.pencil)

    @cached_property
    def given(self):
        """The pair that was given, up to its sign: recomputed pairs belong to it."""
        return entries(self.setup.given_pair.pencil)

    def orthonormal(self, vectors, tol, matrices=None):
        _, B = self.matrices if matrices is None else matrices
        G = vectors.conj().T @ B @ vectors
        assert np.abs(G - np.eye(len(G))).max() <= tol

    def quotients(self, vectors, matrices=None):
        A, _ = self.matrices if matrices is None else matrices
        return np.einsum("ij,ij->j", vectors.conj(), A @ vectors).real


def wanted(problem):
    """The eigenvalues that were asked for, best first."""
    values = np.sort(spectrum(problem.A.shape[0]))
    if problem.sigma is not None:
        return values[np.argsort(np.abs(values - problem.sigma))][: problem.k]
    if problem.which == "smallest":
        return values[: problem.k]
    if problem.which == "magnitude":
        return values[np.argsort(-np.abs(values))][: problem.k]
    if problem.which == "ends":
        return np.array([values[-1], values[0], values[-2]])[: problem.k]
    return values[::-1][: problem.k]


@cache
def converged(name, dtype):
    """After a run that nothing has disturbed; the tests only look at it."""
    started = Started(CASES[name], dtype)
    assert started.until_end() is sm.Reason.RESIDUAL
    return started


@each_dtype
@pytest.mark.parametrize("name", CASES)
class TestConverged:
    def test_block(self, name, dtype):
        """B-orthonormal as far as a semi-orthogonal basis leaves it, and eigenvalues."""
        started = converged(name, dtype)
        block = started.iteration.block()
        assert isinstance(block, RitzBlock)
        k = started.problem.k
        assert block.values.shape == (k,)
        assert block.vectors.shape == (started.iteration.products.n, k)
        started.orthonormal(block.vectors, SEMI_ORTHOGONAL)
        size = float(np.abs(block.values).max())
        np.testing.assert_allclose(started.quotients(block.vectors), block.values, rtol=0, atol=1e-12 * size)
        exact = scipy.linalg.eigh(*started.matrices, eigvals_only=True)
        assert np.abs(block.values[:, None] - exact).min(axis=1).max() <= 1e-12 * np.abs(exact).max()

    def test_the_wanted_ones_best_first(self, name, dtype):
        started = converged(name, dtype)
        value_of = started.iteration.products.pencil.value_of
        found = [value_of(value) for value in started.iteration.block().values.tolist()]
        np.testing.assert_allclose(found, wanted(started.problem), rtol=1e-9, atol=1e-12)

    def test_to_look_is_free(self, name, dtype):
        """The block is made without a product, as often as one likes."""
        started = converged(name, dtype)
        counts = started.iteration.products.counts
        before = asdict(counts)
        first, second = started.iteration.block(), started.iteration.block()
        assert asdict(counts) == before
        np.testing.assert_array_equal(first.values, second.values)
        np.testing.assert_array_equal(first.vectors, second.vectors)

    def test_the_recomputed_residuals(self, name, dtype):
        """They are about what the run has seen, and computed as monitoring."""
        started = converged(name, dtype)
        counts = started.iteration.products.counts
        before = asdict(counts)
        pairs = pairs_of(started.run, started.setup)
        assert (pairs.residuals <= 1e-6).all()
        after = asdict(counts)
        assert after.pop("monitoring") != before.pop("monitoring") or started.setup.original is not None
        assert after == before


@each_dtype
@pytest.mark.parametrize("case", STEPPING.values(), ids=STEPPING)
class TestBrokenOff:
    """The pairs of an unfinished run are consistent, whatever they are worth."""

    @pytest.fixture(autouse=True)
    def short_steps(self, monkeypatch):
        """A few long ones would finish these small problems."""
        for name in ("CHECK_COST_ONE", "MAX_CHECK_COST"):
            monkeypatch.setattr(f"splitmerge.methods.krylov.thick_restart.{name}", 1)

    def check(self, started):
        block = started.iteration.block()
        assert 1 <= block.values.size <= started.problem.k
        # the unfinished search in single precision has its rounding
        started.orthonormal(block.vectors, 1e-5 if started.kind is MixedPrecision else 1e-11)
        pairs = pairs_of(started.run, started.setup)
        started.orthonormal(pairs.vectors, 1e-11, started.given)
        assert np.isfinite(pairs.residuals).all()
        size = float(np.abs(pairs.values).max())
        quotients = started.quotients(pairs.vectors, started.given)
        np.testing.assert_allclose(quotients, pairs.values, rtol=0, atol=1e-11 * size)
        if block.projected:
            np.testing.assert_allclose(pairs.values, block.values, rtol=0, atol=1e-11 * size)

    def test_by_the_rule(self, case, dtype):
        started = Started(case, dtype, sm.Residual(1e-300) | sm.MaxSteps(1))
        assert not started.until_end().converged
        self.check(started)

    @pytest.mark.parametrize(("error", "steps"), [(KeyboardInterrupt, 0), (OutOfTime, 2)], ids=["interrupt", "time"])
    def test_by_an_exception(self, case, dtype, steps, error):
        started = Started(case, dtype, sm.Residual(1e-300))
        step, made = started.iteration.step, []

        def interrupted(state):
            if len(made) == steps:
                raise error
            made.append(state)
            return step(state)

        started.iteration.step = interrupted
        reason = started.until_end()
        assert reason is (sm.Reason.INTERRUPTED if error is KeyboardInterrupt else sm.Reason.MAX_SECONDS)
        self.check(started)


@each_dtype
@pytest.mark.parametrize("stalled", [False, True])
@pytest.mark.parametrize("case", CONTINUED.values(), ids=CONTINUED)
def test_a_retry_goes_on_to_a_smaller_residual(case, dtype, stalled):
    started = Started(case, dtype, sm.Residual(1e-5))
    started.until_end()
    pairs = pairs_of(started.run, started.setup)
    assert started.iteration.retry.attempts > 0
    started.run.tighten(1e-5)
    again = started.run.until_end(lambda: started.iteration.tightened(1e-10, pairs, stalled=stalled))
    assert again.converged
    block = started.iteration.block()
    started.orthonormal(block.vectors, SEMI_ORTHOGONAL)
    assert (pairs_of(started.run, started.setup).residuals <= 1e-8).all()


@pytest.mark.parametrize("name", ["Direct", "MixedPrecision"])
def test_who_cannot_go_on_is_not_asked_to(name):
    started = Started(CASES[name], float)
    started.until_end()
    assert started.iteration.retry.attempts == 0
    with pytest.raises(NotImplementedError, match="cannot be continued"):
        started.iteration.tightened(1e-10, None, stalled=False)


def test_every_iteration_is_here():
    assert {case[0] for case in CASES.values()} == {
        *(Deflation, Direct, ThickRestart, Lobpcg, MixedPrecision, NearStart)
    }
