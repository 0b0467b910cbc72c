"""What a solution claims, in random combinations of all that `solve` takes.

A case is a function of its number: kinds, types, units and spectrum of A and B, what is wanted, the method and the
other options. All pairs are well-conditioned, so that each claim can be held to its definition (`claims.py`).
"""

from dataclasses import dataclass

import numpy as np
import pytest
import scipy.sparse as sp

import splitmerge as sm
from asking import Counted
from checking import contents
from claims import Claims, eigenvalues
from kinds import Custom

CASES, CHUNKS = 1000, 25
# columns that the checks of an operator multiply, uncounted
CHECKS = 3
SIZES = (7, 12, 12, 12, 12, 40, 210)
# of the entries of A and of B
DTYPES = {
    "float32": (np.float32, np.float32),
    "float64": (float, float),
    "complex64": (np.complex64, np.complex64),
    "complex128": (complex, complex),
    "complex A": (complex, float),
    "complex B": (float, complex),
    "single A": (np.float32, float),
}
MATRICES = {"dense": np.asarray, "fortran": np.asfortranarray, "sparse": sp.csr_array, "csc": sp.csc_array}
A_KINDS = MATRICES | {"operator": Counted, "object": lambda M: Custom(M, dtype=True)}
B_KINDS = MATRICES | {"identity": lambda M: None, "vector": lambda M: M.diagonal().real.copy(), "operator": Counted}
SPECTRA = {
    "positive": lambda n: 0.5 + np.arange(n) * (1 + 0.1 * np.sin(np.arange(n))),
    "indefinite": lambda n: np.linspace(-1, 1.5, n) + 0.3 / n * np.cos(np.arange(n)),
    "negative": lambda n: -1.0 - np.arange(n) ** 1.5 / n,
    "decaying": lambda n: 1.3 ** -np.arange(min(n, 40)) if n <= 40 else 1.01 ** -np.arange(n),
    "multiple": lambda n: np.r_[np.full(2, -0.9), np.linspace(-0.5, 0.7, n - 5), np.full(3, 1.0)],
    "zeros": lambda n: np.r_[0.0, 0.0, np.linspace(0.5, 3, n - 2)],
}
SPLIT_BY_ROUNDING = ("multiple", "zeros")
CG = sm.ConjugateGradient(None, tol=1e-13)
FIRST_ORDER = (
    *(sm.SplitMerge(), sm.Power(), sm.MirrorDescent(), sm.GradientDescent(), sm.Lanczos(), sm.SplitMerge(inner=CG)),
    *(sm.SplitMerge(inner=sm.ConjugateGradient(None, sm.Diagonal(), tol=1e-13)), sm.MirrorDescent(sm.Diagonal())),
)
SUBSPACE = (None, None, None, sm.Accelerated(), sm.Accelerated(), sm.Accelerated(inner=CG))
LOBPCG = (sm.LocallyOptimal(), sm.LocallyOptimal(preconditioner=sm.Diagonal()))
UNITS = ((1.0, 1.0), (1.0, 1.0), (1e-9, 1.0), (1e5, 1e-7), (1.0, 1e8))


@dataclass(frozen=True)
class Case:
    """A pair as it is given and as dense arrays, what is wanted of it, and the options of `solve`."""

    A: object
    B: object
    dense: tuple
    target: tuple
    options: dict
    tight: bool


def pick(rng, choices):
    choices = list(choices)
    return choices[int(rng.integers(len(choices)))]


def unitary(n, dtype, rng):
    X = rng.standard_normal((n, n))
    return np.linalg.qr(X + 1j * rng.standard_normal((n, n)) if np.dtype(dtype).kind == "c" else X)[0]


def dense_pair(values, B_kind, dtypes, units, rng):
    """Dense A and B of these types with these eigenvalues, but for a real A beside a complex B; B may be None."""
    n = values.size
    Q = unitary(n, dtypes[0], rng)
    C = (Q * values) @ Q.conj().T
    d = rng.uniform(0.5, 2.0, n)
    if B_kind == "identity":
        A, B = C, None
    elif B_kind == "vector":
        A, B = np.sqrt(d)[:, None] * C * np.sqrt(d), np.diag(d).astype(np.empty(0, dtypes[1]).real.dtype)
    else:
        alike = np.dtype(dtypes[1]).kind == "c" and np.dtype(dtypes[0]).kind != "c"
        R = unitary(n, dtypes[1], rng) * np.sqrt(d)
        A, B = C if alike else R @ C @ R.conj().T, (R @ R.conj().T).astype(dtypes[1])
    A = units[0] * (A + A.conj().T) / 2
    return A.astype(dtypes[0]), None if B is None else (units[1] * (B + B.conj().T) / 2).astype(B.dtype)


