"""What residuals are relative to, and what rounding excuses."""

from dataclasses import fields

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp

import splitmerge as sm
from asking import asked
from pairs import pair_of
from splitmerge.linalg.rounding import ROUNDING_UNITS, levels_of
from splitmerge.planning.choose import choose
from splitmerge.preparation.prepare import setups
from splitmerge.preparation.workspace import Workspace
from splitmerge.problem.pencil import Pencil
from splitmerge.problem.products import Products
from splitmerge.run.iteration import RitzBlock
from splitmerge.verification.confirm import _improved, purified
from splitmerge.verification.residuals import COLUMNS, Pairs, _dual_norms, measured

TOL = 1e-8


def pairs_with(norms, sizes, floors):
    """Pairs of which only the rows of these three matter."""
    norms, sizes, floors = (np.array(rows, float) for rows in (norms, sizes, floors))
    rest = {field.name: np.zeros(norms.shape[1]) for field in fields(Pairs) if field.name not in ("gaps", "spare")}
    rest |= {"norms": norms, "sizes": sizes, "floors": floors, "sigma": None}
    return Pairs(**rest)


class TestExcess:
    def test_of_the_worst_pair(self):
        pairs = pairs_with([[1e-8, 6e-8, 0.0]], [[2.0, 3.0, 0.0]], [[0.0, 0.0, 0.0]])
        assert pairs.excess(TOL) == pytest.approx(2.0)
        assert not pairs.met(TOL)
        assert pairs.met(2.1 * TOL)

    def test_nothing_is_asked_of_no_pair(self):
        assert pairs_with([[]], [[]], [[]]).excess(TOL) == 0

    def test_the_floor_of_the_last_coordinates_excuses(self):
        pairs = pairs_with([[4e-8]], [[1.0]], [[5e-8]])
        assert pairs.excess(TOL) <= 1
        assert not pairs.met(TOL)
        assert pairs_with([[6e-8]], [[1.0]], [[5e-8]]).excess(TOL) == pytest.approx(1.2)

    def test_the_worse_of_both_coordinates_counts(self):
        for norms in ([[3e-8], [1e-9]], [[1e-9], [3e-8]]):
            assert pairs_with(norms, [[1.0], [1.0]], [[0.0], [0.0]]).excess(TOL) == pytest.approx(3.0)

    def test_the_floor_of_the_users_coordinates_excuses_only_if_lenient(self):
        pairs = pairs_with([[4e-8], [2e-9]], [[1.0], [1.0]], [[5e-8], [1e-10]])
        assert pairs.excess(TOL) == pytest.approx(4.0)
        assert pairs.excess(TOL, lenient=True) == pytest.approx(0.8)
        # excused by rounding is not met
        assert not pairs.met(TOL)

    def test_rounding_in_the_last_coordinates_excuses_both(self):
        pairs = pairs_with([[4e-8], [9e-11]], [[1.0], [1.0]], [[0.0], [1e-10]])
        assert pairs.excess(TOL) == 1
        assert pairs_with([[4e-8], [2e-10]], [[1.0], [1.0]], [[0.0], [1e-10]]).excess(TOL) == pytest.approx(4.0)

    def test_met_in_all_coordinates(self):
        for norms, met in (([1e-9, 3e-8], False), ([3e-8, 1e-9], False), ([2e-9, 1e-9], True)):
            assert pairs_with([[norm] for norm in norms], [[1.0], [1.0]], [[0.0], [1.0]]).met(TOL) == met


def test_each_figure_stays_with_its_pair():
    """Values that rounding has exchanged are put in order, with all that belongs to them, gaps included."""
    values = np.array([3.0, 9.0, 6.0])
    columns = {name: place + values for place, name in enumerate(COLUMNS)}
    for name in ("vectors", "norms", "sizes", "floors"):
        columns[name] = np.stack([columns[name], 100 + columns[name]])
    columns["values"] = values
    pairs = Pairs(**columns, gaps=values / 10, spare=np.ones((2, 5)), sigma=7.0)
    falling = pairs.ordered(lambda rising: np.arange(rising.size)[::-1])
    for name in COLUMNS:
        np.testing.assert_array_equal(getattr(falling, name), columns[name][..., [1, 2, 0]], err_msg=name)
    np.testing.assert_array_equal(falling.gaps, [0.9, 0.6, 0.3])
    np.testing.assert_array_equal(falling.spare, np.ones((2, 5)))
    assert falling.sigma == 7
    assert falling.ordered(lambda rising: np.arange(rising.size)[::-1]) is falling


def setup_of(A, B, k, **question):
    problem, pencil = asked(A, B, k, method=sm.Accelerated(), **question)
    workspace = Workspace(problem, pencil, choose(problem, pencil), np.random.default_rng(0))
    return next(setups(workspace))[1]


