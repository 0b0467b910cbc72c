"""What an external solver is given: operators that multiply and solve as the matrices do, and count every column."""

import numpy as np
import pytest
import scipy.sparse as sp

from pairs import grid, pair_of
from splitmerge.bench.counted import Task
from splitmerge.bench.external import EXTERNALS

N = 9
PAIRS = {
    "dense": pair_of(np.linspace(1, 4, N)),
    "sparse": (sp.csr_array(grid(3)), sp.csr_array(grid(3) + 2 * sp.eye_array(N))),
}
each_pair = pytest.mark.parametrize("kind", PAIRS)
each_letter = pytest.mark.parametrize("letter", ["A", "B"])


def task(kind, tally, k=2, x0=None):
    return Task(*PAIRS[kind], k, largest=True, tol=1e-8, x0=x0, tally=tally)


def dense(kind, letter):
    M = PAIRS[kind]["AB".index(letter)]
    return M.toarray() if sp.issparse(M) else M


@each_pair
@each_letter
@pytest.mark.parametrize(("solves", "name"), [(False, "products"), (True, "solves")], ids=["products", "solves"])
def test_every_column_counts(kind, letter, solves, name):
    """A vector, a column, a block, and what is left of a block of which some columns have converged."""
    tally = {}
    given = task(kind, tally)
    operator = given.inverse(letter) if solves else given.given(letter)
    matrix = np.linalg.inv(dense(kind, letter)) if solves else dense(kind, letter)
    expected = 0
    for shape in ((N,), (N, 1), (N, 4), (N, 3)):
        X = np.random.default_rng(len(shape)).standard_normal(shape)
        np.testing.assert_allclose(operator @ X, matrix @ X, atol=1e-12)
        expected += X.size // N
        assert tally == {f"{letter}_{name}": expected}


@each_pair
@each_letter
def test_without_a_tally_there_is_nothing_between(kind, letter):
    given = task(kind, None)
    assert given.given(letter) is PAIRS[kind]["AB".index(letter)]
    x = np.arange(1.0, N + 1)
    np.testing.assert_allclose(given.inverse(letter) @ x, np.linalg.solve(dense(kind, letter), x), atol=1e-12)


@pytest.mark.parametrize("tally", [None, {}])
def test_the_identity_is_neither_multiplied_nor_solved(tally):
    given = Task(PAIRS["dense"][0], None, 2, largest=True, tol=1e-8, x0=None, tally=tally)
    assert given.given("B") is None
    assert given.inverse("B") is None


class Counting(np.ndarray):
    """A matrix that counts the columns it is multiplied by."""

    columns = 0

    def __matmul__(self, X):
        Counting.columns += X.size // self.shape[1]
        return np.asarray(self) @ X


@pytest.mark.parametrize("k", [1, 3])
@pytest.mark.parametrize(("name", "before"), [("eigsh", 0), ("lobpcg", 1)])
def test_products_of_a_solver_are_those_of_its_matrix(name, before, k):
    """One product `before` makes the absolute tolerance of lobpcg, and is none of its own."""
    A, B = pair_of(np.linspace(1, 4, 40))
    Counting.columns = 0
    external = next(external for external in EXTERNALS if external.name == name)
    answer = external.counted(A.view(Counting), B, k, "largest", 1e-6)
    np.testing.assert_allclose(answer.values, np.linspace(1, 4, 40)[::-1][:k], rtol=1e-5)
    assert answer.products["A_products"] == Counting.columns - before > k
