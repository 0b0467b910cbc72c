"""The parameters of the estimator, checked, and what they mean for the result."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...checks import real, whole
from ...problem.b_policy import check_policy
from ...typing import Array

SOLVERS = ("auto", "svd", "lsqr", "eigen")
BETWEEN = ("total", "means")
# Priors whose sum differs from 1 by more are scaled with a warning.
MAX_PRIOR_EXCESS = 1e-5


@dataclass(frozen=True)
class Options:
    """The checked parameters of the estimator."""

    solver: str
    shrinkage: float | str | None
    between: str
    policy: str
    tol: float
    store: bool
    estimator: Any = None

    @property
    def automatic(self) -> bool:
        """Whether the shrinkage is estimated."""
        return self.shrinkage == "auto"

    @property
    def shrunk(self) -> bool:
        """Whether there is any shrinkage."""
        return bool(self.shrinkage)

    @property
    def regularised(self) -> bool:
        """Whether the covariance within classes is other than that of the rows."""
        return self.shrunk or self.estimator is not None

    @property
    def named(self) -> bool:
        """Whether the results are those of scikit-learn's "lsqr" or "eigen": uncentred scores, a stored covariance."""
        return self.solver in ("lsqr", "eigen")

    @property
    def keep(self) -> bool:
        """Whether the covariance within classes is an output."""
        return self.store or self.named

    @property
    def directions(self) -> bool:
        """Whether the directions are outputs."""
        return self.solver != "lsqr"

    @property
    def total(self) -> bool:
        """Whether the covariance between classes is the regularised total minus that within."""
        return self.regularised and self.between == "total" and self.directions

    @property
    def pooled(self) -> bool:
        """Whether given priors leave the covariance within classes as it is, as scikit-learn's "svd" does."""
        return self.solver == "svd" or (self.solver == "auto" and not self.regularised)


def checked(model: Any) -> Options:
    """Return the parameters of the model; raise if one is wrong or if they exclude each other."""
    if not isinstance(model.solver, str) or model.solver not in SOLVERS:
        raise ValueError(
            f"solver is {model.solver!r}; give one of {', '.join(map(repr, SOLVERS))}; other options by keyword"
        )
    if model.between not in BETWEEN:
        raise ValueError(f"between is {model.between!r}; give one of {', '.join(map(repr, BETWEEN))}")
    if model.n_components is not None:
        whole(model.n_components, "n_components", 1)
    shrinkage, policy, tol = (
        _shrinkage(model.shrinkage),
        check_policy(model.b_policy),
        real(model.tol, "tol", least=0.0),
    )
    _check_regularisation(model.solver, shrinkage, model.covariance_estimator)
    store = bool(model.store_covariance)
    return Options(model.solver, shrinkage, model.between, policy, tol, store, model.covariance_estimator)


def _shrinkage(given: Any) -> float | str | None:
    if given is None or (isinstance(given, str) and given == "auto"):
        return given
    if isinstance(given, str):
        raise ValueError(f"shrinkage is {given!r}; give 'auto', a number from 0 to 1, or None")
    return real(given, "shrinkage", least=0.0, most=1.0)


def _check_regularisation(solver: str, shrinkage: float | str | None, estimator: Any) -> None:
    """Raise where scikit-learn raises, in its words."""
    if solver == "svd" and shrinkage is not None:
        raise NotImplementedError("shrinkage not supported with 'svd' solver. Use 'auto', 'lsqr' or 'eigen'.")
    if estimator is None:
        return
    if solver == "svd":
        raise ValueError("covariance estimator is not supported with svd solver. Try another solver")
    if shrinkage:
        raise ValueError("covariance_estimator and shrinkage parameters are not None. Only one of the two can be set.")
    if not callable(getattr(estimator, "fit", None)):
        raise ValueError(
            f"covariance_estimator is {estimator!r}; give an object with fit(X) and covariance_, such as LedoitWolf()"
        )


def checked_priors(given: Any, classes: int) -> Array:
    """Return positive priors with the sum 1."""
    priors = np.asarray(given, np.float64)
    advice = f"priors is {priors!r}; give {classes} positive numbers, one per class"
    if priors.shape != (classes,) or not np.isfinite(priors).all():
        raise ValueError(advice)
    if not (priors > 0).all():
        raise ValueError(f"priors must be non-negative, and a class of prior 0 left out: {advice}")
    total = float(priors.sum())
    if abs(total - 1.0) > MAX_PRIOR_EXCESS:
        warnings.warn("The priors do not sum to 1. Renormalizing", UserWarning, stacklevel=4)
    return np.asarray(priors / total)


def check_components(n_components: int | None, classes: int, features: int) -> None:
    """Raise if more directions are asked for than the class means can span."""
    most = min(features, classes - 1)
    if n_components is not None and n_components > most:
        raise ValueError(
            f"n_components is {n_components}, but n_components cannot be larger than min(n_features, n_classes - 1), "
            f"which is {most}; give a smaller number or None"
        )


def check_batches(options: Options) -> None:
    """Raise for an option that needs all rows at once."""
    if options.automatic or options.estimator is not None:
        name = "shrinkage='auto'" if options.automatic else "covariance_estimator"
        raise ValueError(f"{name} needs all rows at once; give a number as shrinkage, or call fit")
