"""Planning makes no product and no factorisation, and what it reads and returns cannot be written to."""

import math
import sys
from dataclasses import FrozenInstanceError, replace
from functools import cache

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse.linalg

import splitmerge as sm
from asking import Counted, asked, tridiagonal
from splitmerge.linalg import extreme
from splitmerge.linalg.cholesky import DenseFactor
from splitmerge.linalg.ldl import DenseShifted
from splitmerge.methods.survey import survey
from splitmerge.planning.choose import choose
from splitmerge.planning.costs import predicted_seconds
from splitmerge.planning.decision import Choice, decided
from splitmerge.planning.plan import Candidate, Engine, Map, Plan
from splitmerge.preconditioners import Preconditioner
from splitmerge.preconditioners.user import UserDiagonal, UserPreconditioner
from splitmerge.problem import factorise, operator
from splitmerge.problem.products import Products
from splitmerge.problem.target import Target
from splitmerge.sparse_direct import choice
from splitmerge.sparse_direct.backends import qdldl, superlu
from splitmerge.sparse_direct.cholesky import SparseFactor
from splitmerge.sparse_direct.ldl import SparseShifted

FACTORS = (DenseFactor, DenseShifted, SparseFactor, SparseShifted, superlu.SuperLU, qdldl.QDLDL)
FUNCTIONS = (
    *(
        choice.definite_factors,
        choice.triangular_factors,
        choice.indefinite_factors,
        superlu.symmetric_lu,
        qdldl.unpivoted,
    ),
    *(factorise.factorise, factorise.is_definite, factorise.shifted_factor, operator.as_dense, operator.plus, survey),
    *(extreme.lower_factor, extreme.extreme_pairs),
    *(scipy.linalg.eigh, scipy.linalg.eigvalsh, scipy.linalg.cholesky, scipy.linalg.lu_factor),
    *(np.linalg.eigh, np.linalg.eigvalsh, np.linalg.cholesky, np.linalg.qr, np.linalg.svd),
    *(scipy.sparse.linalg.splu, scipy.sparse.linalg.factorized),
)
PRODUCTS = ("apply_A", "apply_B", "apply_plain_A", "apply_whitened", "products_A", "products_B", "in_double")
SOLVES = ("solve_B", "solves_B", "solve_K", "solve_P", "solves_P")

WANTED = {
    "largest": {"which": "largest"},
    "smallest": {"which": "smallest"},
    "magnitude": {"which": "magnitude"},
    "ends": {"which": "ends"},
    "sigma": {"sigma": 0.3},
}
METHODS = (
    *(None, sm.Accelerated(), sm.Accelerated(inner=sm.ConjugateGradient(20)), sm.LocallyOptimal()),
    *(sm.LocallyOptimal(sm.MultiGrid()), sm.SplitMerge(), sm.Power(), sm.Lanczos()),
)
HINTS = ({}, {"preconditioner": sm.MultiGrid()}, {"diagonal": 1.0}, {"certify": True}, {"max_steps": 9})
# LAPACK's size; an iteration's; one for which the cost of a factorisation is predicted
SIZES = {"dense": (20, 450), "sparse": (20, 450, 20_000), "operator": (20, 450, 20_000)}


@cache
def pair(kind, n, *, identity=False):
    """A pair of which the products of the operators are counted."""
    A, B = tridiagonal(n), None if identity else tridiagonal(n, 4.0, 1.0)
    if kind == "dense":
        A, B = A.toarray(), None if B is None else B.toarray()
    if kind == "operator":
        A, B = Counted(A), None if B is None else Counted(B)
    return A, B


def touched(*_, **__):
    raise AssertionError("planning must neither multiply nor factorise")


