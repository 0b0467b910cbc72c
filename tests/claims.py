"""Everything that a solution of a well-conditioned pair claims, recomputed: each claim has to hold, and to be tight.

Where nothing is ill-conditioned, rounding is no excuse: residuals are their formula, and error bounds contain an
eigenvalue and are not many times larger than the residual norms that they come from.
"""

import numpy as np
import scipy.linalg

# How much larger than the residual norms of the returned pairs a bound may be, and units of rounding beside it.
SLACK, UNITS = 3.0, 300


def wanted(values, target, k):
    """The k wanted ones of ascending eigenvalues, in the order in which `solve` returns them."""
    kind, *arguments = target
    if kind == "interval":
        low, high = arguments
        return values[(values >= low) & (values <= high)]
    keys = {
        "largest": lambda: -values,
        "smallest": lambda: values,
        "magnitude": lambda: -np.abs(values),
        "sigma": lambda: np.abs(values - arguments[0]),
    }
    if kind == "ends":
        order = np.ravel(np.column_stack([np.arange(values.size)[::-1], np.arange(values.size)]))
        return values[order[:k]]
    return values[np.argsort(keys[kind](), kind="stable")[:k]]


def eigenvalues(A, B):
    """All eigenvalues in ascending order, in double precision."""
    wide = [None if M is None else M.astype(np.result_type(M.dtype, np.float64)) for M in (A, B)]
    return scipy.linalg.eigh(*wide, eigvals_only=True)


class Claims:
    """A solution beside the eigenvalues of the dense pair, in double precision."""

    def __init__(self, solution, A, B, target, k, tol):
        self.solution, self.target, self.tol = solution, target, tol
        wide = np.result_type(A.dtype, np.float64)
        B = np.eye(len(A)) if B is None else B
        self.A, self.B = A.astype(wide), B.astype(np.result_type(B.dtype, np.float64))
        self.values, self.basis = scipy.linalg.eigh(self.A, self.B)
        self.k = len(wanted(self.values, target, k)) if target[0] == "interval" else k
        self.eps = float(np.finfo(solution.eigenvectors.dtype).eps)
        self.w, self.U = solution.eigenvalues.astype(float), solution.eigenvectors.astype(np.result_type(wide, self.B))
        self.rest = self.A @ self.U - self.B @ self.U * self.w
        norm_A, norm_B = (np.abs(M).sum(axis=0).max() for M in (self.A, self.B))
        self.units = self.eps * (norm_A + np.abs(self.w) * norm_B)
        self.lengths = np.linalg.norm(self.U, axis=0)
        # values and vectors are stored in single precision
        self.stored = self.eps if self.eps > 1e-10 else 0.0
        # rounding of A and B, as it moves an eigenvalue
        self.rounding = UNITS * self.units * self.lengths**2
        # the same as it moves any eigenvalue of the pair
        self.noise = UNITS * self.eps * np.abs(self.values).max() * np.linalg.cond(self.B)

    def form(self):
        """Shapes, types, order and sign."""
        solution, k, n = self.solution, self.k, len(self.A)
        assert solution.converged
        assert solution.eigenvectors.shape == (n, k)
        for name in ("eigenvalues", "residuals", "error_bounds", "angle_bounds", "clusters"):
            assert getattr(solution, name).shape == (k,), name
        largest = np.take_along_axis(self.U, np.abs(self.U).argmax(axis=0)[None], axis=0)[0] if k else np.ones(0)
        assert (largest.real > 0).all()
        gram = self.U.conj().T @ self.B @ self.U
        assert np.abs(gram - np.eye(k)).max(initial=0) <= 1e-10 + 1e3 * self.eps

    def found(self):
        """The wanted eigenvalues, in order."""
        expected = wanted(self.values, self.target, self.k)
        # at a loose tolerance values are as wrong as the squares of their residuals allow
        off = np.abs(self.w - expected)
        room = self.rounding + self.solution.error_bounds + self.tol**1.5 * np.abs(self.values).max()
        assert (off <= room).all(), f"{self.w} is not {expected}"

    def residuals(self):
        """Their formula, and the tolerance or what rounding allows."""
        norms = np.linalg.norm(self.rest, axis=0)
        sizes = np.abs(self.w) * np.linalg.norm(self.B @ self.U, axis=0)
        floors = np.sqrt(self.eps) * self.units / self.eps * self.lengths
        expected = norms / np.maximum(sizes, floors)
        blur = (
            (50 * np.finfo(float).eps + 4 * self.stored)
            * (self.units / self.eps)
            * self.lengths
            / np.maximum(sizes, floors)
        )
        assert (np.abs(self.solution.residuals - expected) <= 1e-3 * expected + blur).all()
        allowed = np.maximum(self.tol * sizes, 10 * max(32, len(self.A) / 12) * self.units * self.lengths)
        assert (norms <= 1.001 * allowed).all()

    def bounds(self, *, tight):
        """An eigenvalue within each bound; a `tight` one is not many times larger than ‖r‖ in the norm of B⁻¹."""
        bounds = self.solution.error_bounds
        distance = np.abs(self.values[:, None] - self.w).min(axis=0)
        assert (distance <= 1.001 * bounds + self.noise / 100).all()
        errors = self.errors()
        ratios = bounds / (SLACK * errors + self.rounding)
        assert not tight or (ratios <= 1).all(), f"{ratios}"

    def errors(self):
        """√(rᴴB⁻¹r)."""
        with np.errstate(over="ignore"):
            return np.sqrt(np.maximum((self.rest.conj() * np.linalg.solve(self.B, self.rest)).sum(axis=0).real, 0))

    def angles(self):
        """Sines to the eigenspaces of clusters: within their bounds, which are not many times what is known."""
        clusters, bounds = self.solution.clusters, self.solution.angle_bounds
        assert ((bounds >= 0) & (bounds <= 1)).all()
        for label in np.unique(clusters):
            inside = clusters == label
            near = np.abs(self.values[:, None] - self.w[inside]).min(axis=1)
            width = 4 * self.solution.error_bounds[inside].max() + self.noise
            space, rest = self.basis[:, near <= width], self.values[near > width]
            u = self.U[:, inside]
            away = u - space @ (space.conj().T @ (self.B @ u))
            sines = np.sqrt(np.maximum((away.conj() * (self.B @ away)).sum(axis=0).real, 0))
            gap = np.abs(rest[:, None] - self.w[inside]).min(initial=np.inf)
            assert (sines <= 1.001 * bounds[inside] + self.noise / max(gap, 1e-300)).all()

    def separate(self):
        """Values with the same label are connected by their error intervals."""
        order = np.argsort(self.w)
        steps, labels, errors = np.diff(self.w[order]), self.solution.clusters[order], self.errors()[order]
        together = np.diff(labels) == 0
        assert (steps <= SLACK * (errors[1:] + errors[:-1]) + self.noise)[together].all()

    def history(self):
        """Products never fall, and the last row of each pair is near its value."""
        history, counts = self.solution.history, self.solution.counts
        if not len(history):
            return
        assert (np.diff(history.products) >= 0).all()
        assert (np.diff(history.seconds) >= 0).all()
        assert history.products[-1] <= counts.products

    def check(self, *, tight=True):
        """All of them. Bounds are not tight where an inverse has far larger eigenvalues than the wanted ones."""
        self.form()
        self.residuals()
        if self.solution.verdict != "unchecked":
            self.found()
        self.bounds(tight=tight)
        self.angles()
        self.separate()
        self.history()
