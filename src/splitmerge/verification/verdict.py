"""How far completeness of the result is known."""

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


UNFINISHED = Verdict("unchecked", "the search did not come to its end")


BY_CHANCE = Verdict("probed", "the search began from a random vector, which has a part of every eigenvector")
