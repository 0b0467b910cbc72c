"""What a sparse factorisation offers, whoever made it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Protocol

import numpy as np

from ..typing import Array


class Factors(Protocol):
    """A factorisation of a Hermitian K."""

    name: str

    @property
    def least(self) -> float:
        """The least pivot, beside its entry of the diagonal of K."""

    @property
    def negative(self) -> int:
        """How many eigenvalues of K are negative."""

    def solve(self, b: Array) -> Array:
        """K⁻¹b, for a vector or for columns."""


class Triangular(ABC):
    """Factors Π K Πᵀ = L D Lᴴ that can be looked at; `order` lists the rows of K as they were eliminated."""

    name: str
    order: Array
    # of K
    diagonal: Array

    @property
    @abstractmethod
    def L(self) -> Any:
        """The unit lower factor, in the order of elimination."""

    @property
    @abstractmethod
    def pivots(self) -> Array:
        """The diagonal of D."""

    @abstractmethod
    def solve(self, b: Array) -> Array:
        """K⁻¹b, for a vector or for columns."""

    @property
    def least(self) -> float:
        """The least pivot, beside its entry of the diagonal of K."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return float((self.pivots / np.abs(self.diagonal[self.order])).min())

    @property
    def negative(self) -> int:
        """How many eigenvalues of K are negative."""
        return int((self.pivots < 0).sum())
