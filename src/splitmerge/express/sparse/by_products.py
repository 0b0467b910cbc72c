"""The largest of a plain sparse pair with a diagonal B, from the arguments to the solution."""

from __future__ import annotations

import time
from functools import partial
from typing import Any

import scipy.sparse as sp

from ...planning.costs import prefers_direct_search
from ...planning.decision import Choice, Decision
from ...problem.problem import Problem
from ...problem.products import Counts, Tally
from ...problem.start import generator
from ...solution.solution import Solution
from ...verification.completeness import LOOSE_TOL
from ..result import USUAL, iteration, made
from .completed import Completion, Told
from .direct import DirectSearch
from .pair import SparsePair, made_countable, sparse_pair

# Pairs with at most this number of entries are certified by an inertia count, if their factors are sparse.
COUNTED_NONZEROS = 8000
# Decisions whose figures are always the same.
IDENTITY = Decision(Choice.IDENTITY)
DIAGONAL = Decision(Choice.SOLVER, {"solver": "its diagonal", "backend": None})


def by_products(asked: dict[str, Any], rng: Any, began: float) -> Solution | None:
    """The solution; None if the pipeline has to take over."""
    if asked["which"] not in ("largest", "magnitude") or not _is_lumped(asked["B"]):
        return None
    pair, counted = _pair(asked)
    if pair is None:
        return None
    ready = time.perf_counter()
    search = DirectSearch(pair, asked["k"], asked["tol"], generator(rng), magnitude=asked["which"] == "magnitude")
    if not search.converge():
        return None
    problem = made(Problem, **USUAL | asked)
    probe = None if counted else search.probe
    return Completion(search, problem, began, ready, partial(_told, search, problem), probe=probe).solution()


def _is_lumped(B: Any) -> bool:
    """Has it no more entries than a diagonal?"""
    matrix: Any = B
    return B is None or (sp.issparse(B) and bool(matrix.nnz == matrix.shape[0]))


def _pair(asked: dict[str, Any]) -> tuple[SparsePair | None, bool]:
    """The pair, and whether its eigenvalues are to be counted, which the factors may not allow."""
    n, k = asked["A"].shape[0], asked["k"]
    preferred = 0 < k < n and prefers_direct_search(n, k)
    pair = sparse_pair(asked["A"], asked["B"]) if preferred else None
    if pair is None or pair.DBD is not None:
        return None, False
    # of more entries a factorisation takes longer than a probe
    if asked["certify"] or (k > 1 and pair.A.nnz <= COUNTED_NONZEROS):
        counted = made_countable(pair)
        if counted is not None or asked["certify"]:
            return counted, True
    return (None if asked["tol"] > LOOSE_TOL else pair), False


def _told(search: DirectSearch, problem: Problem) -> Told:
    pair, k, masses = search.pair, problem.k, search.pair.B is not None
    products = search.process.products
    counts = Counts(products, B_solves=masses * products)
    monitoring = Tally(k + search.probed, masses * k, masses * (k + search.probed))
    decisions = *pair.opening(problem), DIAGONAL if masses else IDENTITY, iteration(problem.tol)
    return Told(search.shift, counts, monitoring, decisions)
