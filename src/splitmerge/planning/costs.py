"""Cost model: when LAPACK is faster, what a factorisation takes, what each candidate is predicted to take.

Seconds are derived from operation counts and not from a clock, which would make the choice, and with it the last digits
of the answer, differ from run to run.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from ..methods.lobpcg.iteration import usual_block
from ..problem.operator import Operator
from ..problem.pencil import Pencil
from ..sparse_direct import Prediction, levels_of, narrow_profile, predict, recount_seconds, rough_prediction
from ..system.memory import free_memory
from .plan import Candidate, Engine, Map, Plan

# LAPACK with a subset of the eigenvectors, for the largest or the smallest, is faster up to N kᵖ for k pairs.
LAPACK_DENSE_N, LAPACK_DENSE_POWER = 260, 0.27
LAPACK_SPARSE_N, LAPACK_SPARSE_POWER = 200, 0.15
# With those next to a shift, whatever the kind of the matrices.
LAPACK_NEAR_N = 200
# With all eigenvectors: up to this n, whatever the kind of the matrices and whatever k is.
LAPACK_N = 100
# Dense matrices: up to this n for one pair, and this much more for each further pair.
LAPACK_WHOLE_DENSE_N, LAPACK_WHOLE_DENSE_N_PER_PAIR = 200, 20
# A search in one basis is tried before LAPACK for dense pairs from N kᵖ unknowns on for k pairs, and up to another n.
SEARCH_DENSE_N, SEARCH_DENSE_POWER, MAX_SEARCH_DENSE_N = 190, 0.35, 540
# A search in one basis is made for sparse pairs of up to this n, for several pairs (up to the last number) with A − σB
# factorised of up to the second n.
MAX_ONE_BASIS_N, MAX_ONE_BASIS_N_SEVERAL, MAX_ONE_BASIS_PAIRS = 3000, 12_000, 30
# LAPACK is faster for more than this fraction of the spectrum, as long as its matrices fit.
LAPACK_FRACTION = 1 / 6
MAX_DENSE_N = 4000

# Sparse matrices below this n are factorised without predicting the cost.
PREDICTED_N = 15_000
# No factorisation takes more bytes than this times n².
MAX_BYTES_PER_N2 = 45
# A factorisation may take this fraction of the free memory.
MEMORY_FRACTION = 0.8

# Seconds per multiply–add: SpMM, SpMV, GEMM, GEMV.
SPMM_SECONDS, SPMV_SECONDS, GEMM_SECONDS, GEMV_SECONDS = 1.0e-9, 1.5e-9, 1.2e-10, 3.0e-10
# Seconds of a product of a Krylov search, whatever n is.
STEP_SECONDS = 3e-5
# Columns of the basis that a vector is orthogonalised against and rotated with, in the mean over a cycle of restarts.
MEAN_COLUMNS, MEAN_COLUMNS_PER_PAIR = 36, 1.4

# LOBPCG steps ≈ 2.5 × CG steps; shift-invert Lanczos ≈ 30 + 6k solves.
LOBPCG_STEPS_PER_CG_STEP = 2.5
SOLVES, SOLVES_PER_PAIR = 30, 6
# What such a search takes per row beside its factor and solves: orthogonalisation, definiteness, residuals, bounds.
SEARCH_SECONDS_PER_ROW = 1.6e-5
# Problems that take fewer seconds with a factorisation are factorised without a trial.
QUICK_SECONDS = 2.5
# Try preconditioners only if the factorisation takes > 1.5 × an ideal multigrid solve (9 SpMV per digit).
TRIAL_RATIO, IDEAL_SPMV_PER_DIGIT = 1.5, 9
# The smallest are sought without a factorisation first, for this fraction of its predicted price, if that is the price
# of MIN_SEARCH_PRODUCTS or more, and from this n on. Meshes in two dimensions (flat) have cheap factors and small gaps.
SEARCH_FRACTION, SEARCH_FRACTION_FLAT, MIN_SEARCH_PRODUCTS = 0.5, 0.25, 60
MIN_SEARCH_N, MIN_SEARCH_FLAT_N = 800, 4000
# Factorisations of A + ηB that find an η where A is not positive definite.
ETA_FACTORISATIONS = 6
# Digits of the eigenpairs, and of a solve that has to be exact.
DIGITS, EXACT_DIGITS = 8, 13
# Where a search fails, LAPACK follows: after products that take this multiple of its time, at least this many;
# without the entries, after this many per unknown and a few more.
FALLBACK_RATIO, MIN_FALLBACK_PRODUCTS = 0.8, 500
FALLBACK_PRODUCTS, FALLBACK_MORE_PRODUCTS = 10, 1000
# LAPACK: multiply–adds over n³ of reduction, tridiagonal problem and back-transformation.
LAPACK_OPERATIONS = 3.0
# A polishing step in double precision costs about this many products.
POLISH_STEPS = 6


class Allowance(NamedTuple):
    """The products that a search without a factorisation may make, and the factorisation that pays them."""

    products: float
    prediction: Prediction


def prefers_lapack(n: int, k: int, *, dense: bool, subset: bool = True) -> bool:
    """Is a decomposition expected to be faster than an iteration? `subset` of k eigenvectors at an end, or all?"""
    if n > MAX_DENSE_N:
        return False
    if k > LAPACK_FRACTION * n or n <= LAPACK_N:
        return True
    if subset:
        most, power = (LAPACK_DENSE_N, LAPACK_DENSE_POWER) if dense else (LAPACK_SPARSE_N, LAPACK_SPARSE_POWER)
        return n <= most * math.pow(k, power)
    return dense and n <= LAPACK_WHOLE_DENSE_N + LAPACK_WHOLE_DENSE_N_PER_PAIR * (k - 1)


def prefers_short_search(n: int, k: int) -> bool:
    """May a search for a few pairs of a dense pair be over before LAPACK, so that it is tried first?"""
    return SEARCH_DENSE_N * math.pow(k, SEARCH_DENSE_POWER) <= n <= MAX_SEARCH_DENSE_N


def prefers_inverse_search(n: int, k: int, *, near: bool) -> bool:
    """May a few of the smallest of a sparse pair, or of those next to a shift, be found in one basis?"""
    lapack = prefers_lapack_near(n, k, dense=False) if near else prefers_lapack(n, k, dense=False)
    most = MAX_ONE_BASIS_N if k == 1 else MAX_ONE_BASIS_N_SEVERAL
    return not lapack and n <= most and k <= MAX_ONE_BASIS_PAIRS


def prefers_direct_search(n: int, k: int) -> bool:
    """May a few of the largest of a sparse pair be found in one basis, by products?"""
    return not prefers_lapack(n, k, dense=False) and n <= MAX_ONE_BASIS_N and k <= MAX_ONE_BASIS_PAIRS


def prefers_lapack_near(n: int, k: int, *, dense: bool) -> bool:
    """The same for k eigenvalues nearest to a shift, of which LAPACK computes the vectors alone."""
    return n <= LAPACK_NEAR_N or prefers_lapack(n, k, dense=dense, subset=False)


def expected_products(n: int, k: int) -> float:
    """Products of a Krylov search for k pairs, in the mean over the paper's pairs."""
    return float((18 + 5 * k) * (n / 512) ** 0.4)