@pytest.fixture
def nothing_but_plans(monkeypatch):
    """Every factorisation and every product raises, by whichever name a module of the package knows it."""
    for cls in FACTORS:
        monkeypatch.setattr(cls, "__init__", touched)
    for cls in (Preconditioner, UserPreconditioner, UserDiagonal):
        monkeypatch.setattr(cls, "prepare", touched)
    for name in (*PRODUCTS, *SOLVES):
        monkeypatch.setattr(Products, name, touched)
    monkeypatch.setattr(operator.Operator, "in_double", touched)
    forbidden = {id(function) for function in FUNCTIONS}
    for module in [sys.modules[name] for name in sorted(sys.modules)]:
        name = getattr(module, "__name__", "")
        if name.startswith("splitmerge.") or name in ("scipy.linalg", "scipy.sparse.linalg", "numpy.linalg"):
            for attribute, value in list(vars(module).items()):
                if id(value) in forbidden:
                    monkeypatch.setattr(module, attribute, touched)


def unmultiplied(pencil):
    """The pencil with operators that cannot be multiplied by."""
    parts = {name: getattr(pencil, name) for name in "AB"}
    parts = {
        name: op if op is None else replace(op, times=touched, times_block=touched, recast=touched)
        for name, op in parts.items()
    }
    return pencil._derived(**parts)


def products_of(*matrices):
    return [M.columns for M in matrices if isinstance(M, Counted)]


def allowed(wanted, method, hint):
    """May all this be asked for together?"""
    end, default = wanted in ("largest", "smallest"), method is None or method.subspace
    if isinstance(method, sm.LocallyOptimal) and not end:
        return False
    if not default and ("certify" in hint or not end):
        return False
    if not hint.keys() & {"preconditioner", "diagonal"}:
        return True
    if isinstance(method, sm.Accelerated):
        return method.inner is None and wanted not in ("smallest", "sigma")
    return default and wanted != "sigma" and getattr(method, "preconditioner", None) is None


def problems(kind, n, wanted):
    """Whatever may be asked for of this pair."""
    for k in (1, 5):
        for method in METHODS:
            for hint in HINTS:
                if allowed(wanted, method, hint):
                    options = {name: np.ones(n) if name == "diagonal" else value for name, value in hint.items()}
                    yield asked(*pair(kind, n), k, method=method, **WANTED[wanted], **options)


each_pair = pytest.mark.parametrize(
    ("kind", "n"), [(kind, n) for kind, sizes in SIZES.items() for n in sizes if n < 20_000]
)


def check_plan(plan, problem, pencil):
    """There is a way, and each has its price."""
    assert isinstance(plan, Plan)
    assert isinstance(plan.candidates, tuple)
    assert plan.candidates
    for candidate in plan.candidates:
        seconds = predicted_seconds(candidate, plan, pencil, problem.k)
        unknown = candidate.engine is Engine.DEFLATION or not pencil.has_entries
        free = candidate.engine in (Engine.LAPACK, Engine.LOBPCG)
        # an iteration one pair at a time, or with products of unknown cost, has no predicted time
        assert math.isnan(seconds) == (unknown and not free), candidate
        assert math.isnan(seconds) or 0 <= seconds < math.inf, candidate


@each_pair
@pytest.mark.parametrize("wanted", WANTED)
def test_no_product_and_no_factorisation(nothing_but_plans, kind, n, wanted):
    count = 0
    for problem, pencil in problems(kind, n, wanted):
        before, attributes = products_of(problem.A, problem.B), dict(vars(pencil))
        count += 1
        lapack = n == 20 and problem.method is None and (problem.max_steps is None or problem.k == 5)
        if kind == "operator" and wanted == "sigma" and not lapack:
            with pytest.raises(ValueError, match="sigma needs the entries"):
                choose(problem, unmultiplied(pencil))
        else:
            plan = choose(problem, unmultiplied(pencil))
            check_plan(plan, problem, pencil)
            assert choose(problem, pencil) == plan
        assert products_of(problem.A, problem.B) == before
        assert vars(pencil) == attributes
    assert count > 10


