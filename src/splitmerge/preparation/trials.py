"""To factorise or to iterate? A short trial of the preconditioners against what a factorisation is predicted to cost.

The convergence is measured. The seconds are worked out from counts of operations, as those of a clock would make the
choice, and with it the last digits of the answer, differ from one run to the next.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

import numpy as np

from ..preconditioners import Preconditioner, Prepared
from ..problem.operator import Operator
from ..problem.pencil import Pencil
from ..sparse_direct.prediction import Prediction, predict
from ..system.memory import free_memory

# A matrix that is smaller is factorised without a thought.
LARGE = 10_000

# Conjugate gradients are tried for so many steps, or until the residual has fallen so far.
STEPS, FALLEN = 25, 1e-5

# Seconds of a multiplication in a sparse product with a block and with a vector, and in a product of blocks.
IN_BLOCK, IN_VECTOR, DENSE = 1.0e-9, 1.5e-9, 1.2e-10

# No factorisation takes more bytes than this times n².
LARGEST_BYTES = 45

# Of the memory that is free, a factorisation may take this part.
PART = 0.8


@dataclass(frozen=True)
class Trial:
    """What came of one preconditioner: a step shrinks the error `rate`-fold, and takes `work` multiplications.

    `setup` and `step` are measured seconds, for who reads them.
    """

    preconditioner: Preconditioner
    prepared: Prepared
    rate: float
    work: float
    setup: float
    step: float

    def steps(self, digits: float) -> float:
        """How many steps so many digits take."""
        return digits * math.log(10) / -math.log(min(max(self.rate, 1e-3), 0.9999))

    def __str__(self) -> str:
        return (
            f"{self.preconditioner!r} took {self.setup:.2g} s to set up and {self.step:.2g} s a step, "
            f"each of which left {self.rate:.2f} of the error"
        )


def fits(prediction: Prediction) -> bool:
    """Is there the memory for this factorisation?"""
    return prediction.bytes <= PART * free_memory()


def check_fits(K: Operator, what: str) -> None:
    """Refuse to factorise K where the memory that is free would not do, before it is spent."""
    if K.kind != "sparse" or K.n < LARGE or LARGEST_BYTES * K.n**2 <= PART * free_memory():
        return
    prediction = predict(K.matrix)
    if not fits(prediction):
        raise MemoryError(
            f"the factorisation of {what} was predicted to take {prediction.bytes / 2**30:.2g} GiB, and "
            f"{free_memory() / 2**30:.2g} GiB are free; which='smallest' and 'largest' can do without"
        )


def predicted(K: Operator) -> Prediction | None:
    """What the factorisation of K would cost, if that is worth to be thought about."""
    return predict(K.matrix) if K.kind == "sparse" and K.n >= LARGE else None


def attempt(pencil: Pencil, preconditioner: Preconditioner) -> Trial | None:
    """Set the preconditioner of the pencil's B up and try it on a random right-hand side; None if B is not definite."""
    began = time.perf_counter()
    prepared = preconditioner.prepare(pencil)
    ready = time.perf_counter()
    # a right-hand side in the range of B, which may be singular
    r = pencil.apply_B(np.random.default_rng(0).standard_normal(pencil.n).astype(pencil.dtype))
    sizes: list[float] = []
    p = r
    for step in range(STEPS):
        z = pencil.solve_P(prepared, r)
        sizes.append(float(np.vdot(r, z).real))
        if not sizes[-1] > 0:
            return None
        if sizes[-1] <= FALLEN**2 * sizes[0]:
            break
        p = z if step == 0 else z + (sizes[-1] / sizes[-2]) * p
        Bp = pencil.apply_B(p)
        curvature = float(np.vdot(p, Bp).real)
        if not curvature > 0:
            return None
        r = r - (sizes[-1] / curvature) * Bp
    half = len(sizes) // 2
    # a random residual falls fast at first, whatever comes later
    rate = (sizes[-1] / sizes[half]) ** (0.5 / max(len(sizes) - 1 - half, 1))
    step_seconds = (time.perf_counter() - ready) / len(sizes)
    return Trial(preconditioner, prepared, min(rate, 0.9999), prepared.work, ready - began, step_seconds)
