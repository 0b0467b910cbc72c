"""Versions for bug reports."""

import getpass
import platform
import re
import sys
import tomllib
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import numpy as np
import scipy

import splitmerge as sm
from splitmerge import versions


def rows(capsys):
    assert sm.show_versions() is None
    return dict(line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines())


def test_what_takes_part(capsys):
    told = rows(capsys)
    assert told["splitmerge"] == sm.__version__
    assert told["Python"].startswith(platform.python_version())
    assert told["NumPy"] == np.__version__
    assert told["SciPy"] == scipy.__version__
    assert "thread" in told["BLAS"]
    assert platform.machine() in told["platform"]
    assert {"CHOLMOD", "PARDISO", "MUMPS", "QDLDL", "METIS"} <= told.keys()


def test_every_dependency_is_told(capsys):
    """Whatever is installed with the library takes part in its solves."""
    package = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))
    names = {re.split(r"[^\w-]", line)[0].lower() for line in package["project"]["dependencies"]}
    assert names
    told = rows(capsys)
    # pymetis is named in the row of METIS, which may be absent
    assert names - {"pymetis"} <= {name.lower() for name in told}
    assert "pymetis" in told["METIS"] or told["METIS"] == "not installed"


def test_what_is_missing(capsys, monkeypatch):
    def nothing(name):
        raise PackageNotFoundError(name)

    monkeypatch.setattr(versions, "version", nothing)
    monkeypatch.setattr(versions, "find_spec", lambda name: None)
    told = rows(capsys)
    assert told["CHOLMOD"] == told["QDLDL"] == "not installed"
    assert told["NumPy"] == "unknown"
    assert "matplotlib" not in told


def test_nothing_personal(capsys):
    sm.show_versions()
    text = capsys.readouterr().out
    for private in (str(Path.home()), platform.node(), sys.prefix):
        assert len(private) < 3 or private not in text
    assert f"/{getpass.getuser()}" not in text


def test_threads_and_backends(capsys, monkeypatch):
    """One thread, or several; a backend that is there is told by its distribution and its version."""
    libraries = [
        {"user_api": "blas", "internal_api": "openblas", "version": "0.3", "architecture": "Haswell", "num_threads": 1},
        {"user_api": "openmp", "internal_api": "openmp", "version": None, "num_threads": 4},
    ]
    monkeypatch.setattr("threadpoolctl.threadpool_info", lambda: libraries)
    monkeypatch.setattr(versions, "find_spec", lambda name: None if name == "mumps" else object())
    monkeypatch.setattr(versions, "version", lambda name: f"7.{len(name)}")
    told = rows(capsys)
    assert told["BLAS"] == "openblas 0.3 Haswell, 1 thread"
    assert told["OpenMP"] == "openmp, 4 threads"
    assert told["PARDISO"] == "pypardiso 7.9"
    assert told["CHOLMOD"] == "scikit-sparse 7.13"
    assert told["MUMPS"] == "not installed"
    assert told["scikit-fem"] == "7.10"
