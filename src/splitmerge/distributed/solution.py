"""The result of a distributed solve: this process has its rows of the vectors."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, fields, replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from petsc4py import PETSc

from ..solution.solution import Absent, Solution
from ..typing import Array


@dataclass(frozen=True, eq=False, repr=False)
class DistributedSolution(Solution):
    """A `Solution` whose `eigenvectors` and `spare` are the rows of this process, from row `first` on, as A has them.

    Everything else is the same on all processes of `comm`.
    """

    comm: Any = None
    first: int = 0
    size: int = 0

    @property
    def n(self) -> int:
        """The number of unknowns on all processes together."""
        return self.size

    def to_petsc(self) -> list[Any]:
        """The eigenvectors as PETSc vectors, distributed as A is."""
        vectors = []
        for x in self.eigenvectors.T:
            vector = PETSc.Vec().createMPI((x.size, self.size), comm=self.comm)
            vector.setArray(x)
            vectors.append(vector)
        return vectors

    def save(self, path: str | PathLike[str]) -> None:
        """Write one file with all rows, as on one process; every process must call it, and process 0 writes.

        The rows pass through a temporary file beside it, so that no process holds them all. PETSc's matrices are not
        in the file.
        """
        comm, error = self.comm.tompi4py(), None
        folder = Path(path).resolve().parent
        with tempfile.TemporaryDirectory(dir=folder if comm.rank == 0 and folder.is_dir() else None) as beside:
            wholes = [_collected(X, self.first, self.size, comm, Path(beside)) for X in (self.eigenvectors, self.spare)]
            if comm.rank == 0:
                try:
                    self._whole(*wholes).save(path)
                except (OSError, ValueError) as failure:
                    error = failure
        error = comm.bcast(error)
        if error is not None:
            raise error

    def _whole(self, vectors: Array | None, spare: Array | None) -> Solution:
        """The solution on one process, with all rows."""
        problem = self.problem
        if problem is not None:
            given = {name: getattr(problem, name) for name in ("A", "B")}
            absent: dict[str, Any] = {name: M if M is None else Absent("a PETSc matrix") for name, M in given.items()}
            problem = replace(problem, **absent)
        parts = {part.name: getattr(self, part.name) for part in fields(Solution)}
        return Solution(**parts | {"eigenvectors": vectors, "spare": spare, "problem": problem})


def _collected(X: Array | None, first: int, n: int, comm: Any, folder: Path) -> Array | None:
    """All rows in a file that is mapped into the memory of process 0; None on the others."""
    if X is None:
        return None
    rows = np.ascontiguousarray(X)
    if comm.rank > 0:
        comm.send((first, rows.shape[0]), dest=0)
        comm.Send(rows, dest=0)
        return None
    place = folder / f"{len(list(folder.iterdir()))}.npy"
    whole: Array = np.lib.format.open_memmap(place, mode="w+", dtype=rows.dtype, shape=(n, rows.shape[1]))
    whole[first : first + rows.shape[0]] = rows
    for rank in range(1, comm.size):
        start, count = comm.recv(source=rank)
        part = np.empty((count, rows.shape[1]), rows.dtype)
        comm.Recv(part, source=rank)
        whole[start : start + count] = part
    return whole


def distributed(solution: Solution, A: Any) -> DistributedSolution:
    """The solution with what its rows belong to."""
    parts = {part.name: getattr(solution, part.name) for part in fields(Solution)}
    return DistributedSolution(**parts, comm=A.getComm(), first=A.getOwnershipRange()[0], size=A.getSize()[0])
