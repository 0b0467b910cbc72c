"""Benchmark pairs, each with its leading eigenspace as a reference and with random starts shared by all methods."""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from .. import gallery
from ..io.matrices import read_pair
from ..objective.state import sine
from ..solve import solve
from ..typing import Array

# Relative distance up to which eigenvalues count as one multiple eigenvalue with a common eigenspace.
MULTIPLICITY_TOLERANCE = 1e-9


@dataclass(frozen=True, eq=False)
class Case:
    """A pair; `made` is the expression that creates it, and `seed` determines its starts on every machine."""

    name: str
    made: str
    A: Any = field(repr=False)
    B: Any = field(repr=False)
    seed: int = 0

    @property
    def n(self) -> int:
        """The size of the pair."""
        return int(self.A.shape[0])

    @cached_property
    def leading(self) -> tuple[float, Array]:
        """λ₁ and a B-orthonormal basis of its eigenspace, by LAPACK or (sparse) verified by inertia counts."""
        k = min(4, self.n)
        if sp.issparse(self.A):
            found = solve(self.A, self.B, k, tol=1e-11, certify=True, rng=0)
            values, vectors = found.eigenvalues, found.eigenvectors
        else:
            values, vectors = scipy.linalg.eigh(self.A, self.B, subset_by_index=[self.n - k, self.n - 1])
            values, vectors = values[::-1], vectors[:, ::-1]
        equal = values >= values[0] - MULTIPLICITY_TOLERANCE * abs(values[0])
        return float(values[0]), np.ascontiguousarray(vectors[:, equal])

    def generator(self, start: int) -> np.random.Generator:
        """The random generator of start number `start`; its first n normal numbers are the start itself."""
        return np.random.default_rng([self.seed, zlib.crc32(self.name.encode()), start])

    def start(self, number: int) -> Array:
        """The start vector number `number`."""
        return self.generator(number).standard_normal(self.n)

    def sine(self, x: Array) -> float:
        """The sine of the B-angle between x and the leading eigenspace, recomputed from B."""
        B = sp.eye_array(self.n, format="csr") if self.B is None else self.B
        U = self.leading[1]
        return sine(x, B @ x, U, B @ U)


def synthetic(n: int, kappa: float, seed: int) -> Case:
    """The pair of a cell of the paper's table 1."""
    A, B = gallery.synthetic_pair(n, kappa, rng=[seed, n, kappa])
    made = f"gallery.synthetic_pair({n}, {kappa:g}, rng=[{seed}, {n}, {kappa:g}])"
    return Case(f"synthetic-{n}-{kappa:g}", made, A, B, seed)


def lapla(which: int, seed: int) -> Case:
    """The gallery pair that resembles the paper's Lapla3 (`which` = 3) or Lapla4 (`which` = 4)."""
    build = {3: gallery.lapla3_like, 4: gallery.lapla4_like}[which]
    A, B = build()
    return Case(f"lapla{which}-like", f"gallery.{build.__name__}()", A, B, seed)


def from_files(path_A: str, path_B: str | None, seed: int) -> Case:
    """The pair from two files, or from one file that contains both matrices."""
    A, B = read_pair(path_A, path_B)
    names = [path_A] + [path_B] * (path_B is not None)
    return Case(
        Path(path_A.partition("#")[0]).name.split(".")[0], f"read_pair({', '.join(map(repr, names))})", A, B, seed
    )


def mikota(n: int, seed: int) -> Case:
    """Mikota's vibration chain."""
    A, B = gallery.mikota_chain(n)
    return Case(f"mikota-{n}", f"gallery.mikota_chain({n})", A, B, seed)
