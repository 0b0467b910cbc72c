"""A short Lanczos run that estimates the ends of the spectrum of (A, B)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..linalg.lanczos import LanczosProcess
from ..problem.pencil import Pencil
from ..problem.start import random_vector
from ..typing import Array

SURVEY_STEPS = 20


SURVEY_LIMIT = 80


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


def survey(pencil: Pencil, rng: np.random.Generator) -> Survey:
    """Run Lanczos from a random start until the low end is known well enough to decide on a shift."""
    x = random_vector(pencil, rng)
    Bx = pencil.apply_B(x)
    pencil.B_norm(x, Bx)
    products: list[Array] = []

    def multiply(v: Array, Bv: Array) -> Array:
        products.append(pencil.apply_A(v, Bv))
        return products[-1]

    process = LanczosProcess(multiply, pencil.solve_B, x, Bx)
    while True:
        process.extend()
        j = process.steps
        if j < SURVEY_STEPS and not process.exhausted:
            continue
        # from the products themselves and not from the recurrence, which inexact solves make untrue
        values, vectors = process.project(np.column_stack(products))
        lowest, highest = float(values[0]), float(values[-1])
        error = process.beta[-1] * abs(complex(vectors[-1, 0]))
        settled = lowest >= 0 or error <= 0.05 * (highest - lowest)
        if process.exhausted or settled or j >= SURVEY_LIMIT:
            radius = max(abs(lowest), abs(highest))
            # A lowest Ritz value that is positive is believed: the driver sees a negative xᴴAx if it deceived.
            # A hundredth more than needed keeps the lowest eigenvalue from being a zero that rounding makes negative.
            shift = error - lowest + 0.01 * radius if lowest < -100 * pencil.eps * radius else 0.0
            lengths = [np.linalg.norm(process.vector(s)) for s in vectors.T.astype(x.dtype)]
            bounds = values - pencil.rounding_of(values, np.array(lengths))
            return Survey(bounds[::-1].copy(), process.vector(vectors[:, -1].astype(x.dtype)), shift, radius)
