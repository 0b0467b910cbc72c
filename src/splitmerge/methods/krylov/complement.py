"""The complement of the pairs that a Krylov search has found: does it hold anything that is more wanted?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...problem.products import Iterative
from ...typing import Array
from ..probe import outside, unless_converged, unseen_distance
from ..subspace import Slack
from .plain import PlainProcess

if TYPE_CHECKING:
    from .thick_restart import ThickRestart

# A probe is not decided before this many products: a random vector has its Rayleigh quotient in the middle of the
# spectrum, and by the bound of Kuczyński and Woźniakowski as many steps see a value that is half the width away.
MIN_PROBE_STEPS = 12
# A probe makes at most this multiple of the basis size in products.
MAX_PROBE_BASES = 20
# Once the residual norm of a pair is below this fraction of its distance to the next eigenvalue, the search has told it
# apart. A probe of as many products sees another copy of it, unless the component of its random start along the copy is
# smaller by this factor than usual: the probability of that is about this fraction.
RESOLVED_FRACTION = 1e-4
# From this n on a probe begins with plain Lanczos, which in a small space has little time to forget rounding errors.
PLAIN_N = 200
# The Ritz values of plain Lanczos are computed every time that it has grown by this fraction.
CHECK_FRACTION = 0.125
# Ritz vectors beyond the k wanted ones are projected out, too, if their residual norm is below this fraction of the
# distance of their value to where a missing one may be: its eigenvector has components along them of that size.
INVARIANT_FRACTION = 1e-2


class Complement:
    """The complement of the k pairs of a search: `look` tells if a pair in it is more wanted by over `slack`.

    More wanted, that is, than the last of its pairs that are `doubted`.

    Nothing is, once the best Ritz value of the complement plus its doubt is not more wanted. The doubt is the residual
    norm, or the distance within which the steps so far may have missed an eigenvalue, if that is larger. The latter
    counts until the probe has made as many products as a search from a random vector took to resolve its own pairs;
    beside a given start, until the probe has converged.
    """

    def __init__(self, search: ThickRestart, slack: Slack) -> None:
        self.search, self.slack = search, slack
        self.low, self.high = search.target.window(search.values[: min(search.doubted, search.k)])
        # how many products the search has made, and how many plain Lanczos
        self.before, self.spent = search.basis.products, 0

    def look(self) -> bool | None:
        """Is there a further pair, which the basis then contains? None if many steps did not decide it."""
        transform = self.search.transform
        plain = transform.n >= PLAIN_N and not isinstance(transform.products.solver, Iterative)
        return False if plain and self._seen() is False else self._searched()

    def _seen(self) -> bool | None:
        """Does plain Lanczos see a further pair? None if many steps did not decide it."""
        search = self.search
        S, margin = self._nearly_invariant()
        found = self._plainly(S, margin) if margin > 0 else None
        return self._plainly(search.S[:, : search.k], 0.0) if found is None else found

    def _nearly_invariant(self) -> tuple[Array, float]:
        """Coefficients of the wanted Ritz vectors and others that nearly span an invariant subspace, and a margin.

        An eigenvalue μ beyond the window whose eigenvector has components c along Ritz vectors with the values θ lies
        within Σ (μ − θ)|c|² of one of the complement, if these are small, and |c| is at most the residual norm over
        μ − θ. The margin, the bound of that sum, is zero where no others are taken, as some value is within it.
        """
        search, k = self.search, self.search.k
        values, S, errors = search.basis.ritz(search.basis.size)
        distances = np.minimum(self.high - values, values - self.low)
        taken = (errors <= INVARIANT_FRACTION * distances) & (distances > 0)
        taken[:k] = False
        margin = 2 * float((errors[taken] ** 2 / distances[taken]).sum())
        rest = ~taken
        rest[:k] = False
        taken[:k] = True
        near = bool((distances[rest] <= margin).any())
        return S[:, taken], 0.0 if near else margin

    def _plainly(self, S: Array, margin: float) -> bool | None:
        """Does plain Lanczos beside the vectors V S see a further pair? None if many steps did not decide it.

        None as well where a value is within the `margin`.
        """
        basis = self.search.basis
        process = PlainProcess(basis, np.asfortranarray(basis.vectors(S)))
        limit, following = MAX_PROBE_BASES * basis.capacity, MIN_PROBE_STEPS
        start = self.spent
        while process.steps < limit:
            while process.steps < following and not process.exhausted and not process.broken:
                process.extend()
            self.spent = start + process.steps
            basis.products = self.before + self.spent
            if process.broken:
                return None
            ends, errors = process.ends()
            if outside(ends, self.low - self.slack.low, self.high + self.slack.high):
                return True
            if margin > 0 and outside(ends, self.low + margin, self.high - margin):
                return None
            if process.exhausted or self._decided(ends, errors, process.steps, [1], [0], margin):
                return False
            following += max(MIN_PROBE_STEPS // 2, int(CHECK_FRACTION * following))
        return None

    def _searched(self) -> bool | None:
        """The same in the basis of the search, which then contains what is found."""
        search, basis, k = self.search, self.search.basis, self.search.k
        known = outside(search.values[:k], self.low - self.slack.low, self.high + self.slack.high)
        # the residuals of the pairs couple them to the rest
        basis.loose = False
        basis.restart(search.values[:k], search.S[:, :k], couple=False)
        start = basis.products
        for _ in search.unrecorded():
            # it may have been replaced by one of the whole space
            basis = search.basis
            # the vectors of another copy of a known value mix with the known ones: only a count tells
            if outside(search.values, self.low - self.slack.low, self.high + self.slack.high) > known:
                return True
            rest, steps = search.values[k:], basis.products - start
            # what the probe is about to find may be among the first k, where the residuals of the known pairs vanish
            first = np.flatnonzero(search.errors[:k] > min(self.slack)).tolist()
            above, below = [*first, k + int(np.argmax(rest))], [*first, k + int(np.argmin(rest))]
            if basis.complete or self._decided(search.values, search.errors, steps, above, below):
                return False
            if steps >= MAX_PROBE_BASES * basis.capacity:
                break
        return None

    def _decided(
        self, values: Array, errors: Array, steps: int, above: list[int], below: list[int], margin: float = 0.0
    ) -> bool:
        """Do the Ritz values in the places `above` and `below` show that nothing more wanted is left?"""
        search, slack, low, high = self.search, self.slack, self.low + margin, self.high - margin
        top, bottom = float(values[above[-1]]), float(values[below[-1]])
        unseen = unseen_distance(steps, search.transform.n, top - bottom)
        if search.blind:
            gap = min(high - top, bottom - low)
            doubt = reach = errors if steps >= self._resolving(gap) else np.maximum(errors, unseen)
        else:
            doubt, reach = unless_converged(values, errors, search.basis.eps**0.5, unseen)
        more = ((values + reach > high) & (doubt > slack.high))[above].any()
        less = ((values - reach < low) & (doubt > slack.low))[below].any()
        return bool(steps >= MIN_PROBE_STEPS and not (more or less))

    def _resolving(self, gap: float) -> int:
        """How many products the search took to tell its pairs from a value at the distance `gap`."""
        path, following = self.search.path, self.before
        for products, error in reversed(path):
            if not error <= RESOLVED_FRACTION * gap:
                break
            following = products
        return following
