"""What is counted, and under whose name."""

from dataclasses import asdict

import numpy as np
import pytest
import scipy.sparse as sp

import splitmerge as sm
from checking import choices
from pairs import pair_of
from splitmerge.problem.products import Counts, Tally
from splitmerge.sparse_direct.cholesky import SparseFactor

OWN, SETUP, MONITORING = (dict(zip(asdict(Tally()), range(i, i + 5), strict=True)) for i in (1, 11, 101))


def exchanged(said):
    """What the pair (B, A − σB) calls a product with A is one with B, and a solve with B one with A − σB."""
    return {
        "A_products": said["B_products"],
        "B_products": said["A_products"],
        "B_solves": said["K_solves"],
        "K_solves": said["B_solves"],
        "P_solves": said["P_solves"],
    }


def test_the_tally_of_a_swapped_pair():
    assert asdict(Tally(**OWN).swapped()) == exchanged(OWN)


def test_the_counts_of_a_swapped_pair_in_every_phase():
    counts = Counts(**SETUP, setup=Tally(**OWN), monitoring=Tally(**MONITORING))
    counts.add_swapped(Counts(**OWN, setup=Tally(**SETUP), monitoring=Tally(**MONITORING)))
    found = asdict(counts)
    phases = {name: found.pop(name) for name in ("setup", "monitoring")}
    for phase, before, added in (
        (found, SETUP, OWN),
        (phases["setup"], OWN, SETUP),
        (phases["monitoring"], MONITORING, MONITORING),
    ):
        assert phase == {name: before[name] + number for name, number in exchanged(added).items()}


@pytest.mark.parametrize("question", [{"which": "smallest"}, {"sigma": -1.0}, {"sigma": 99.0}], ids=str)
def test_solves_with_a_swapped_pair_are_with_A(question, monkeypatch):
    """Every one of them is counted, none as a solve with B, and products with B outnumber those with A.

    A random start takes one solve more.
    """
    made = []
    solve, block = SparseFactor.solve, SparseFactor.solve_block
    monkeypatch.setattr(SparseFactor, "solve", lambda self, b, *more: made.append(1) or solve(self, b, *more))
    monkeypatch.setattr(SparseFactor, "solve_block", lambda self, R: made.append(R.shape[1]) or block(self, R))
    A, B = (sp.csr_array(M) for M in pair_of(np.linspace(1, 30, 60)))
    sol = sm.solve(A, B, 2, method=sm.Accelerated(), rng=0, **question)
    assert "SWAPPED" in choices(sol)
    phases = (sol.counts, sol.counts.setup, sol.counts.monitoring)
    assert sum(phase.K_solves for phase in phases) == sum(made)
    assert sum(phase.B_solves for phase in phases) == 0
    assert sol.counts.B_products + 1 == sol.counts.K_solves > sol.counts.A_products