def predicted(K: Operator) -> Prediction | None:
    """The predicted cost of factorising K, for matrices large enough to matter; from its pattern alone."""
    return predict(K.matrix) if K.kind == "sparse" and K.n >= PREDICTED_N else None


def fits(prediction: Prediction) -> bool:
    """Is there enough memory for this factorisation?"""
    return prediction.bytes <= MEMORY_FRACTION * free_memory()


def check_fits(K: Operator, what: str) -> None:
    """Refuse to factorise K where the free memory is predicted not to suffice, before it is used up."""
    if K.kind != "sparse" or K.n < PREDICTED_N or MAX_BYTES_PER_N2 * K.n**2 <= MEMORY_FRACTION * free_memory():
        return
    prediction = predict(K.matrix)
    if not fits(prediction):
        raise MemoryError(
            f"the factorisation of {what} was predicted to take {prediction.bytes / 2**30:.2g} GiB, and "
            f"{free_memory() / 2**30:.2g} GiB are free; which='smallest' and 'largest' can do without"
        )


def factorised_seconds(prediction: Prediction, k: int) -> float:
    """Seconds of a factorisation and of the solves of a search for k pairs."""
    return prediction.seconds + (SOLVES + SOLVES_PER_PAIR * k) * prediction.solve_seconds


def verified_seconds(prediction: Prediction, n: int, k: int) -> float:
    """`factorised_seconds`, those of the inertia count that several pairs take, and of all else that grows with n."""
    count = recount_seconds(n, prediction.flops, prediction.backend) if k > 1 else 0.0
    return factorised_seconds(prediction, k) + count + SEARCH_SECONDS_PER_ROW * n


def step_seconds(pencil: Pencil, k: int) -> float:
    """Seconds of one product of a Krylov search with A, and of what follows it."""
    columns = MEAN_COLUMNS + MEAN_COLUMNS_PER_PAIR * k
    return STEP_SECONDS + entries(pencil.A) * SPMV_SECONDS + 2 * pencil.n * columns * GEMV_SECONDS


def fallback_products(pencil: Pencil, k: int) -> float:
    """The products that a search may make before LAPACK is called instead."""
    n = pencil.n
    if not pencil.has_entries:
        return FALLBACK_PRODUCTS * n + FALLBACK_MORE_PRODUCTS
    seconds = FALLBACK_RATIO * LAPACK_OPERATIONS * n**3 * GEMM_SECONDS
    return max(seconds / _product_seconds(pencil, k), MIN_FALLBACK_PRODUCTS)


