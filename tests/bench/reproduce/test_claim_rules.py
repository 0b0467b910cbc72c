"""The rules that judge the claims, on either side of each of their limits."""

from dataclasses import replace

import numpy as np
import pytest

from published import as_published, clustered, judged, stat
from splitmerge.bench.reproduce import lapla, table1
from splitmerge.bench.reproduce.claims.judgement import by_share
from splitmerge.bench.reproduce.paper import TABLE1
from splitmerge.bench.reproduce.results import Results

WORDS = {2: "reproduced", 1: "partly", 0: "not reproduced"}
KEYS = list(TABLE1)


@pytest.mark.parametrize(
    ("good", "total", "word"),
    [(4, 4, 2), (3, 4, 1), (2, 4, 1), (1, 4, 0), (0, 4, 0), (3, 5, 1), (2, 5, 0), (1, 1, 2), (0, 1, 0)],
)
def test_by_share(good, total, word):
    assert by_share(good, total) == WORDS[word]


def cells(**seconds):
    """Every method takes one second in every cell, but for those given: seconds, or a function of n and κ_B."""
    names = (*table1.RANKED, "PMD adaptive", "Lanczos reorthogonalised", "splitmerge", "eigsh")
    found = {key: {name: stat(1.0) for name in names} for key in KEYS}
    for name, given in seconds.items():
        for key in KEYS:
            found[key][name.replace("_", "-")] = stat(given(*key) if callable(given) else given)
    return found


def word_of(start, results):
    """The judgement of the claim whose statement begins like this."""
    (judgement,) = [judgement for text, judgement in judged(results).items() if text.startswith(start)]
    return judgement.word


def first(count):
    """Fast in this many cells, slow in the others."""
    return lambda n, kappa: 0.5 if KEYS.index((n, kappa)) < count else 2.0


class TestTable:
    @pytest.mark.parametrize(("count", "word"), [(30, 2), (29, 1), (15, 1), (14, 0)])
    def test_faster_than_power(self, count, word):
        assert word_of("Split-Merge beats the power", Results(cells(Split_Merge=first(count)))) == WORDS[word]

    def test_equally_fast_is_not_faster(self):
        assert word_of("Split-Merge beats the power", Results(cells())) == "not reproduced"

    @pytest.mark.parametrize(("count", "word"), [(30, 2), (27, 2), (26, 1), (15, 1), (14, 0)])
    def test_nearly_all_are_nine_tenths(self, count, word):
        assert word_of("Split-Merge is the fastest", Results(cells(Split_Merge=first(count)))) == WORDS[word]

    @pytest.mark.parametrize(("seconds", "word"), [(0.9, 0), (1.0, 0), (1.01, 2), (1.49, 2), (1.51, 1)])
    def test_slightly_slower_for_the_largest_pairs(self, seconds, word):
        found = cells(Split_Merge=lambda n, kappa: seconds if n == 1024 else 5.0)
        assert word_of("For n = 1024 Lanczos is slightly faster", Results(found)) == WORDS[word]

    @pytest.mark.parametrize(("small", "word"), [(0.5, 2), (2.0, 0)])
    @pytest.mark.parametrize("start", ["Its lead is largest for n = 256", "Split-Merge is as fast as eigs"])
    def test_small_pairs_only(self, start, small, word):
        found = cells(Split_Merge=lambda n, kappa: small if n == 256 else 1 / small)
        assert word_of(start, Results(found)) == WORDS[word]

    @pytest.mark.parametrize(("limit", "word"), [(9, 2), (8, 2), (6, 1), (4, 0)])
    def test_well_conditioned_pairs_only(self, limit, word):
        """κ_B is 3, 5 or 8 in the cells below 10."""
        found = cells(GD=lambda n, kappa: 0.5 if kappa <= limit else 2.0)
        assert word_of("Gradient descent beats", Results(found)) == WORDS[word]

    @pytest.mark.parametrize(("shares", "word"), [((0.99, 0.99), 2), ((0.99, 1.0), 1), ((1.0, 1.0), 0)])
    def test_failures_of_lanczos(self, shares, word):
        found = as_published()
        for key, share in zip(((1024, 3), (1024, 5)), shares, strict=True):
            found[key]["Lanczos"] = stat(1.0, share)
        assert word_of("For n = 1024 Lanczos fails", Results(found)) == WORDS[word]

    def test_every_start_is_every_start(self):
        found = as_published()
        assert word_of("Split-Merge converges from every start", Results(found)) == "reproduced"
        found[512, 10]["Split-Merge"] = stat(1.0, 0.99)
        assert word_of("Split-Merge converges from every start", Results(found)) == "partly"

    @pytest.mark.parametrize(("ratio", "word"), [(1.24, 2), (1.26, 1), (1.99, 1), (2.01, 0)])
    def test_close_to_the_best(self, ratio, word):
        theirs = [row.PMD / min(row[:5]) for (n, _), row in TABLE1.items() if n == 256]
        mean = float(np.exp(np.mean(np.log(theirs))))
        assert word_of("For n = 256 mirror descent", Results(cells(PMD=ratio * mean))) == WORDS[word]

    @pytest.mark.parametrize(
        ("products", "solves", "word"), [(101, 100, 2), (100, 100, 0), (102, 100, 0), (101, 99, 0)]
    )
    def test_cost_of_a_step(self, products, solves, word):
        """Fifty steps, and one product with A before them."""
        found = cells()
        for stats in found.values():
            stats["Split-Merge"] = replace(stat(1.0, products=products), steps=50.0, B_solves=solves)
        assert word_of("A step of Split-Merge takes two", Results(found)) == WORDS[word]


