"""A checkpoint that was read: what was asked for, the unverified vectors, and how to go on from them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...problem.adapt import shape_of
from ...problem.problem import Problem
from ...problem.products import Counts
from ...problem.start import Spent, Warm
from ...typing import Array
from ..resume import asked_again, solved_again, usable
from ..solution import Solution
from .stored import StoredVectors


@dataclass(frozen=True, eq=False, repr=False)
class LoadedCheckpoint:
    """What `splitmerge.load` returns for a checkpoint. It is no solution: nothing of it has been verified.

    vectors
        (n, m), in the user's coordinates, the most wanted first: Ritz vectors, with those that a restart would keep; of
        the methods that find one pair after the other, the vectors found and the present iterate. On several
        processes they stay in the file, and each reads its rows when it resumes.
    problem
        What was asked for. A and B themselves are not in the file.
    spent
        What it had cost: `steps`, `counts` and `seconds`; with those of the runs that it was resumed from.
    """

    vectors: Array | StoredVectors
    problem: Problem
    spent: Spent
    shift: float
    trusted: bool
    generator: np.random.Generator

    @property
    def steps(self) -> int:
        """The steps so far."""
        return self.spent.steps

    @property
    def counts(self) -> Counts:
        """The products and solves so far."""
        return self.spent.counts

    @property
    def seconds(self) -> float:
        """The time so far, with the set-up."""
        return self.spent.seconds

    def __repr__(self) -> str:
        problem, (n, columns) = self.problem, self.vectors.shape
        wanted = problem.which if problem.sigma is None else f"nearest to {problem.sigma:g}"
        method = "" if problem.method is None else f", {type(problem.method).__name__}"
        return (
            f"LoadedCheckpoint(the {problem.k} {wanted} of n = {n}, tol {problem.tol:g}{method}: {columns} columns "
            f"after {self.steps} steps and {self.seconds:.3g} s)"
        )

    def of(self, A: Any, B: Any) -> LoadedCheckpoint:
        """The same for these matrices; None leaves them as they are."""
        n = self.vectors.shape[0]
        if A is not None and shape_of(A) != (n, n):
            raise ValueError(
                f"A has shape {shape_of(A)}, but the checkpoint is of a pair with {n} rows; give that pair"
            )
        if B is not None and self.problem.B is None:
            raise ValueError("B is given, but the checkpoint is of a problem without B (the identity); leave it out")
        given = {name: M for name, M in (("A", A), ("B", B)) if M is not None}
        return replace(self, problem=replace(self.problem, **given)) if given else self

    def resume(self, A: Any = None, B: Any = None, **options: Any) -> Solution:
        """Solve on from these vectors, as it was asked for unless `options`, those of `solve`, say otherwise.

        `tol` replaces the rule `stop`, too. Steps, counts, seconds and the history of the result are those of this run;
        `explain()` tells what the checkpoint had cost. Limits of steps and seconds begin anew. To write checkpoints
        again, say `checkpoint=` again.

        >>> import os, tempfile
        >>> import splitmerge as sm
        >>> A, B = sm.gallery.synthetic_pair(400, kappa_B=10, rng=0)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "run.ckpt")
        ...     try:
        ...         sol = sm.solve(A, B, k=3, method=sm.Accelerated(), max_steps=2, rng=0, checkpoint=path)
        ...     except sm.NotConverged:
        ...         loaded = sm.load(path)
        >>> sol = loaded.resume(A, B, max_steps=None)
        >>> sol.converged, sol.eigenvalues.shape
        (True, (3,))
        """
        if options.get("interval") is not None:
            raise ValueError("interval is given, but a checkpoint has vectors for k pairs; call solve for an interval")
        problem = self.of(A, B).problem
        asked = asked_again(problem, options.pop("k", None), options.pop("tol", None), options)
        asked.setdefault("rng", self.generator)
        if "x0" not in asked:
            asked["x0"] = self._start(asked)
        return solved_again(asked)

    def _start(self, asked: dict[str, Any]) -> Warm | None:
        """The vectors, where there are any that can be a start."""
        same = (asked["which"], asked["sigma"]) == (self.problem.which, self.problem.sigma)
        X = self.vectors
        if isinstance(X, StoredVectors):
            if hasattr(asked["A"], "getOwnershipRange"):
                # each process reads its rows
                return Warm(X, self.shift if same else 0.0, self.spent, self.trusted and same)
            X = X.read()
        X = usable(X)
        return Warm(X, self.shift if same else 0.0, self.spent, self.trusted and same) if X.shape[1] else None