def close_to(A, B, values, size):
    """The vectors of these eigenvalues, with errors of this size in all directions."""
    every, U = scipy.linalg.eigh(A, B)
    exact = U[:, [int(np.argmin(np.abs(every - value))) for value in values]]
    return exact + size * np.random.default_rng(1).standard_normal(exact.shape)


@pytest.mark.parametrize("dtype", [float, complex])
@pytest.mark.parametrize("spread", [1.0, 1e3])
def test_relative_to_the_value_and_the_length_of_Bu(dtype, spread):
    """In the coordinates of the user, however badly his unknowns are scaled."""
    A, B = pair_of(np.arange(1.0, 31.0), dtype=dtype)
    d = np.geomspace(1, spread, 30)
    A, B = (d[:, None] * M * d for M in (A, B))
    setup = setup_of(A, B, 3)
    pencil = setup.products.pencil
    assert (pencil.scaling is not None) == (spread > 10)
    X = close_to(A, B, [30, 29, 28], 1e-4 / spread)
    pairs = measured(setup, RitzBlock(np.arange(3.0), pencil.from_vectors(X), lambda values: np.arange(3)[::-1]))
    U = pencil.vectors_of(pairs.vectors)
    BU = B @ U
    np.testing.assert_allclose(np.linalg.norm(A @ U - BU * pairs.values, axis=0), pairs.norms[0], rtol=1e-8)
    np.testing.assert_allclose(np.abs(pairs.values) * np.linalg.norm(BU, axis=0), pairs.sizes[0], rtol=1e-10)
    np.testing.assert_allclose(pairs.residuals, pairs.norms[0] / pairs.sizes[0], rtol=1e-10)
    assert (np.diff(pairs.values) < 0).all()


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("dtype", [float, complex])
@pytest.mark.parametrize("question", [{"which": "smallest"}, {"sigma": 3.3}, {"sigma": 21.4}], ids=str)
class TestPurified:
    """A step of inverse iteration removes what vectors have of eigenvalues far from σ."""

    def made(self, kind, dtype, question):
        every = np.r_[np.arange(1.0, 21.0), 1e6]
        A, B = pair_of(every, dtype=dtype)
        setup = setup_of(kind(A), kind(B), 3, **question)
        wanted = every[np.argsort(np.abs(every - question.get("sigma", 0.0)))[:3]]
        X = close_to(A, B, wanted, 1e-5)
        return setup, wanted, measured(setup, RitzBlock(wanted, X, lambda values: np.argsort(wanted.argsort())))

    def test_gains(self, kind, dtype, question):
        setup, wanted, pairs = self.made(kind, dtype, question)
        better = purified(setup, pairs)
        assert better.excess(TOL) < 0.5 * pairs.excess(TOL)
        np.testing.assert_allclose(np.sort(better.values), np.sort(wanted), rtol=1e-6)

    def test_gaps_are_those_of_the_new_values(self, kind, dtype, question):
        """Of 1/(λ − σ), to where others may be: from the least of them on, which is known up to its error."""
        setup, wanted, pairs = self.made(kind, dtype, question)
        pairs.gaps = np.full(3, np.inf)
        better = purified(setup, pairs)
        others = np.setdiff1d(np.arange(1.0, 21.0), wanted)
        near, far = (1 / (values - pairs.sigma) for values in (better.values, others))
        assert (better.gaps <= np.abs(near[:, None] - far).min(axis=1)).all()
        np.testing.assert_allclose(better.gaps, np.abs(near) - np.abs(near).min(), atol=1e-4)
        assert better.gaps[np.abs(near).argmin()] < 0

    def test_until_the_tolerance_is_met(self, kind, dtype, question):
        setup, _, pairs = self.made(kind, dtype, question)
        better, excess = _improved(setup, pairs, 1e-6)
        assert pairs.excess(1e-6) > 1
        assert excess == better.excess(1e-6) <= 1

    def test_not_where_there_is_nothing_to_gain(self, kind, dtype, question):
        setup, _, pairs = self.made(kind, dtype, question)
        loose = 2 * float((pairs.norms / pairs.sizes).max())
        assert _improved(setup, pairs, loose)[0] is pairs


def test_a_system_that_is_not_solved_bounds_nothing():
    class Half:
        def solve_block(self, R):
            return R / 2, R / 2

    products = Products(Pencil(np.eye(6), np.diag(np.ones(6))), solver=Half())
    assert np.isinf(_dual_norms(products, np.ones((6, 2)))).all()


def test_rounding_does_not_excuse_a_vector_in_the_null_space_of_B():
    """Its product with B is rounding, and its eigenvalue, which is infinite, a large random number."""
    eps = float(np.finfo(float).eps)
    values, errors, lengths = [1.0, 1e16], [0.0, 0.0], [1.0, 1.0]
    levels = levels_of(values, errors, [[0.0, 0.0], lengths, [1.0, eps]], (1.0, 1.0), eps, None)
    assert levels.floors[0] == pytest.approx(2 * ROUNDING_UNITS * eps)
    assert levels.floors[1] == 0
