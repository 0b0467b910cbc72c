"""The default solver's starts, its random numbers, its threads, and how few products it takes."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import scipy.sparse as sp

import splitmerge as sm
from strategies import gep

QUESTIONS = [{"which": "largest"}, {"which": "smallest"}, {"which": "ends"}, {"sigma": 0.3}]
each_question = pytest.mark.parametrize("question", QUESTIONS, ids=str)


def grid(n, m):
    def line(size):
        return sp.diags_array([-np.ones(size - 1), 2 * np.ones(size), -np.ones(size - 1)], offsets=[-1, 0, 1])

    return sp.kronsum(line(n), line(m), format="csr")


def same(first, second):
    assert first.eigenvalues.tobytes() == second.eigenvalues.tobytes()
    assert first.eigenvectors.tobytes() == second.eigenvectors.tobytes()
    assert first.residuals.tobytes() == second.residuals.tobytes()
    assert first.error_bounds.tobytes() == second.error_bounds.tobytes()
    assert first.counts == second.counts


PAIRS = {
    "dense": sm.gallery.synthetic_pair(200, 30.0, rng=3),
    "sparse": (grid(16, 17), sp.diags_array(1 + np.arange(272) % 5 / 3, format="csr")),
}


@each_question
@pytest.mark.parametrize("name", PAIRS)
def test_the_same_seed_gives_the_same_bits(name, question):
    A, B = PAIRS[name]
    same(sm.solve(A, B, 4, rng=7, **question), sm.solve(A, B, 4, rng=7, **question))
    same(sm.solve(A, B, 4, rng=np.random.default_rng(7), **question), sm.solve(A, B, 4, rng=7, **question))


@each_question
@pytest.mark.parametrize("name", PAIRS)
def test_threads(name, question):
    A, B = PAIRS[name]

    def run(seed):
        return sm.solve(A, B, 4, rng=seed, **question)

    alone = [run(seed) for seed in range(6)]
    with ThreadPoolExecutor(2) as pool:
        together = list(pool.map(run, range(6)))
    for first, second in zip(alone, together, strict=True):
        same(first, second)


@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize("error", [0.0, 1e-10])
def test_a_nearly_exact_start_takes_a_few_products(name, error):
    A, B = PAIRS[name]
    values, vectors = gep(A, B)
    u = vectors[:, 0] + error * np.random.default_rng(0).standard_normal(A.shape[0])
    sol = sm.solve(A, B, x0=u, rng=0)
    assert sol.counts.A_products <= 3
    assert sol.eigenvalues[0] == pytest.approx(values[0], rel=1e-10)


@pytest.mark.parametrize("name", PAIRS)
def test_a_good_block_speeds_up(name):
    A, B = PAIRS[name]
    values, vectors = gep(A, B)
    block = vectors[:, :6] + 1e-9 * np.random.default_rng(0).standard_normal((A.shape[0], 6))
    cold, warm = sm.solve(A, B, 6, method=sm.Accelerated(), rng=0), sm.solve(A, B, 6, x0=block, rng=0)
    np.testing.assert_allclose(warm.eigenvalues, values[:6], rtol=1e-9)
    assert warm.counts.A_products < cold.counts.A_products


@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize("m", [1, 3, 6])
def test_any_block_will_do(name, m):
    A, B = PAIRS[name]
    values = gep(A, B)[0]
    for seed in range(3):
        block = np.random.default_rng(seed).standard_normal((A.shape[0], m))
        # columns that depend on each other, too
        for x0 in (block, np.column_stack([block[:, :1]] * m)):
            sol = sm.solve(A, B, 6, x0=x0, rng=seed)
            np.testing.assert_allclose(sol.eigenvalues, values[:6], rtol=1e-9)


@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize("wrong", [1, 5, -1])
@pytest.mark.parametrize("k", [1, 4])
@pytest.mark.parametrize("which", ["largest", "smallest"])
def test_exactly_the_wrong_eigenvector(name, wrong, k, which):
    A, B = PAIRS[name]
    values, vectors = gep(A, B)
    if which == "smallest":
        values, vectors = values[::-1], vectors[:, ::-1]
    sol = sm.solve(A, B, k, which=which, x0=vectors[:, wrong], rng=0)
    np.testing.assert_allclose(sol.eigenvalues, values[:k], rtol=1e-8, atol=1e-9 * np.abs(values).max())


def test_wrong_eigenvectors_of_a_diagonal_matrix():
    """Not even rounding leads out of there."""
    A = sp.diags_array(np.arange(1.0, 301.0), format="csr")
    for columns in ([0], [298], [0, 1, 2]):
        x0 = np.eye(300)[:, columns]
        sol = sm.solve(A, k=3, x0=x0, rng=0)
        np.testing.assert_allclose(sol.eigenvalues, [300.0, 299.0, 298.0], rtol=1e-10)


@pytest.mark.parametrize("n", [256, 512])
@pytest.mark.parametrize("kappa", [1.0, 10.0, 100.0])
def test_products_beside_unrestarted_lanczos(n, kappa):
    """To sin θ ≤ 1e-5, within 1.3 times what Lanczos takes that keeps and reorthogonalises everything."""
    for seed in range(3):
        A, B = sm.gallery.synthetic_pair(n, kappa, rng=seed)
        u = gep(A, B)[1][:, 0]
        stop = sm.SineAngle(u, 1e-5)
        ours = sm.solve(A, B, stop=stop, rng=seed).counts.A_products
        best = sm.solve(A, B, stop=stop, method=sm.Lanczos(), rng=seed).counts.A_products
        assert ours <= 1.3 * best + 1, f"{ours} products, Lanczos {best}"
