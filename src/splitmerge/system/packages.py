"""Optional packages: the sentence about one that is not installed."""

from __future__ import annotations

# Packages that are installed by another name than the one they are imported by.
DISTRIBUTIONS = {
    "mumps": "python-mumps",
    "skfem": "scikit-fem",
    "sklearn": "scikit-learn",
    "sksparse": "scikit-sparse",
}


def missing(what: str, *modules: str) -> str:
    """What needs the modules, which are not installed, and the command that installs them.

    The command names the packages and not an extra of splitmerge-eigen, so that it works wherever splitmerge came
    from: a clone, a wheel or an index.

    >>> missing("CCA", "sklearn.base")
    'CCA needs scikit-learn, which is not installed; pip install scikit-learn'
    >>> missing("figure2", "matplotlib", "skfem")
    'figure2 needs matplotlib and scikit-fem, which are not installed; pip install matplotlib scikit-fem'
    """
    tops = [module.partition(".")[0] for module in modules]
    names = [DISTRIBUTIONS.get(top, top) for top in tops]
    verb = "is" if len(names) == 1 else "are"
    return f"{what} needs {' and '.join(names)}, which {verb} not installed; pip install {' '.join(names)}"
