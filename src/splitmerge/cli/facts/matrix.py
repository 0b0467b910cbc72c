"""Properties of one matrix computed from its entries, for valid and invalid matrices."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp

from ...problem.adapt import working_dtype
from ...problem.symmetry import completed, lone_triangle, tolerable
from ...typing import Array


@dataclass(frozen=True)
class Facts:
    """Properties of a matrix; `findings` are sentences on the problems that prevent a solution."""

    name: str
    n: int
    kind: str
    dtype: str
    nonzeros: int
    density: float
    largest: float
    least: float
    # max |X − Xᴴ| / max |X|; NaN if an entry is not finite
    asymmetry: float
    diagonal: tuple[float, float]
    empty_rows: int
    findings: tuple[str, ...] = field(default=())


def facts(M: Any, name: str) -> Facts:
    """The properties of M, from one or two passes over its entries."""
    sparse = bool(sp.issparse(M))
    n = M.shape[0]
    entries: Array = M.data if sparse else np.asarray(M).ravel()
    sizes = np.abs(entries[entries != 0]).astype(float)
    finite = bool(np.isfinite(sizes).all())
    largest = float(sizes.max(initial=0.0))
    asymmetry = _asymmetry(M, sparse) / largest if finite and largest else 0.0 if finite else math.nan
    diagonal = np.real(M.diagonal()).astype(float) if n else np.zeros(1)
    low, high = (float(diagonal.min()), float(diagonal.max())) if np.isfinite(diagonal).all() else (math.nan, math.nan)
    empty = int((np.asarray(abs(M).sum(axis=1)).ravel() == 0).sum())
    return Facts(
        name=name,
        n=n,
        kind="sparse" if sparse else "dense",
        dtype=str(M.dtype),
        nonzeros=int(sizes.size),
        density=sizes.size / n**2 if n else 0.0,
        largest=largest,
        least=float(sizes.min()) if sizes.size and finite else math.nan,
        asymmetry=asymmetry,
        diagonal=(low, high),
        empty_rows=empty,
        findings=tuple(_findings(M, name, sizes, asymmetry)),
    )


def _findings(M: Any, name: str, sizes: Array, asymmetry: float) -> list[str]:
    bad = int((~np.isfinite(sizes)).sum())
    if M.shape[0] == 0:
        return [f"{name} is empty: give a matrix with at least one row."]
    if bad:
        which = "entry that is" if bad == 1 else "entries that are"
        return [f"{name} has {bad} {which} NaN or infinite: remove or replace them."]
    if not sizes.size:
        return [f"{name} is zero."]
    if asymmetry <= tolerable(1.0, working_dtype(M.dtype, name)):
        return []
    word = "Hermitian" if M.dtype.kind == "c" else "symmetric"
    found = f"{name} is not {word}: max |X − Xᴴ| is {asymmetry:.3g} of the largest entry."
    side = lone_triangle(M)
    if side:
        advice = completed(side, M.dtype.kind)
        found += f" {advice[0].upper()}{advice[1:]}."
    return [found]


def _asymmetry(M: Any, sparse: bool) -> float:
    if not M.shape[0]:
        return 0.0
    # unsigned integers and booleans cannot be subtracted
    M = M.astype(np.result_type(M.dtype, np.float64)) if M.dtype.kind in "biu" else M
    difference = abs(M - M.conj().T)
    return float(difference.max()) if not sparse or difference.nnz else 0.0
