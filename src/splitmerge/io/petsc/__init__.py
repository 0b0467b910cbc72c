"""PETSc's binary matrices, read and written without PETSc; several processes can read some rows each."""

from __future__ import annotations

from .reading import read_petsc, read_rows, size
from .writing import write_petsc

__all__ = ["read_petsc", "read_rows", "size", "write_petsc"]
