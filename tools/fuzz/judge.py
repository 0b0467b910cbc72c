"""The judge of `solve`: everything that a `Solution` claims, checked against the reference."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .matching import check_interval, check_wanted
from .oracle import ROUNDING, Reference
from .precise import TINY, Array, extended, power_of_two
from .requests import Request

# Factor by which a bound that the documentation calls an estimate may be too small.
ESTIMATE = 10.0
# Eigenvalues are simple if the others are farther away than this multiple of their rounding.
SIMPLE = 1e3
WORDS = ("certified", "probed", "unchecked")


@dataclass(frozen=True)
class Finding:
    """Something that is wrong: its kind, and a sentence."""

    kind: str
    text: str


@dataclass
class Evidence:
    """What the judge recomputes from a solution."""

    values: Array
    vectors: Array
    squares: Array
    rest: Array
    bounds: Array

    @classmethod
    def of(cls, solution: Any, reference: Reference) -> Evidence:
        """Recompute in extended precision."""
        values, U = extended(solution.eigenvalues), extended(solution.eigenvectors)
        weight = (U.conj() * (reference.B @ U)).sum(axis=0).real
        with np.errstate(all="ignore"):
            squares = (abs(U) ** 2).sum(axis=0) / weight
        squares = np.where(np.isfinite(squares) & (squares > 0), squares, 0)
        rest = reference.A @ U - (reference.B @ U) * values
        return cls(values, U, squares, rest, extended(solution.error_bounds))

    def rounding(self, reference: Reference) -> Array:
        """The error of the values that rounding explains: of the given vectors, or of the nearest eigenvalue's."""
        nearest = abs(reference.values[:, None] - self.values).argmin(axis=0)
        return np.maximum(reference.entitled(self.values, self.squares), reference.allowance[nearest])


def _norms(M: Array) -> Array:
    return np.sqrt((abs(M) ** 2).sum(axis=0))


def check_form(solution: Any, reference: Reference, request: Request) -> list[Finding]:
    """Shapes, finite numbers and the words of the verdict."""
    n, k = reference.n, request.k if "interval" not in request.options else len(solution.eigenvalues)
    shapes = {"eigenvalues": (k,), "eigenvectors": (n, k), "residuals": (k,), "error_bounds": (k,)}
    found = [
        Finding("shape", f"{name} has shape {np.shape(getattr(solution, name))} instead of {shape}")
        for name, shape in shapes.items()
        if np.shape(getattr(solution, name)) != shape
    ]
    for name in ("eigenvalues", "eigenvectors", "residuals"):
        if not np.isfinite(getattr(solution, name)).all():
            found.append(Finding("nonfinite", f"{name} of a converged solution are not finite"))
    if (np.asarray(solution.residuals) < 0).any() or (np.asarray(solution.error_bounds) < 0).any():
        found.append(Finding("negative", "a residual or an error bound is negative"))
    if np.isnan(solution.error_bounds).any():
        found.append(Finding("nonfinite", "an error bound is NaN"))
    if str(solution.verdict) not in WORDS:
        found.append(Finding("verdict", f"the verdict is {solution.verdict!r}"))
    if np.iscomplexobj(solution.eigenvalues):
        found.append(Finding("shape", "eigenvalues are complex"))
    return found


def scales(solution: Any, reference: Reference, request: Request) -> Array:
    """What residuals are relative to, as `Solution.residuals` says, taken generously."""
    values, shift = extended(solution.eigenvalues), np.longdouble(abs(float(solution.shift)))
    radius = abs(reference.values).max(initial=0) + shift
    scale = np.maximum(abs(values) + shift, np.sqrt(reference.eps) * radius)
    ends = [request.sigma] if request.sigma is not None else list(request.options.get("interval", ()))
    for end in ends:
        scale = np.maximum(scale, abs(values - np.longdouble(end)))
    return scale


def _equilibration(reference: Reference) -> Array:
    diagonal = reference.B.diagonal().real
    if not (diagonal > 0).all():
        return np.ones(reference.n, dtype=np.longdouble)
    return np.array([power_of_two(1 / np.sqrt(x)) for x in diagonal])


def check_residuals(solution: Any, evidence: Evidence, reference: Reference, request: Request) -> list[Finding]:
    """‖Au − λBu‖ recomputed, in the given or in equilibrated unknowns, whichever is kinder."""
    if request.tol is None:
        return []
    scale, U = scales(solution, reference, request), evidence.vectors
    excess = np.full(len(scale), np.inf, dtype=np.longdouble)
    for D in (np.ones(reference.n), _equilibration(reference)):
        A, B = D[:, None] * reference.A * D, D[:, None] * reference.B * D
        V = U / D[:, None]
        R = D[:, None] * evidence.rest
        if reference.projector is not None:
            R = reference.projector.conj().T @ R
        unit = abs(A).sum(axis=0).max() + abs(evidence.values) * abs(B).sum(axis=0).max()
        rounding = ROUNDING * reference.n * reference.eps * unit * _norms(V)
        allowed = 2 * np.maximum(np.longdouble(request.tol) * scale * _norms(B @ V), rounding)
        excess = np.minimum(excess, _norms(R) / np.maximum(allowed, TINY))
    i = int(np.argmax(excess))
    if excess[i] <= 1:
        return []
    reported = float(np.asarray(solution.residuals)[i])
    text = f"the residual of pair {i} is {float(excess[i]):.2e} times what is allowed ({reported=:.1e})"
    return [Finding("residual", text)]


