"""What a checkpoint restores: its shift and the trust in its vectors, for the question that they were found for."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp

import splitmerge as sm
from resuming import N, laplacian, sparse_pair

A, B = sparse_pair()
QUESTIONS = [
    {"which": "largest", "sigma": None},
    {"which": "smallest", "sigma": None},
    {"which": "magnitude", "sigma": None},
    {"which": "largest", "sigma": 1.0},
    {"which": "largest", "sigma": -5.0},
]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.ckpt"


def cut_short(run, path):
    """The checkpoint of a run that ends after a step."""
    with pytest.raises(sm.NotConverged):
        run(max_steps=1, rng=0, checkpoint=path)
    return sm.load(path)


@pytest.mark.parametrize("before", QUESTIONS, ids=str)
@pytest.mark.parametrize("after", QUESTIONS, ids=str)
def test_shift_and_trust_are_those_of_the_same_question(path, before, after):
    """For any other, the vectors may be orthogonal to those that are wanted, and the shift is of no use."""
    sm.solve(A, B, 2, method=sm.Accelerated(), rng=0, checkpoint=path, **before)
    loaded = replace(sm.load(path), shift=7.0)
    assert loaded.trusted
    start = loaded._start(after | {"A": A})
    assert start.trusted is (before == after)
    assert start.shift == (7.0 if before == after else 0.0)


@pytest.mark.parametrize("method", [sm.Accelerated(), sm.SplitMerge()], ids=["accelerated", "split-merge"])
def test_the_shift_of_another_question_is_not_applied(path, method):
    """A positive definite A needs none for its largest eigenvalues."""
    M = sp.csr_array(laplacian(N) + sp.diags_array(np.linspace(1, 30, N)))
    sm.solve(M, sigma=-100.0, method=sm.Accelerated(), rng=0, checkpoint=path)
    sol = sm.load(path).resume(M, sigma=None, method=method, tol=1e-5)
    assert sol.shift == 0
    np.testing.assert_allclose(sol.eigenvalues, sm.solve(M, rng=0).eigenvalues, rtol=1e-4)


@pytest.mark.parametrize("given", [False, True], ids=["random start", "given start"])
@pytest.mark.parametrize("method", [sm.SplitMerge(), sm.Accelerated(), sm.LocallyOptimal()], ids=str)
def test_trust_is_handed_down(path, method, given):
    """From checkpoint to checkpoint, whatever is resumed: what a given start lacks, its descendants lack."""
    x0 = {"x0": np.ones(N)} if given else {}
    loaded = cut_short(partial(sm.solve, A, B, method=method, tol=1e-12, **x0), path)
    for _ in range(3):
        assert loaded.trusted is not given
        loaded = cut_short(partial(loaded.resume, A, B), path)


def test_a_start_that_lacks_the_wanted_vector_is_never_trusted(path):
    """An eigenvector of a smaller eigenvalue, resumed twice: a second run from a perturbed start is still needed."""
    n = 1200
    D = sp.csr_array(sp.diags_array(np.sqrt(np.linspace(0.1, 1, n))))
    loaded = cut_short(partial(sm.solve, D, method=sm.SplitMerge(), x0=np.eye(1, n, n - 4)[0]), path)
    again = cut_short(partial(loaded.resume, D), path)
    assert again.resume(D, max_steps=None).eigenvalues[0] == pytest.approx(1)
