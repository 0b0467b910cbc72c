"""Versions of everything that takes part in a solve, for bug reports."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec

# Distributions that are always there, and those that may be, beside the sparse backends.
REQUIRED = ("NumPy", "SciPy", "pyamg", "threadpoolctl", "tqdm")
OPTIONAL = ("matplotlib", "pandas", "scikit-learn", "scikit-fem", "dask", "h5py", "petsc4py", "mpi4py")
# Modules and distributions of the sparse backends; SuperLU is SciPy's.
BACKENDS = {
    "CHOLMOD": ("sksparse", "scikit-sparse"),
    "PARDISO": ("pypardiso", "pypardiso"),
    "MUMPS": ("mumps", "python-mumps"),
    "QDLDL": ("qdldl", "qdldl"),
    "METIS": ("pymetis", "pymetis"),
}


def show_versions() -> None:
    """Print the versions of splitmerge, Python, NumPy, SciPy, BLAS and what else takes part, for bug reports.

    Nothing in it names a person, a machine or a folder.

    >>> import splitmerge as sm
    >>> sm.show_versions()  # doctest: +ELLIPSIS
    splitmerge     ...
    Python         ...
    """
    rows = list(_rows())
    width = max(len(name) for name, _ in rows) + 2
    print("\n".join(f"{name:{width}}{what}" for name, what in rows))


def _rows() -> Iterator[tuple[str, str]]:
    yield "splitmerge", str(sys.modules["splitmerge"].__version__)
    yield "Python", f"{platform.python_version()} ({platform.python_implementation()})"
    yield "platform", f"{platform.system()} {platform.release()} {platform.machine()}, {os.cpu_count()} cores"
    for name in REQUIRED:
        yield name, _version(name) or "unknown"
    yield from _libraries()
    for name, (module, distribution) in BACKENDS.items():
        found = find_spec(module) is not None
        yield name, f"{distribution} {_version(distribution) or ''}".strip() if found else "not installed"
    for name in OPTIONAL:
        told = _version(name)
        if told is not None:
            yield name, told


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _libraries() -> Iterator[tuple[str, str]]:
    """The BLAS and OpenMP libraries that are loaded, with their threads."""
    from threadpoolctl import threadpool_info

    kinds = {"blas": "BLAS", "openmp": "OpenMP"}
    for library in threadpool_info():
        names = (library.get("internal_api"), library.get("version"), library.get("architecture"))
        threads = int(library.get("num_threads") or 1)
        told = " ".join(str(name) for name in names if name)
        yield kinds.get(library.get("user_api"), "library"), f"{told}, {threads} thread{'s' * (threads != 1)}"
