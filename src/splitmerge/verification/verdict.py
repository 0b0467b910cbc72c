"""The verdict: how far it is known that no wanted eigenvalue is missing."""

from __future__ import annotations


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
BY_LAPACK = Verdict("certified", "LAPACK reduced the whole pair to tridiagonal form and counted the eigenvalues there")
COUNTED = Verdict("certified", "an inertia count showed that no eigenvalue beyond the last pair is missing")
CUT = Verdict(
    "certified",
    "inertia counts showed that no eigenvalue is missing beyond the cluster of close ones that the last pair is one of",
)