def check_orthonormal(evidence: Evidence, reference: Reference, request: Request) -> list[Finding]:
    """UᴴBU = I, leniently."""
    U = evidence.vectors
    gram = U.conj().T @ (reference.B @ U)
    lengths = _norms(U)
    noise = 10 * ROUNDING * reference.n * reference.eps * reference.norm_B * np.outer(lengths, lengths)
    base = max(1e-6, 1e4 * reference.eps, 100 * (request.tol or 1.0))
    off = abs(gram - np.eye(len(gram))) - np.maximum(base, noise)
    if off.max(initial=-1) <= 0:
        return []
    i, j = np.unravel_index(int(np.argmax(off)), off.shape)
    return [Finding("orthonormality", f"uᴴBu of vectors {i}, {j} is {complex(gram[i, j]):.3e}")]


def check_bounds(solution: Any, evidence: Evidence, reference: Reference, request: Request) -> list[Finding]:
    """Is there an eigenvalue within every finite error bound?"""
    finite = np.isfinite(evidence.bounds)
    distance = abs(reference.values[:, None] - evidence.values).min(axis=0)
    bounds = evidence.bounds * (1 if request.exact else ESTIMATE)
    if str(solution.verdict) == "unchecked":  # a gap is known only as far as nothing is missing
        bounds = np.maximum(bounds, _norms(reference.vectors.conj().T @ evidence.rest))
    off = np.where(finite, distance - bounds - evidence.rounding(reference), -1)
    if off.max(initial=-1) <= 0:
        return []
    i = int(np.argmax(off))
    text = f"pair {i}: no eigenvalue within {float(evidence.bounds[i]):.2e} of {float(evidence.values[i]):.17g}"
    return [Finding("bound", f"{text}; the nearest is {float(distance[i]):.2e} away")]


def check_angles(solution: Any, evidence: Evidence, reference: Reference, request: Request) -> list[Finding]:
    """Is each vector that belongs to a simple eigenvalue within its angle of the eigenvector?"""
    clusters, values = np.asarray(solution.clusters), reference.values
    for i, bound in enumerate(extended(solution.angle_bounds).tolist()):
        distances = abs(values - evidence.values[i])
        j = int(np.argmin(distances))
        gap = np.delete(abs(values - values[j]), j).min(initial=np.inf)
        if not bound < 1 or (clusters == clusters[i]).sum() > 1 or gap < SIMPLE * reference.allowance[j]:
            continue
        u, x = evidence.vectors[:, i], reference.vectors[:, j]
        u = u / np.sqrt(max((u.conj() @ (reference.B @ u)).real, TINY))
        rest = u - x * (x.conj() @ (reference.B @ u))
        sine = float(np.sqrt(max((rest.conj() @ (reference.B @ rest)).real, 0)))
        length = float(np.sqrt(evidence.squares[i] * reference.norm_B))
        noise = 10 * reference.allowance[j] / gap + ROUNDING * reference.n * reference.eps * length
        if sine > (1 if request.exact else ESTIMATE) * bound + noise:
            return [
                Finding("angle", f"pair {i}: the sine is {sine:.2e}, its bound {bound:.2e}, the gap {float(gap):.1e}")
            ]
    return []


def check_values(solution: Any, evidence: Evidence, reference: Reference, request: Request) -> list[Finding]:
    """Are these the wanted eigenvalues, if the verdict says so?"""
    word = str(solution.verdict)
    if word == "unchecked":
        return []
    # a rule that promises no residual is held to the one that it has reached
    tol = max(1e-8, float(np.max(solution.residuals))) if request.tol is None else request.tol
    bounds = np.where(np.isfinite(evidence.bounds), evidence.bounds, 0) * (1 if request.exact else ESTIMATE)
    near = 10 * np.longdouble(tol) * scales(solution, reference, request)
    room = bounds + near + evidence.rounding(reference)
    if "interval" in request.options:
        ends = request.options["interval"]
        complaint = check_interval(evidence.values, room, reference.values, reference.allowance, ends)
    else:
        target = (request.which, request.sigma, request.k)
        if request.k > len(reference.values):
            return [Finding("value", f"{request.k} values, but there are only {len(reference.values)} finite ones")]
        complaint = check_wanted(evidence.values, room, reference.values, reference.allowance, target)
    return [Finding("certified miss" if word == "certified" else "miss", complaint)] if complaint else []


def judge(solution: Any, reference: Reference, request: Request) -> list[Finding]:
    """All that is wrong with a converged solution."""
    found = check_form(solution, reference, request)
    if found or not len(solution.eigenvalues):
        return found if found or "interval" not in request.options else _empty(reference, request)
    evidence = Evidence.of(solution, reference)
    found += check_residuals(solution, evidence, reference, request)
    found += check_orthonormal(evidence, reference, request)
    found += check_bounds(solution, evidence, reference, request)
    found += check_angles(solution, evidence, reference, request)
    found += check_values(solution, evidence, reference, request)
    if request.options.get("certify") and str(solution.verdict) != "certified":
        found.append(Finding("uncertified", f"certify=True, and the verdict is {str(solution.verdict)!r}"))
    return found


def _empty(reference: Reference, request: Request) -> list[Finding]:
    nothing = np.zeros(0, dtype=np.longdouble)
    ends = request.options["interval"]
    complaint = check_interval(nothing, nothing, reference.values, reference.allowance, ends)
    return [Finding("miss", complaint)] if complaint else []