def with_solves(products: float, pencil: Pencil, k: int, seconds: float) -> float:
    """The number of products with a solve of this many seconds each that cost what these cost without."""
    if math.isinf(products) or seconds == 0:
        return products
    product = _product_seconds(pencil, k)
    return max(products * product / (product + seconds), min(products, MIN_FALLBACK_PRODUCTS))


def _product_seconds(pencil: Pencil, k: int) -> float:
    """Seconds of a product with A and one with B, and of the orthogonalisation that follows."""
    columns = MEAN_COLUMNS + MEAN_COLUMNS_PER_PAIR * k
    each = GEMV_SECONDS if pencil.dense else SPMV_SECONDS
    return STEP_SECONDS + (entries(pencil.A) + entries(pencil.B)) * each + 2 * pencil.n * columns * GEMV_SECONDS


def allowance(pencil: Pencil, k: int) -> Allowance | None:
    """What a search for the smallest of A may cost, from the levels of A alone; None where it should not be tried.

    That is where factors cost next to nothing, or where every product takes a solve with B.
    """
    A, n = pencil.A, pencil.n
    if pencil.B is not None or A.kind != "sparse" or n < MIN_SEARCH_N or narrow_profile(A.matrix) is not None:
        return None
    levels = levels_of(A.matrix)
    if levels.flat and n < MIN_SEARCH_FLAT_N:
        return None
    prediction = rough_prediction(A.matrix, levels)
    fraction = SEARCH_FRACTION_FLAT if levels.flat else SEARCH_FRACTION
    further = 0 if (A.diagonal().real > 0).all() else ETA_FACTORISATIONS
    price = verified_seconds(prediction, n, k) + further * prediction.seconds
    products = fraction * price / step_seconds(pencil, k)
    return Allowance(products, prediction) if products >= MIN_SEARCH_PRODUCTS else None


def is_quick(prediction: Prediction | None, k: int) -> bool:
    """Is the factorisation made without a trial of anything else?"""
    return prediction is None or (factorised_seconds(prediction, k) < QUICK_SECONDS and fits(prediction))


def lobpcg_seconds(pencil: Pencil, k: int, cg_steps: float, work: float) -> float:
    """Seconds of LOBPCG with a preconditioner of `work` multiplications that takes `cg_steps` in a CG solve."""
    m = usual_block(k)
    step = m * (work + entries(pencil.A) + entries(pencil.B)) * SPMM_SECONDS + 20 * pencil.n * m * m * GEMM_SECONDS
    return LOBPCG_STEPS_PER_CG_STEP * cg_steps * step


def entries(M: Operator | None) -> float:
    """Multiplications of a product with M, as far as they are known."""
    if M is None or M.matrix is None:
        return 0.0
    return float(M.matrix.nnz if M.kind == "sparse" else M.n**2)


def may_beat_factorisation(pencil: Pencil, k: int, prediction: Prediction) -> bool:
    """Could LOBPCG with an ideal multigrid preconditioner beat the predicted factorisation clearly?"""
    ideal = lobpcg_seconds(pencil, k, DIGITS, IDEAL_SPMV_PER_DIGIT * entries(pencil.A))
    return factorised_seconds(prediction, k) > TRIAL_RATIO * ideal


def predicted_seconds(candidate: Candidate, plan: Plan, pencil: Pencil, k: int) -> float:
    """The predicted seconds of a candidate; NaN where they depend on what only the set-up can measure."""
    n, products = pencil.n, expected_products(pencil.n, k)
    if candidate.engine is Engine.LAPACK:
        return LAPACK_OPERATIONS * n**3 * GEMM_SECONDS
    if candidate.engine in (Engine.SLICING, Engine.REFINEMENT):
        return math.nan
    if candidate.engine is Engine.LOBPCG:
        return lobpcg_seconds(pencil, k, DIGITS, IDEAL_SPMV_PER_DIGIT * entries(pencil.A))
    if not pencil.has_entries or candidate.engine is Engine.DEFLATION:
        return math.nan
    if pencil.dense:
        factor = 0.0 if pencil.B is None and candidate.map is Map.SAME else n**3 / 6
        seconds = (factor + products * n**2) * GEMM_SECONDS
        mixed = candidate.engine is Engine.MIXED_PRECISION
        return seconds / 2 + POLISH_STEPS * n**2 * GEMM_SECONDS if mixed else seconds
    if candidate.provisional:
        return products * step_seconds(pencil, k)
    if plan.prediction is not None:
        return factorised_seconds(plan.prediction, k)
    return products * (entries(pencil.A) + entries(pencil.B)) * SPMV_SECONDS
