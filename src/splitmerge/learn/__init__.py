"""Estimators that are generalised eigenproblems of covariances, with scikit-learn's conventions.

They need scikit-learn, which the extra `learn` of splitmerge-eigen installs.
"""

from importlib import import_module
from typing import Any

from ..system.packages import missing

# The package of each public name. It is imported on first access, as scikit-learn and Dask are optional.
_PACKAGES = {
    "CCA": "cca",
    "CSP": "csp",
    "Harmonics": "harmonic",
    "LinearDiscriminantAnalysis": "discriminant",
    "MCCA": "cca",
    "PrincipalHessianDirections": "sliced",
    "SPoC": "csp",
    "SlicedAverageVariance": "sliced",
    "SlicedInverseRegression": "sliced",
    "View": "data",
    "ViewPair": "covariance",
    "harmonic_retrieval": "harmonic",
    "view_pair": "covariance",
}

__all__ = list(_PACKAGES)


def __getattr__(name: str) -> Any:
    if name not in _PACKAGES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return getattr(import_module(f".{_PACKAGES[name]}", __name__), name)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "sklearn":
            raise
        raise ImportError(missing(name, "sklearn")) from error


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
