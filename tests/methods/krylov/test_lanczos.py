"""The plain Lanczos recurrence and the one with reorthogonalisation."""

import itertools

import numpy as np
import pytest

import splitmerge as sm


@pytest.mark.parametrize("reorthogonalise", [True, False])
def test_a_converged_value_comes_again_without_reorthogonalisation(reorthogonalise):
    A = np.diag(np.r_[np.linspace(0, 1, 199), 10.0])
    states = sm.iterates(A, method=sm.Lanczos(reorthogonalise=reorthogonalise), rng=0)
    process = next(itertools.islice(states, 60, None)).memory
    values, _ = process.ritz(process.steps - 2, process.steps - 1)
    largest, second = np.sort(values)[::-1]
    assert largest == pytest.approx(10)
    assert second == pytest.approx(1 if reorthogonalise else 10, rel=1e-3)
