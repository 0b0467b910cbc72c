"""The command line under `mpiexec`: every process runs the command, and process 0 speaks."""

from __future__ import annotations

from typing import Any

from .arguments import Mistake
from .startup import launched


def communicator() -> Any:
    """The communicator of all processes, or None if there is only one."""
    count = launched()[1]
    if count == 1:
        return None
    try:
        from mpi4py import MPI
        from petsc4py import PETSc  # noqa: F401
    except ImportError as error:
        raise Mistake(
            f"{count} processes were started, but {error.name} is not installed, without which each of them would "
            f"solve the whole problem; run make mpi, or leave mpiexec out"
        ) from error
    return MPI.COMM_WORLD


def speaks() -> bool:
    """Is this the process that prints and writes?"""
    return launched()[0] == 0


def read_distributed(path_A: str, path_B: str | None, comm: Any) -> tuple[Any, Any]:
    """The pair as PETSc matrices: files of PETSc are read by all processes, others by process 0."""
    from ..distributed.layout import scattered
    from ..io.matrices import read_pair

    files = [path for path in (path_A, path_B) if path is not None]
    if all(path.lower().endswith(".petsc") for path in files):
        A = _read_rows(path_A, comm)
        return A, None if path_B is None else _read_rows(path_B, comm)
    pair, failure = (None, None), None
    if comm.rank == 0:
        try:
            pair = read_pair(path_A, path_B)
        except ValueError as error:
            failure = error
    failure = comm.bcast(failure)
    if failure is not None:
        raise failure
    return scattered(*pair, comm)


def _read_rows(path: str, comm: Any) -> Any:
    """The PETSc matrix in a file, of which each process reads its rows."""
    from ..distributed.layout import from_rows, ownership
    from ..io.petsc import read_rows, size

    part: Any = None
    try:
        n, columns = size(path)
        if n != columns:
            raise ValueError(f"{path}: the matrix has shape ({n}, {columns}); a square matrix is needed")
        first, last = ownership(n, comm)
        part = read_rows(path, first, last)
    except (OSError, ValueError) as error:
        part = error
    # an unreadable file is refused by all processes, with one message
    for failure in comm.allgather(part if isinstance(part, Exception) else None):
        if failure is not None:
            raise failure
    return from_rows(part, last - first, n, comm)