def target_of(kind, values, rng):
    """What is wanted: an end, or σ or an interval with ends between clearly different eigenvalues."""
    if kind not in ("sigma", "interval"):
        return (kind,)
    clear = np.flatnonzero(np.diff(values) > 1e-3 * np.abs(values).max())
    low, high = np.sort(rng.choice(clear, 2, replace=False))
    if kind == "interval":
        return kind, *((values[[low, high]] + values[[low + 1, high + 1]]) / 2).tolist()
    # nearer to one of them, so that there is no tie
    return kind, float(0.6 * values[low] + 0.4 * values[low + 1])


def build(number):
    """The case of this number."""
    rng = np.random.default_rng([20, number])
    n, kind_A, kind_B, spectrum = pick(rng, SIZES), pick(rng, A_KINDS), pick(rng, B_KINDS), pick(rng, SPECTRA)
    dtype, units = (
        pick(rng, [d for d in DTYPES if d != "single A" or spectrum not in SPLIT_BY_ROUNDING]),
        pick(rng, UNITS),
    )
    known = kind_A in MATRICES and kind_B != "operator"
    methods = (*SUBSPACE, *LOBPCG, *(FIRST_ORDER if n <= 12 else ()))
    method = pick(rng, [m for m in methods if known or "Diagonal" not in repr(m)])
    subspace = method is None or isinstance(method, sm.Accelerated)
    kinds = ["largest", "smallest", *(["magnitude", "ends"] if subspace else [])]
    kinds += ["sigma", "interval"] if subspace and known and getattr(method, "inner", None) is None else []
    A, B = dense_pair(SPECTRA[spectrum](n), kind_B, DTYPES[dtype], units, rng)
    target, k = target_of(pick(rng, kinds), eigenvalues(A, B), rng), int(rng.integers(1, 5))
    single = dtype in ("float32", "complex64")
    tol = 1e-4 if single or method in FIRST_ORDER or rng.random() < 0.2 else 1e-8
    options = {"tol": tol, "rng": number, "method": method}
    if target[0] == "sigma":
        options |= {"k": k, "sigma": target[1]}
    elif target[0] == "interval":
        options["interval"] = target[1:]
    else:
        options |= {"k": k, "which": target[0]}
    if known and rng.random() < 0.25 and (subspace or isinstance(method, sm.LocallyOptimal)):
        options["certify"] = True
    if target[0] != "interval" and rng.random() < 0.2:
        options["x0"] = rng.standard_normal((n, int(rng.integers(1, k + 1))))
    return Case(
        A_KINDS[kind_A](A), None if B is None else B_KINDS[kind_B](B), (A, B), target, options, spectrum != "zeros"
    )


def check_counts(solution, M, name, dtype):
    """What a matrix-free M multiplied was counted, but for its checks; complex vectors may be two real ones."""
    counts = solution.counts
    formed = getattr(counts.setup, name) >= solution.n
    if not isinstance(M, Counted) or formed or (dtype.kind == "c" and M.dtype.kind != "c"):
        return
    counted = sum(getattr(tally, name) for tally in (counts, counts.setup, counts.monitoring))
    assert counted <= M.columns <= counted + CHECKS, f"{M.columns} columns, {counted} {name}"


def examine(number):
    """Solve the case, check all claims, and that nothing given was changed."""
    case = build(number)
    before = [contents(case.A), contents(case.B)]
    solution = sm.solve(case.A, case.B, **case.options)
    assert [contents(case.A), contents(case.B)] == before
    Claims(solution, *case.dense, case.target, case.options.get("k"), case.options["tol"]).check(tight=case.tight)
    if case.options.get("certify") or case.target[0] == "interval":
        assert solution.verdict == "certified", solution.verdict.why
    dtype = np.result_type(*[M.dtype for M in case.dense if M is not None])
    check_counts(solution, case.A, "A_products", dtype)
    check_counts(solution, case.B, "B_products", dtype)


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_claims_hold(chunk):
    wrong = []
    for number in range(chunk, CASES, CHUNKS):
        try:
            examine(number)
        except (AssertionError, ValueError, RuntimeError) as error:
            wrong.append(f"{number}: {type(error).__name__}: {str(error)[:300]}")
    assert not wrong, "\n".join(wrong)
