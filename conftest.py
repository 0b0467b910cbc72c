"""Modules that need PETSc are collected where it is installed."""

from importlib.util import find_spec

collect_ignore_glob = [] if find_spec("petsc4py") else ["src/splitmerge/distributed/*.py"]
