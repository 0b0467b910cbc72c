"""What an estimator asks for and what it gets: the types that `analysis` takes and returns."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...checks import real
from ...problem.b_policy import POLICIES, BReport
from ...solution.solution import Solution
from ...typing import Array
from ..covariance.definite import Sample, why_singular
from ..covariance.pair import ridges_of


@dataclass(frozen=True)
class Request:
    """The parameters of an estimator; `start` are the initial vectors of an iteration."""

    k: int
    ridge: Any
    c: Any
    tol: float
    policy: str
    solver: str
    seed: int
    names: Sequence[str]
    start: Array | None = None
    # the covariances are those of the rows times this number
    inflation: float = 1.0

    @property
    def warns(self) -> bool:
        """Whether what is left out of a singular covariance is told by a warning."""
        return self.policy == "warn"

    @property
    def formed_policy(self) -> str:
        """The policy for covariances that are formed."""
        return "restrict" if self.warns else self.policy

    @property
    def joint_policy(self) -> str:
        """The policy for the choice between covariances and products: a warning does not require matrices."""
        return "error" if self.warns else self.policy

    def samples(self, rows: int) -> list[Sample]:
        """Return the views by name for messages."""
        return [Sample(name, rows) for name in self.names]

    def regularised(self) -> list[Regularised]:
        """Return the regularisation of each view; ridge is added to C, c mixes C with the identity."""
        count = len(self.names)
        ridges = ridges_of(self.ridge, count)
        given = list(self.c) if isinstance(self.c, (list, tuple, np.ndarray)) else [self.c] * count
        if len(given) != count:
            raise ValueError(f"c has {len(given)} numbers for {count} views; give one number, or one per view")
        mixed = [real(number, "c", least=0.0, most=1.0) for number in given]
        if any(ridges) and any(mixed):
            raise ValueError(f"ridge is {self.ridge!r} and c is {self.c!r}; give one of them only")
        return [Regularised(1 - c, (ridge + c) / self.inflation) for ridge, c in zip(ridges, mixed, strict=True)]

    def check(self) -> None:
        """Raise for an unknown policy."""
        known = ("warn", *POLICIES)
        if self.policy not in known:
            raise ValueError(f"b_policy is {self.policy!r}; give one of {', '.join(map(repr, known))}")


@dataclass(frozen=True)
class Regularised:
    """The matrix B = share C + ridge I of a view with covariance C."""

    share: float
    ridge: float


@dataclass(frozen=True, eq=False)
class Analysis:
    """Eigenvalues, the vectors Vᵢ of each view, `own` = CᵢᵢVᵢ, `others` = Σⱼ≠ᵢ CᵢⱼVⱼ, and the variances of the columns.

    `route` tells in words how they were computed; `solution` is that of an iteration, and `covariance` the joint
    covariance matrix, if there is one.
    """

    values: Array
    vectors: list[Array]
    own: list[Array]
    others: list[Array]
    variances: list[Array]
    reports: list[BReport | None]
    route: str
    solution: Solution | None = None
    covariance: Array | None = None


def warn_of_constant_view(variances: Array, sample: Sample) -> None:
    """Warn of a view that is constant, which only a ridge makes positive definite."""
    if not variances.any():
        warnings.warn(
            f"{sample.name} is constant: it has no correlation with anything, and its directions are arbitrary",
            stacklevel=2,
        )


def warn_of_dropped(variances: Array, sample: Sample, dropped: int) -> None:
    """Warn of dimensions of a singular covariance that take no part; `variances` are zero for constant columns."""
    few = "; with so few samples, correlations are close to 1 for any data" * (len(variances) >= sample.rows)
    warnings.warn(
        f"{why_singular(variances, sample)}: {dropped} of {len(variances)} dimensions were left out{few}. Give a "
        f"ridge > 0, or b_policy='restrict' to do this without a warning",
        stacklevel=2,
    )
