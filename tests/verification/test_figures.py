"""The figures of measured pairs against their definitions in dense matrices, and what measuring them takes."""

import math

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp

import splitmerge as sm
from asking import asked
from checking import operator_of
from pairs import pair_of
from splitmerge.methods.subspace import _order
from splitmerge.planning.choose import choose
from splitmerge.preparation.prepare import setups
from splitmerge.preparation.workspace import Workspace
from splitmerge.run.iteration import RitzBlock
from splitmerge.verification.residuals import measured

N, K = 20, 3
EVERY = np.r_[np.linspace(1.0, 9.0, N - 4) ** 1.5, 33.0, 40.0, 52.0, 70.0]
# definite below and above the spectrum, indefinite in between
QUESTIONS = [{"which": "largest"}, {"which": "smallest"}, {"sigma": 20.2}, {"sigma": -7.0}, {"sigma": 90.0}]
KINDS = {"dense": np.asarray, "sparse": sp.csr_array}
each_question = pytest.mark.parametrize("question", QUESTIONS, ids=str)


def setup_of(A, B, **question):
    problem, pencil = asked(A, B, K, method=sm.Accelerated(), **question)
    workspace = Workspace(problem, pencil, choose(problem, pencil), np.random.default_rng(0))
    return next(setups(workspace))[1]


def wanted(question, every=EVERY):
    """The indices of the K wanted eigenvalues, the best first."""
    rank = np.abs(every - question["sigma"]) if "sigma" in question else every
    return np.argsort(-rank if question.get("which") == "largest" else rank)[:K]


def entries(operator, n):
    M = np.eye(n) if operator is None else operator.matrix
    return M.toarray() if sp.issparse(M) else M


def mixed(A, B, chosen, size=1e-4):
    """Vectors of these eigenvalues with components of about this size along all others."""
    U = scipy.linalg.eigh(A, B)[1]
    C = np.random.default_rng(1).standard_normal((2, N, len(chosen)))
    return U[:, chosen] + size * U @ (C[0] + 1j * C[1] if np.iscomplexobj(A) else C[0])


@pytest.mark.parametrize("units", [(1.0, 1.0), (1e9, 1e-9), (1e-7, 1e6)], ids=str)
@pytest.mark.parametrize("dtype", [float, complex])
@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
@each_question
def test_figures(question, kind, dtype, units):
    """In whatever units; the scaled pair is what they are measured for, and its eigenvalues are those of the user's."""
    A, B = pair_of(EVERY, dtype=dtype, condition=20.0)
    question = {name: q * units[0] / units[1] if name == "sigma" else q for name, q in question.items()}
    setup = setup_of(kind(units[0] * A), kind(units[1] * B), **question)
    products, pencil = setup.given_pair, setup.given_pair.pencil
    chosen = wanted(question, EVERY * units[0] / units[1])
    before = [getattr(products.counts.monitoring, name) for name in ("A_products", "B_solves", "K_solves")]
    X = pencil.from_vectors(mixed(A, B, chosen))
    pairs = measured(setup, RitzBlock(EVERY[chosen], X, _order(setup.transform, setup.target)))
    counts = products.counts.monitoring
    made = [getattr(counts, name) for name in ("A_products", "B_solves", "K_solves")]
    inverse = setup.inverse
    # one product of each vector, and a solve with what the error norms need
    assert [a - b for a, b in zip(made, before, strict=True)] == [K, *((K, 0) if inverse is None else (0, K))]
    A, B = entries(products.A, N), entries(products.B, N)
    A_norm, B_norm = (np.abs(M).sum(axis=0).max() for M in (A, B))
    unit = products.scale.units * np.finfo(float).eps
    values = np.array([pencil.value_of(value) for value in pairs.values])
    np.testing.assert_allclose(np.sort(values), np.sort(EVERY[chosen]) * units[0] / units[1], rtol=1e-4)
    for i, u in enumerate(pairs.vectors.T):
        value, r = pairs.values[i], A @ u - pairs.values[i] * (B @ u)
        assert np.vdot(u, B @ u).real == pytest.approx(1, rel=1e-9)
        assert value == pytest.approx(np.vdot(u, A @ u).real, rel=1e-9)
        noise = unit * (A_norm + abs(value) * B_norm) * np.linalg.norm(u) ** 2
        if inverse is None:
            error = delta = math.sqrt(np.vdot(r, np.linalg.solve(B, r)).real)
        else:
            w = np.linalg.solve(A - inverse.sigma * B, r)
            error = math.sqrt(np.vdot(w, B @ w).real)
            delta = abs(value - inverse.sigma) * error / (1 - error)
            assert pairs.offsets[i] == pytest.approx(abs(np.vdot(B @ u, w)), rel=1e-3, abs=1e-12)
        assert pairs.errors[i] == pytest.approx(error, rel=1e-4)
        assert pairs.noise[i] == pytest.approx(noise, rel=1e-6)
        assert pairs.deltas[i] == pytest.approx(delta + noise, rel=1e-4)
        assert pairs.norms[-1, i] == pytest.approx(np.linalg.norm(r), rel=1e-4)
        assert pairs.sizes[-1, i] == pytest.approx(abs(value) * np.linalg.norm(B @ u), rel=1e-6)
    if "sigma" in question:
        assert pencil.value_of(inverse.sigma) == pytest.approx(question["sigma"], rel=1e-9)
        assert pairs.sigma == inverse.sigma


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
@each_question
def test_the_best_come_first(question, kind):
    """Whatever the order of the block is: the nearest to σ, on whichever side of the spectrum that is."""
    A, B = pair_of(EVERY)
    setup, chosen = setup_of(kind(A), kind(B), **question), wanted(question)
    pairs = measured(setup, RitzBlock(EVERY[chosen], mixed(A, B, chosen), _order(setup.transform, setup.target)))
    values = [setup.given_pair.pencil.value_of(value) for value in pairs.values]
    np.testing.assert_allclose(values, EVERY[chosen], rtol=1e-5)


@pytest.mark.parametrize("mass", [1e-9, 1.0, 1e8])
def test_an_operator_B_is_solved_with(mass):
    """Error norms are in the norm of B⁻¹, in whatever unit the masses are."""
    A, B = pair_of(EVERY)
    setup = setup_of(A, operator_of(mass * B), which="largest")
    products, chosen = setup.given_pair, wanted({"which": "largest"})
    X = products.pencil.from_vectors(mixed(A, B, chosen))
    pairs = measured(setup, RitzBlock(EVERY[chosen], X, _order(setup.transform, setup.target)))
    A, B = entries(products.A, N), B * (mass / products.pencil.B.scale)
    for i, u in enumerate(pairs.vectors.T):
        r = A @ u - pairs.values[i] * (B @ u)
        assert pairs.errors[i] == pytest.approx(math.sqrt(r @ np.linalg.solve(B, r)), rel=1e-3)
