"""The verdict: how far it is known that no wanted eigenvalue is missing."""

from __future__ import annotations

import numpy as np

from ..methods.survey import Survey
from ..problem.pencil import Pencil, is_graded
from ..run.reason import Reason
from ..typing import Array


class Verdict(str):
    """ "certified", "probed" or "unchecked"; `why` says what that rests on."""

    why: str

    def __new__(cls, word: str, why: str) -> Verdict:
        """The word, with its reason attached."""
        self = super().__new__(cls, word)
        self.why = why
        return self

    def __getnewargs__(self) -> tuple[str, str]:  # type: ignore[override]
        return str(self), self.why


UNFINISHED = Verdict("unchecked", "the iteration did not finish")
RANDOM_START = Verdict(
    "probed", "the search started from a random vector, which has a component along every eigenvector"
)
TWO_STARTS = Verdict(
    "probed", "the search started from two random vectors, which show a multiple eigenvalue twice, and found none"
)
INEXACT = Verdict(
    "unchecked", "the inner solver that was given is too inexact for error bounds, and a search with it may miss a pair"
)
EARLY = Verdict(
    "unchecked", "LOBPCG did not converge so far that it cannot have stopped next to another eigenvalue on its way"
)
UNDECIDED = Verdict(
    "unchecked", "a random-start probe of the B-orthogonal complement did not decide whether an eigenvalue is missing"
)
BLURRED = Verdict(
    "unchecked",
    "rounding of the largest value found is so large beside the last one that pairs may have been overlooked",
)
BY_LAPACK = Verdict("certified", "LAPACK reduced the whole pair to tridiagonal form and counted the eigenvalues there")
COUNTED = Verdict("certified", "an inertia count showed that no eigenvalue beyond the last pair is missing")
CUT = Verdict(
    "certified",
    "inertia counts showed that no eigenvalue is missing beyond the cluster of close ones that the last pair is one of",
)


def by_lapack(pencil: Pencil, values: Array) -> Verdict:
    """The verdict for values that LAPACK has computed: of a graded pair it may have confused small ones with others."""
    B, every = pencil.B, values.size in (0, pencil.n)
    if B is None or every or pencil.inverse is not None or not pencil.graded:
        return BY_LAPACK
    return BLURRED if is_graded(pencil.A.size / B.size, float(np.abs(values).max())) else BY_LAPACK


def probed(probes: int) -> str:
    """What the last of these probes shows; the others have found an eigenvalue, or were repeated."""
    which = "a random-start probe" if probes == 1 else f"the last of {probes} random-start probes"
    return f"{which} of the B-orthogonal complement found no further eigenvalue"


def surveyed(survey: Survey, count: int, reason: Reason) -> Verdict:
    """The verdict for pairs found by deflation, which are compared with a Lanczos survey only."""
    if reason is Reason.MISSED:
        return Verdict("unchecked", "a Lanczos survey shows that a pair was missed")
    checked = min(count, survey.bounds.size)
    pairs = "the first pair is" if checked == 1 else f"the first {checked} pairs are"
    return Verdict(
        "unchecked",
        f"completeness was not proved; {pairs} consistent with the lower bounds of a Lanczos "
        f"survey of {survey.bounds.size} steps",
    )
