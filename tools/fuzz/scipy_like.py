"""`eigsh`: requests with all of SciPy's arguments, and their judge."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse.linalg as spla
from scipy.sparse.linalg import LinearOperator

from .disguises import Disguise
from .families import Problem
from .judge import Finding
from .matching import eigsh_order, submultiset
from .matrices import Rng
from .oracle import ROUNDING, Reference
from .precise import TINY, Array, extended, norm
from .requests import Request, random_k, random_sigma

# The largest pair that SciPy solves for comparison.
MAX_COMPARED = 100
# Residuals may be so many times the tolerance, which SciPy defines for the transformed spectrum.
_LOOSE = 100


def _inverse(M: Array) -> LinearOperator:
    factor = scipy.linalg.lu_factor(M)
    return LinearOperator(M.shape, matvec=lambda b: scipy.linalg.lu_solve(factor, b), dtype=M.dtype)


def _operators(rng: Rng, request: Request, problem: Problem) -> None:
    """Give OPinv or Minv, which the caller has already."""
    options, A = request.options, problem.A.astype(np.result_type(problem.A, np.float32))
    B = np.eye(problem.n, dtype=A.dtype) if problem.B is None else problem.B.astype(np.result_type(problem.B, A.dtype))
    if request.sigma is not None:
        shifted = A - request.sigma * B
        if np.isfinite(shifted).all() and np.linalg.cond(shifted) < 1e10:
            options["OPinv"] = _inverse(shifted)
    elif problem.B is not None and np.isfinite(B).all() and np.linalg.cond(B) < 1e10:
        options["Minv"] = _inverse(B)


def eigsh_request(rng: Rng, problem: Problem, reference: Reference | None, given: tuple[Disguise, ...]) -> Request:
    """The arguments of `sm.eigsh`; M is added by the caller."""
    n, rest = problem.n, 1 + any(np.iscomplexobj(M) for M in (problem.A, problem.B))
    options: dict[str, Any] = {"k": min(random_k(rng, n), max(1, n - rest)), "rng": int(rng.integers(1000))}
    request = Request("eigsh", options, tol=0.0)
    options["which"] = str(rng.choice(["LM", "SM", "LA", "SA", "BE"]))
    if rng.random() < 0.35:
        options["sigma"] = random_sigma(rng, reference)
        options["mode"] = str(rng.choice(["normal", "normal", "cayley"]))
    if rng.random() < 0.3:
        options["tol"] = request.tol = float(10.0 ** -rng.integers(2, 14))
    if rng.random() < 0.15:
        options["v0"] = rng.normal(size=n)
    if rng.random() < 0.15:
        options["ncv"] = int(min(n, options["k"] + rng.integers(1, 20)))
    if rng.random() < 0.1:
        options["maxiter"] = int(rng.choice([1, 50, 5000]))
    if rng.random() < 0.15:
        options["return_eigenvectors"] = False
    if rng.random() < 0.15 and not problem.hostile:
        _operators(rng, request, problem)
    if n <= rest or (options["which"] == "BE" and options["k"] == 1):
        request.refusable = "SciPy refuses it, too"
    if request.sigma is not None and not all(each.entries for each in given) and "OPinv" not in options:
        request.refusable = "needs the entries of A and B"
    if options.get("mode") == "cayley" or any(each.undocumented or not each.entries for each in given):
        request.refusable = request.refusable or "a mode or a form that may not be served"
    request.exact = all(each.entries for each in given)
    return request


def check_eigsh(answer: Any, reference: Reference, request: Request) -> list[Finding]:
    """Shapes, values and residuals of what `eigsh` returned."""
    if request.refusable.startswith("SciPy"):
        return []
    vectors = request.options.get("return_eigenvectors", True)
    if vectors != isinstance(answer, tuple):
        return [Finding("shape", f"{type(answer).__name__} is not what return_eigenvectors={vectors} means")]
    w, V = answer if vectors else (answer, None)
    k, n = request.k, reference.n
    if np.shape(w) != (k,) or (V is not None and V.shape != (n, k)):
        return [Finding("shape", f"shapes {np.shape(w)}, {np.shape(V)} for {n=}, {k=}")]
    if not np.isfinite(w).all() or (V is not None and not np.isfinite(V).all()):
        return [Finding("nonfinite", "values or vectors are not finite")]
    found, mode = [], request.options.get("mode", "normal")
    values = extended(w)
    nearest = abs(reference.values[:, None] - values).argmin(axis=0)
    scale = abs(values) + abs(np.longdouble(request.sigma or 0)) + abs(reference.values).max() * reference.eps
    room = (
        5 * reference.allowance[nearest]
        + 10 * np.longdouble(max(request.tol or 0.0, 1e-12 if request.exact else 1e-9)) * scale
    )
    if (request.tol or 0) > 1e-6:  # a loose tolerance is met in the transformed spectrum
        room = room + 10 * np.longdouble(request.tol or 0) * abs(reference.values).max()
    indices, clear = eigsh_order(reference.values, request.which, request.sigma, mode, k)
    if request.sigma is not None and request.which != "LM":  # at a pole nothing tells one end from the other
        clear &= bool((abs(reference.values - np.longdouble(request.sigma)) > reference.allowance).all())
    complaint = submultiset(values, room, reference.values, reference.allowance)
    if clear and not complaint:
        complaint = submultiset(values, room, reference.values[indices], 5 * reference.allowance[indices])
    if complaint:
        found.append(Finding("eigsh value", complaint))
    if V is not None:
        found += _check_vectors(values, extended(V), reference, request)
    return found


def _check_vectors(values: Array, V: Array, reference: Reference, request: Request) -> list[Finding]:
    R = reference.A @ V - (reference.B @ V) * values
    length = np.sqrt((abs(V) ** 2).sum(axis=0))
    unit = (norm(reference.A) + abs(values) * norm(reference.B)) * length
    allowed = (
        ROUNDING * 10 * reference.n * reference.eps + 10 * max(request.tol or 0.0, 1e-10 if request.exact else 1e-8)
    ) * unit
    size = np.sqrt((abs(R) ** 2).sum(axis=0))
    found = []
    if (size > allowed).any():
        i = int(np.argmax(size / np.maximum(allowed, TINY)))
        found.append(Finding("eigsh residual", f"pair {i}: {float(size[i]):.2e} > {float(allowed[i]):.2e}"))
    gram = V.conj().T @ (reference.B @ V)
    noise = 100 * ROUNDING * reference.n * reference.eps * reference.norm_B * np.outer(length, length)
    base = max(1e-6, 1e4 * reference.eps, 100 * (request.tol or 0))
    if (abs(gram - np.eye(len(gram))) > np.maximum(base, noise)).any():
        found.append(Finding("eigsh orthonormality", f"‖VᴴMV − I‖ = {float(abs(gram - np.eye(len(gram))).max()):.1e}"))
    return found


def like_scipy(answer: Any, A: Any, options: dict[str, Any], reference: Reference) -> list[Finding]:
    """Types and order of SciPy's own answer, where it has a right one."""
    own = {name: value for name, value in options.items() if name not in ("rng", "OPinv", "Minv")} | {"maxiter": 100}
    if reference.n > MAX_COMPARED:
        return []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            theirs = spla.eigsh(A, **own)
        except Exception:
            return []
    ours = answer if isinstance(answer, tuple) else (answer,)
    theirs = theirs if isinstance(theirs, tuple) else (theirs,)
    found = [
        Finding("eigsh type", f"{a.dtype} instead of SciPy's {b.dtype}")
        for a, b in zip(ours, theirs, strict=True)
        if a.dtype != b.dtype
    ]
    w, v = ours[0], theirs[0]
    # SciPy's `eigs` returns fewer than it was asked for where copies of an eigenvalue do not converge
    same = w.shape == v.shape and np.allclose(np.sort(w), np.sort(v), rtol=1e-6, atol=0)
    gap = np.diff(np.sort(v)).min(initial=np.inf)
    if same and gap > 1e-3 * abs(v).max(initial=0) and not np.allclose(w, v, rtol=1e-5, atol=0):
        found.append(Finding("eigsh order", f"{w} instead of SciPy's {v}"))
    return found
