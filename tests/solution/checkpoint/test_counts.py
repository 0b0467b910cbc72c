"""What a checkpoint takes and leaves: every count of the solve, its random numbers, and rows of any length."""

from dataclasses import asdict

import numpy as np
import pytest

import splitmerge as sm
from asking import tridiagonal
from checking import short
from pairs import EASY as PAIR
from splitmerge.solution.checkpoint import rows
from splitmerge.solution.checkpoint.layout import crc_of

SPARSE = tridiagonal(200), tridiagonal(200, 4.0, 1.0)
SOLVES = {
    "largest": (*PAIR, {"k": 2, "method": sm.Accelerated()}),
    "smallest": (*SPARSE, {"k": 3, "which": "smallest", "method": sm.Accelerated()}),
    "below": (*SPARSE, {"k": 3, "sigma": -0.1, "method": sm.Accelerated()}),
    "sigma": (*SPARSE, {"k": 3, "sigma": 0.3, "method": sm.Accelerated()}),
    "lumped, smallest": (SPARSE[0], np.linspace(1, 2, 200), {"k": 3, "which": "smallest", "method": sm.Accelerated()}),
    "lumped, sigma": (SPARSE[0], np.linspace(1, 2, 200), {"k": 3, "sigma": 0.3, "method": sm.Accelerated()}),
    "identity, smallest": (SPARSE[0], None, {"k": 3, "which": "smallest", "method": sm.Accelerated()}),
    "Split-Merge": (*PAIR, {"k": 2, "method": sm.SplitMerge(), "tol": 1e-2}),
    "smallest by power steps": (*PAIR, {"which": "smallest", "method": sm.Power(), "max_steps": 20}),
    "LOBPCG": (*PAIR, {"k": 2, "method": sm.LocallyOptimal(), "tol": 1e-2}),
}

# without a Cholesky factor of B, vectors take solves of their own, which are monitoring
SOLVING = [name for name in SOLVES if name.startswith(("lumped", "identity"))]


def costs(solution, name):
    """Every count; of monitoring none that the vectors of a checkpoint may add to."""
    counts = asdict(solution.counts)
    return counts | {"monitoring": counts["monitoring"] | ({"K_solves": 0} if name in SOLVING else {})}


def ended(run, *arguments, **options):
    try:
        return run(*arguments, **options)
    except sm.NotConverged as error:
        return error.solution


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.ckpt"


@pytest.mark.parametrize("name", SOLVES)
def test_writing_adds_nothing_to_the_counts(name, path):
    """Of no phase, however often it is done, but for what its vectors take."""
    A, B, options = SOLVES[name]
    plain = ended(sm.solve, A, B, rng=0, **options)
    writing = ended(sm.solve, A, B, rng=0, checkpoint=sm.Checkpoint(path, 0), **options)
    assert costs(writing, name) == costs(plain, name)
    assert writing.history.products.tolist() == plain.history.products.tolist()


@pytest.mark.parametrize("name", SOLVES)
def test_writing_again_adds_nothing_to_the_counts(name, path, tmp_path):
    """A resumed run tells its own costs, and its checkpoints those of all runs."""
    A, B, options = SOLVES[name]
    ended(sm.solve, A, B, rng=0, checkpoint=path, **options | {"max_steps": 2})
    plain = ended(sm.load(path).resume, A, B)
    again = tmp_path / "again.ckpt"
    writing = ended(sm.load(path).resume, A, B, checkpoint=sm.Checkpoint(again, 0))
    assert costs(writing, name) == costs(plain, name)
    before, after = sm.load(path), sm.load(again)
    assert after.steps == before.steps + writing.steps
    for phase in (lambda counts: counts, lambda counts: counts.setup, lambda counts: counts.monitoring):
        one, two, own = (asdict(phase(counts)) for counts in (before.counts, after.counts, writing.counts))
        for kind in ("A_products", "B_products", "B_solves", "K_solves", "P_solves"):
            # what verification makes comes after the last checkpoint
            assert one[kind] <= two[kind] <= one[kind] + own[kind]


@pytest.mark.parametrize("method", [sm.MirrorDescent(stepsize=sm.Sampled()), sm.SplitMerge(), sm.Power()], ids=short)
def test_the_random_numbers_of_a_checkpoint_go_on(path, method):
    """Whoever resumes from one file gets the same bits, and a seed of his own gives others."""
    A, B = PAIR
    ended(sm.solve, A, B, 2, method=method, rng=0, checkpoint=path, max_steps=2)
    before = sm.load(path).generator.bit_generator.state
    one, two = (ended(sm.load(path).resume, A, B, max_steps=8) for _ in range(2))
    assert one.history.value.tobytes() == two.history.value.tobytes()
    assert one.eigenvectors.tobytes() == two.eigenvectors.tobytes()
    loaded = sm.load(path)
    assert loaded.generator.bit_generator.state == before
    ended(loaded.resume, A, B, max_steps=8)
    assert loaded.generator.bit_generator.state != before, "these are the numbers that are used"


def test_the_random_numbers_differ_from_checkpoint_to_checkpoint(path):
    """Their state is that which the solve has come to."""
    A, B = PAIR
    states = []
    for seed in (5, 5, 6):
        ended(sm.solve, A, B, method=sm.Accelerated(), rng=seed, checkpoint=path, max_steps=2)
        states.append(sm.load(path).generator.bit_generator.state)
    assert states[0] == states[1] != states[2]
    assert states[0] != np.random.default_rng(5).bit_generator.state


def test_a_given_seed_takes_the_place_of_the_state(path):
    A, B = PAIR
    ended(sm.solve, A, B, method=sm.MirrorDescent(stepsize=sm.Sampled()), rng=0, checkpoint=path, max_steps=2)
    runs = [ended(sm.load(path).resume, A, B, max_steps=8, rng=seed).history.value for seed in (1, 1, 2)]
    assert runs[0].tobytes() == runs[1].tobytes() != runs[2].tobytes()


@pytest.mark.parametrize("piece", [1, 7, 24, 25, 1000])
def test_rows_longer_than_a_piece(path, monkeypatch, piece):
    """A piece has at least one row; no division of the file changes what is read from it."""
    A, B = PAIR
    ended(sm.solve, A, B, 3, method=sm.Accelerated(), rng=0, checkpoint=path, max_steps=2)
    whole, data = sm.load(path).vectors, path.read_bytes()
    monkeypatch.setattr(rows, "PIECE_BYTES", piece)
    np.testing.assert_array_equal(sm.load(path).vectors, whole)
    ended(sm.solve, A, B, 3, method=sm.Accelerated(), rng=0, checkpoint=path, max_steps=2)
    np.testing.assert_array_equal(sm.load(path).vectors, whole)
    written = path.read_bytes()
    assert len(written) == pytest.approx(len(data), abs=40), "but for the digits of the seconds"
    assert written[-4:] == crc_of(written[:-4]).to_bytes(4, "little")