@pytest.mark.parametrize("kind", ["sparse", "operator"])
@pytest.mark.parametrize(
    ("wanted", "k", "options"),
    [
        ("largest", 1, {}),
        ("smallest", 5, {}),
        ("smallest", 1, {"method": sm.LocallyOptimal()}),
        ("smallest", 1, {"preconditioner": sm.MultiGrid()}),
        ("ends", 2, {}),
        ("sigma", 2, {}),
        ("largest", 1, {"method": sm.SplitMerge()}),
    ],
    ids=str,
)
def test_large(nothing_but_plans, kind, wanted, k, options):
    """Here the cost of a factorisation is predicted, from the pattern alone."""
    problem, pencil = asked(*pair(kind, 20_000), k, **WANTED[wanted], **options)
    before = products_of(problem.A, problem.B)
    if (kind, wanted) == ("operator", "sigma"):
        with pytest.raises(ValueError, match="sigma needs the entries"):
            choose(problem, unmultiplied(pencil))
        return
    plan = choose(problem, unmultiplied(pencil))
    check_plan(plan, problem, pencil)
    assert products_of(problem.A, problem.B) == before
    asks = kind == "sparse" and wanted != "sigma" and "preconditioner" not in options
    asks = asks and not isinstance(options.get("method"), sm.SplitMerge)
    assert (plan.prediction is not None) == asks


@pytest.mark.parametrize("identity", [False, True])
def test_the_standard_problem(nothing_but_plans, identity):
    for which in ("largest", "smallest", "magnitude", "ends"):
        problem, pencil = asked(*pair("sparse", 450, identity=identity), 3, which)
        check_plan(choose(problem, unmultiplied(pencil)), problem, pencil)


def test_the_fixture_itself(nothing_but_plans):
    """What a set-up does is refused, so that planning would be."""
    dense, sparse = tridiagonal(6).toarray(), tridiagonal(6)
    for A, B in ((dense, dense), (sparse, sparse)):
        _, pencil = asked(A, B)
        for attempt in (
            lambda pencil=pencil: factorise.factorise(pencil.B),
            lambda pencil=pencil: pencil.products.apply_plain_A(np.ones(6)),
            lambda pencil=pencil: unmultiplied(pencil).A.times(np.ones(6)),
            lambda pencil=pencil: sm.MultiGrid().prepare(pencil),
            lambda A=A: DenseFactor(A),
            lambda A=A: SparseShifted(A),
            lambda A=A: scipy.linalg.eigh(A),
            lambda A=A, B=B: sm.solve(A, B),
        ):
            with pytest.raises(AssertionError, match="neither"):
                attempt()


PROBLEM, PENCIL = asked(np.diag([1.0, 2.0, 3.0]), np.diag([1.0, 4.0, 1000.0]), 2)
FROZEN = {
    "Problem": PROBLEM,
    "Pencil": PENCIL,
    "negated Pencil": PENCIL.negated(),
    "swapped Pencil": PENCIL.swapped(PENCIL.A, 0.0, 1),
    "Plan": choose(PROBLEM, PENCIL),
    "Candidate": Candidate(Engine.KRYLOV, Map.SWAPPED, clear=True),
    "Target": Target.farthest(1.0),
    "Operator": PENCIL.A,
    "Decision": decided(Choice.IDENTITY),
}


@pytest.mark.parametrize("thing", FROZEN.values(), ids=FROZEN)
def test_frozen(thing):
    names = [name for name in dir(thing) if not name.startswith("__")]
    assert len(names) >= 2
    values = thing._asdict() if isinstance(thing, tuple) else dict(vars(thing))
    for name in [*names, "anything_new"]:
        with pytest.raises((FrozenInstanceError, AttributeError)):
            setattr(thing, name, None)
        with pytest.raises((FrozenInstanceError, AttributeError)):
            delattr(thing, name)
    assert (thing._asdict() if isinstance(thing, tuple) else vars(thing)) == values