class TestClustered:
    @pytest.mark.parametrize(
        ("gains", "word"), [((11.4, 7.4), 2), ((11.3, 7.4), 1), ((11.4, 7.3), 1), ((1.0, 1.0), 0), ((1.01, 0.5), 1)]
    )
    def test_gain(self, gains, word):
        """At least two thirds of 17 and of 11."""
        pairs, factors, curves = clustered(gains)
        results = Results(pairs=pairs, factors=factors, curves=curves)
        assert word_of("PCG makes Split-Merge", results) == WORDS[word]

    @pytest.mark.parametrize(("count", "word"), [(4, 2), (3, 1), (2, 1), (1, 0), (0, 0)])
    @pytest.mark.parametrize("claim", ["beats", "flattens", "widest"])
    def test_share_of_the_settings(self, claim, count, word):
        """Two pairs, each with two inner solvers."""
        pairs, factors, curves = clustered((17, 11))
        settings = [(name, inner) for name in pairs for inner in (lapla.CHOLESKY, lapla.PCG)]
        for name, inner in settings[count:]:
            merge, lanczos = (lapla.label(method, inner) for method in ("Split-Merge", "Lanczos"))
            if claim == "beats":
                pairs[name][merge] = stat(100.0)
            elif claim == "flattens":
                pairs[name][lanczos] = stat(1.0)
            else:
                pairs[name][lanczos] = stat(1.0, 0.5, deviation=0.05)
        start = {
            "beats": "On the clustered pairs Split-Merge beats",
            "flattens": "The curve of Lanczos flattens",
            "widest": "Lanczos has the widest spread",
        }[claim]
        assert word_of(start, Results(pairs=pairs, factors=factors, curves=curves)) == WORDS[word]


# Each theorem, by the beginning of its statement: the figure that it is judged by, and the most it may be.
THEOREMS = {
    "Stationary points of f": ("stationary", 1e-12),
    "The minimum of f": ("minimum", 1e-12),
    "All other eigenvectors": ("saddle", -1e-6),
    "∇²f": ("surrogate", 1e-12),
    "Descent methods need no line search": ("rise", 1e-13),
    "Mirror descent with PᵀP = B": ("half", 1e-10),
    "Split-Merge for (A, B)": ("transform", 1e-8),
}


@pytest.mark.parametrize("start", THEOREMS)
def test_theorems(start):
    name, most = THEOREMS[start]
    worst = dict(THEOREMS.values()) | {"published": 1e-3, "merge": 1e-15}
    for figure, word in ((most, "reproduced"), (most + 1e-3 * abs(most), "not reproduced")):
        theory = {"worst": worst | {name: figure}, "pairs": 5, "n": 20, "raised": 0}
        assert word_of(start, Results(theory=theory)) == word


@pytest.mark.parametrize(("raised", "word"), [(0, "reproduced"), (1, "partly")])
def test_a_single_rise_counts(raised, word):
    worst = dict(THEOREMS.values()) | {"published": 1e-3, "merge": 1e-15}
    theory = {"worst": worst, "pairs": 5, "n": 20, "raised": raised}
    assert word_of("A Split-Merge step minimises", Results(theory=theory)) == word
