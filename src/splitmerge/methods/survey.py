"""A short Lanczos run that shows the ends of the spectrum of (A, B) before a method starts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..linalg.lanczos import LanczosProcess
from ..linalg.reductions import norm
from ..problem.products import Products
from ..problem.start import random_vector
from ..typing import Array

# Lanczos steps: at least, and at most where the low end of the spectrum is slow to appear.
MIN_SURVEY_STEPS = 20
MAX_SURVEY_STEPS = 80


@dataclass(frozen=True)
class Survey:
    """What a short Lanczos run tells about the spectrum of (A, B).

    `bounds` (descending) are the Ritz values less their rounding: λ_j ≥ bounds[j] for every j. `leader` is the top Ritz
    vector and `radius` the largest |Ritz value|. `shift` is an η ≥ 0 such that A + ηB is positive semidefinite, as far
    as the run can see.
    """

    bounds: Array
    leader: Array
    shift: float
    radius: float


def survey(products: Products, rng: np.random.Generator) -> Survey:
    """Run Lanczos from a random start until the low end is known well enough to decide on a shift."""
    x = random_vector(products, rng)
    Bx = products.apply_B(x)
    products.B_norm(x, Bx)
    made: list[Array] = []

    def multiply(v: Array, Bv: Array) -> Array:
        made.append(products.apply_A(v, Bv))
        return made[-1]

    process = LanczosProcess(multiply, products.solve_B, x, Bx)
    while True:
        process.extend()
        j = process.steps
        if j < MIN_SURVEY_STEPS and not process.exhausted:
            continue
        # from the products themselves, as inexact solves perturb the recurrence
        values, vectors = process.project(np.column_stack(made))
        lowest, highest = float(values[0]), float(values[-1])
        error = process.beta[-1] * abs(complex(vectors[-1, 0]))
        settled = lowest >= 0 or error <= 0.05 * (highest - lowest)
        if process.exhausted or settled or j >= MAX_SURVEY_STEPS:
            return _survey(products, process, values, vectors.astype(x.dtype), error)


def _survey(products: Products, process: LanczosProcess, values: Array, vectors: Array, error: float) -> Survey:
    lowest, highest = float(values[0]), float(values[-1])
    radius = max(abs(lowest), abs(highest))
    # A positive lowest Ritz value is trusted: a negative xᴴAx in the iteration would reveal the contrary.
    # A hundredth more than needed keeps the lowest eigenvalue from being a zero that rounding makes negative.
    shift = error - lowest + 0.01 * radius if lowest < -100 * products.eps * radius else 0.0
    lengths = [norm(process.vector(s)) for s in vectors.T]
    bounds = values - products.scale.perturbation(values, np.array(lengths))
    return Survey(bounds[::-1].copy(), process.vector(vectors[:, -1]), shift, radius)
