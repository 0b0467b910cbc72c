"""The result of a solve, with its residuals, bounds, verdict, history and costs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from os import PathLike
from typing import Any, ClassVar

import numpy as np

from ..planning.decision import Decision
from ..problem.b_policy import BReport
from ..problem.problem import Problem
from ..problem.products import Counts
from ..run.history import History
from ..run.reason import Reason
from ..typing import Array
from ..verification.verdict import Verdict
from .display.curves import By
from .display.plot import Kind
from .display.words import in_few_lines
from .explain import worded


@dataclass(frozen=True)
class Seconds:
    """Wall-clock time of the set-up (checks, factorisation, survey) and of the iteration.

    `verification` is the part of the iteration that went into residuals, error bounds, counts and probes.
    """

    setup: float
    iteration: float
    verification: float = 0.0

    @property
    def search(self) -> float:
        """The iteration without its verification."""
        return self.iteration - self.verification

    @property
    def total(self) -> float:
        """Set-up and iteration together."""
        return self.setup + self.iteration


@dataclass(frozen=True)
class Absent:
    """Stands for what a file could not hold: `what` it was, in words."""

    what: str


@dataclass(frozen=True, eq=False, repr=False)
class Solution:
    """Eigenpairs of A u = λ B u, best first, with what they cost and how good they are.

    It prints itself in a few lines, as a table with a picture in notebooks; `plot` and `to_frame` show more of it, and
    `w, V = solution` unpacks values and vectors.

    >>> import numpy as np, splitmerge as sm
    >>> w, V = sm.solve(np.diag([1.0, 2.0, 3.0]), k=2)
    >>> w.round(8), V.shape
    (array([3., 2.]), (3, 2))

    eigenvalues
        (k,), descending for the largest, ascending for the smallest and in an interval.
    eigenvectors
        (n, k), B-orthonormal; the entry of largest magnitude of each is positive.
    residuals
        (k,), ‖Au − λBu‖₂ / (|λ|‖Bu‖₂), recomputed in double precision from the given A and B. Where |λ|‖Bu‖₂ is
        smaller than √eps (‖A‖₁ + |λ|‖B‖₁)‖u‖₂, as for a zero eigenvalue, that is the denominator instead (eps of the
        working precision; for a matrix-free operator, the largest entry of its product with a normal random vector
        stands for the norm). No scaling of A, B or u changes it. Converged means ‖Au − λBu‖₂ ≤ tol |λ|‖Bu‖₂ or, with
        the reason PRECISION, ‖Au − λBu‖₂ ≤ 32 eps (‖A‖₁ + |λ|‖B‖₁)‖u‖₂, which is what the rounding of A and B allows
        (ten times that after a decomposition by LAPACK or of B; for rows of m > 96 entries, m/3 units of eps in place
        of 32, for dense matrices n/12). A pair whose diag(B) spans more than two decades is scaled to diag(B) = 1, and
        held to this after that scaling; where D spans many decades, the rounding of A and B themselves may allow less.
    error_bounds
        (k,), within that distance of each value there is an eigenvalue: e = √(rᴴB⁻¹r) for r = Au − λBu, or e²/gap where
        the gap to the other values is larger than e; infinite where rᴴB⁻¹r could not be computed. After a factorisation
        of A − σB, the same in terms of 1/(λ − σ). (An allowance for rounding is added; a gap is known only as far as
        nothing is missing, so that none is used where the `verdict` is "unchecked".)
    angle_bounds, clusters
        (k,), sin of the B-angle between the vector and the eigenspace is at most e/gap. Values too near to each other
        to be told apart have the same number in `clusters`; their angles are to the invariant subspace of them all. Of
        what lies just beyond the last pair a search knows nothing for sure, so its bound is 1 (LAPACK knows it); so are
        those of all pairs that are "unchecked".
    converged, reason, steps
        Whether and why the iteration stopped, and the steps of all pairs together.
    counts
        Products with A and B and solves with B of the iteration; `counts.setup` and `counts.monitoring` stand apart.
        `counts.products` are those with A and solves with A − σB together.
    seconds
        `seconds.setup` and `seconds.iteration`, and the part of the latter that was `seconds.verification`.
    history
        A row for every step of every pair.
    verdict
        "certified", "probed" or "unchecked", with `verdict.why`: is this known to be *the* k largest?
    shift
        η, in the units of the eigenvalues: the iteration ran on (A + ηB, B), or on (B, A + ηB).
    b_report
        What `b_policy` added to B or dropped; None for "error".
    decisions
        The choices behind the result with their figures, which `explain` puts into words; a loaded solution has only
        the words, in `told`.
    problem
        What was asked for (A and B themselves, not copies), for `resume`.
    spare
        (n, m), vectors that would come next, as good as they are: `resume` for a larger k starts from them, too.
    """

    eigenvalues: Array
    eigenvectors: Array
    residuals: Array
    error_bounds: Array
    angle_bounds: Array
    clusters: Array
    converged: bool
    reason: Reason
    steps: int
    counts: Counts
    seconds: Seconds
    history: History
    verdict: Verdict
    shift: float
    method: Any
    b_report: BReport | None = None
    decisions: tuple[Decision, ...] = ()
    told: tuple[str, ...] | None = None
    problem: Problem | None = None
    spare: Array | None = None
    # are the vectors the rows of one process?
    distributed: ClassVar[bool] = False

    def __iter__(self) -> Iterator[Array]:
        """The eigenvalues, then the eigenvectors: `w, V = solution`."""
        yield self.eigenvalues
        yield self.eigenvectors

    def __repr__(self) -> str:
        return in_few_lines(self)

    def _repr_html_(self) -> str:
        from .display.html import as_html

        return as_html(self)

    @property
    def n(self) -> int:
        """The number of unknowns."""
        return int(self.eigenvectors.shape[0])

    @property
    def story(self) -> tuple[str, ...]:
        """The decisions in words."""
        return worded(self.decisions) if self.told is None else self.told

    def plot(self, kind: Kind = "convergence", *, by: By = "products", ax: Any = None) -> Any:
        """Draw the convergence, or the spectrum with error bars, by matplotlib, and return its Axes.

        kind
            "convergence" draws the residuals of each pair as the iteration knew them, and a ring for the one that was
            recomputed from A and B in the end; dotted curves are of pairs that others displaced. "spectrum" draws the
            values with their error bounds, those of one cluster in one colour.
        by
            "products" (with A, and solves with A − σB) or "seconds", for the convergence.
        ax
            The Axes to draw into; without it a new figure.

        >>> import matplotlib
        >>> matplotlib.use("agg")
        >>> import splitmerge as sm
        >>> A, B = sm.gallery.synthetic_pair(300, kappa_B=10, rng=0)
        >>> axes = sm.solve(A, B, method=sm.SplitMerge(), rng=0).plot()
        >>> axes.get_title(), axes.get_xlabel()
        ('1 largest, n = 300', 'products with A')
        """
        from .display.plot import plot

        return plot(self, kind, by, ax)

    def to_frame(self) -> Any:
        """The pairs as a pandas DataFrame: value, residual, error_bound, angle_bound and cluster.

        >>> import numpy as np, splitmerge as sm
        >>> frame = sm.solve(np.diag([1.0, 2.0, 3.0]), k=2).to_frame()
        >>> frame.columns.tolist()
        ['value', 'residual', 'error_bound', 'angle_bound', 'cluster']
        >>> frame["value"].round(8).tolist()
        [3.0, 2.0]
        """
        from .display.frame import to_frame

        return to_frame(self)

    def resume(self, k: int | None = None, tol: float | None = None, **options: Any) -> Solution:
        """Go on from here: the same problem with these vectors as a start, for another k, another tol, or further.

        Without arguments it takes another run of `stop` and `max_steps`; `tol` replaces the rule `stop`, too. `options`
        are those of `solve`, and replace what was asked for then. Works for the solution of a `NotConverged` as well.

        >>> import splitmerge as sm
        >>> A, B = sm.gallery.synthetic_pair(200, kappa_B=10, rng=0)
        >>> rough = sm.solve(A, B, k=3, tol=1e-4, rng=0)
        >>> fine = rough.resume(tol=1e-10, rng=0)
        >>> fine.converged, bool((fine.residuals <= 1e-10).all())
        (True, True)
        >>> fine.resume(k=5, rng=0).eigenvalues.shape
        (5,)
        """
        from .resume import resume

        return resume(self, k, tol, options)

    def save(self, path: str | PathLike[str]) -> None:
        """Write everything to one file, A and B included where they have entries; `splitmerge.load` reads it.

        The file appears in one go, in place of what was there: a crash leaves the old one.
        """
        from .store import save

        save(self, path)

    def explain(self) -> str:
        """Which route was taken and why, and what came of it."""
        return "\n".join(
            (*self.story, self.reason.advice, self.summary(), f"Completeness: {self.verdict} ({self.verdict.why}).")
        )

    def summary(self) -> str:
        """The outcome in one sentence."""
        worst = float(np.max(self.residuals, initial=0.0))
        count = self.eigenvalues.size
        counts = self.counts
        return (
            f"{count} pair{'s' * (count != 1)} after {self.steps} step{'s' * (self.steps != 1)}, "
            f"{counts.A_products} products with A, {counts.B_products} with B, {counts.B_solves} solves with B, "
            f"{counts.K_solves} with A − σB, "
            f"{self.seconds.setup:.3g} s of set-up and {self.seconds.iteration:.3g} s of iteration "
            f"({self.seconds.verification:.3g} s of them verification); "
            f"largest relative residual {worst:.2g}."
        )
