"""Plain Lanczos in the complement of Ritz vectors, and which of them may be projected out."""

import numpy as np
import pytest
import scipy.linalg

import splitmerge as sm
from spaces import SPACES
from splitmerge.methods.krylov.basis import Basis
from splitmerge.methods.krylov.complement import INVARIANT_FRACTION, Complement
from splitmerge.methods.krylov.plain import PlainProcess
from splitmerge.methods.krylov.thick_restart import ThickRestart
from splitmerge.methods.setup import Setup
from splitmerge.methods.subspace import Slack
from splitmerge.problem.products import Products
from splitmerge.problem.target import Target
from splitmerge.transforms import Whitened

N, TAKEN = 40, 3
NAMES = ["Whitened, identity", "Whitened", "BInner", "ShiftInvert", "ShiftInvert, negated"]


@pytest.mark.parametrize("dtype", [float, complex], ids=["real", "complex"])
@pytest.mark.parametrize("name", NAMES)
def test_values_are_those_of_the_complement(name, dtype):
    """With the vectors of the largest values projected out, the ends are the next one and the least."""
    space = SPACES[name](N, dtype)
    G = space.gram
    T = G @ space.matrix
    exact, U = scipy.linalg.eigh((T + T.conj().T) / 2, (G + G.conj().T) / 2)
    process = PlainProcess(Basis(space.transform, N, Target.LARGEST, np.random.default_rng(1)), U[:, -TAKEN:])
    while process.steps < 4 * N and not process.exhausted:
        process.extend()
    values, errors = process.ends()
    assert not process.broken
    np.testing.assert_allclose(values, exact[[0, -TAKEN - 1]], rtol=1e-9, atol=1e-9 * np.abs(exact).max())
    assert errors.max() <= 1e-5 * np.abs(exact).max()


def test_a_norm_that_is_not_positive_breaks_it():
    """As that of an operator B which is not what it was when the search began."""
    space = SPACES["ShiftInvert"](N, float)
    process = PlainProcess(Basis(space.transform, N, Target.LARGEST, np.random.default_rng(1)), np.zeros((N, 1)))
    process.transform.complete = lambda first: (first, -first)
    process.extend()
    assert process.broken


def complement_of(values, steps, k, seed):
    """The complement of the k pairs that a search of so many products finds."""
    products = Products(sm.Pencil(np.diag(values)))
    rng = np.random.default_rng(seed)
    setup = Setup(products, Target.LARGEST, k, rng, transform=Whitened(products))
    search = ThickRestart(setup)
    search.aim(1e-8, None)
    search.launch(rng.standard_normal((values.size, 1)))
    while search.basis.products < steps:
        search.advance()
    return Complement(search, Slack(1e-9, 1e-9))


@pytest.mark.parametrize("seed", range(6))
def test_what_the_vectors_hide_is_within_the_margin(seed):
    """A second copy of an eigenvalue, which the search cannot see, is one of the complement up to the margin."""
    k, values = 3, np.r_[1.5, 1.5, 1.4, 1.3, 1.2, 1.1, np.random.default_rng(seed).uniform(0, 1, 300)]
    complement = complement_of(values, 24, k, seed)
    S, margin = complement._nearly_invariant()
    assert np.allclose(complement.search.values[:k], [1.5, 1.4, 1.3], atol=1e-3), "it has seen the second copy"
    assert S.shape[1] > k
    assert margin > 0
    U = scipy.linalg.orth(complement.search.basis.vectors(S))
    P = np.eye(values.size) - U @ U.T
    hidden = np.linalg.eigvalsh(P * values @ P)[-1]
    assert 1.5 - margin <= hidden <= 1.5 + 1e-12
    # the residuals are small relative to the distances, so that the margin is small
    assert margin <= 2 * INVARIANT_FRACTION**2 * S.shape[1]
    assert complement._plainly(S, margin) is True


@pytest.mark.parametrize("distance", [0.0, 1e-9, 1e-6, 1e-3])
def test_a_value_next_to_the_window_is_decided(distance):
    """Beside other vectors it is within the margin, where nothing is decided, so that they are left out."""
    complement = complement_of(np.r_[3.0, 2.0, 2 - distance, 1.5, np.linspace(0, 1, 300)], 30, 2, 0)
    assert complement.search.look(complement.slack) is False


def test_values_at_the_window_without_an_error_are_not_taken():
    """As those of an invariant subspace with further copies of the last wanted value."""
    complement = complement_of(np.r_[3.0, 2.0, 1.9, np.linspace(0, 1, 300)], 30, 2, 0)
    known = np.array([3.0, 2.0, 2.0, 1.0]), np.eye(4), np.array([0.0, 0.0, 0.0, 1e-3])
    complement.search.basis.ritz = lambda count: known
    with np.errstate(all="raise"):
        S, margin = complement._nearly_invariant()
    np.testing.assert_array_equal(S, np.eye(4)[:, [0, 1, 3]])
    assert margin == 0


def test_a_value_within_the_margin_is_not_decided():
    complement = complement_of(np.r_[3.0, 2.0, 1.9, np.linspace(0, 1, 300)], 30, 2, 0)
    S = complement.search.S[:, :2]
    assert complement._plainly(S, 0.2) is None
    assert complement._plainly(S, 0.05) is False
    assert complement._plainly(S, 0.0) is False
