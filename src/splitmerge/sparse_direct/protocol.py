"""The interface of a sparse factorisation, common to all backends."""

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
        """The smallest ratio of a pivot to its diagonal entry of K."""

    @property
    def negative(self) -> int:
        """The number of negative eigenvalues of K (inertia)."""

    def solve(self, b: Array) -> Array:
        """K⁻¹b for a vector or a block of columns b."""


class Triangular(ABC):
    """Accessible factors Π K Πᵀ = L D Lᴴ; `order` lists the rows of K in elimination order."""

    name: str
    order: Array
    # the diagonal of K
    diagonal: Array

    @property
    @abstractmethod
    def L(self) -> Any:
        """The unit lower triangular factor, in elimination order."""

    @property
    @abstractmethod
    def pivots(self) -> Array:
        """The diagonal of D."""

    @abstractmethod
    def solve(self, b: Array) -> Array:
        """K⁻¹b for a vector or a block of columns b."""

    @property
    def least(self) -> float:
        """The smallest ratio of a pivot to its diagonal entry of K."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return float((self.pivots / np.abs(self.diagonal[self.order])).min())

    @property
    def negative(self) -> int:
        """The number of negative eigenvalues of K (inertia)."""
        return int((self.pivots < 0).sum())
