"""Estimators that are pairs (A, B) of covariances underneath: scikit-learn's conventions, without forming the matrices.

They need scikit-learn: `pip install 'splitmerge[learn]'`.
"""

from importlib import import_module
from typing import Any

# where each name is; nothing is imported before it is asked for
_HOMES = {
    "CCA": "cca.cca",
    "CSP": "csp.csp",
    "Harmonics": "harmonic.harmonic",
    "LinearDiscriminantAnalysis": "discriminant.discriminant",
    "MCCA": "cca.mcca",
    "SlicedAverageVariance": "sliced.sliced",
    "SlicedInverseRegression": "sliced.sliced",
    "View": "data.view",
    "ViewPair": "covariance.pair",
    "harmonic_retrieval": "harmonic.harmonic",
    "view_pair": "covariance.pair",
}

__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return getattr(import_module(f".{_HOMES[name]}", __name__), name)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "sklearn":
            raise
        raise ImportError(
            f"{name} needs scikit-learn, which is not installed: pip install 'splitmerge[learn]'"
        ) from error


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
