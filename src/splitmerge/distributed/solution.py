"""The result of a distributed solve: this process has its rows of the vectors."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from os import PathLike
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from petsc4py import PETSc

from ..solution.solution import Absent, Solution
from ..typing import Array
from .communicator import Communicator


@dataclass(frozen=True, eq=False, repr=False)
class DistributedSolution(Solution):
    """A `Solution` whose `eigenvectors` and `spare` are the rows of this process, from row `first` on, as A has them.

    Everything else is the same on all processes of `comm`.
    """

    comm: Any = None
    first: int = 0
    size: int = 0
    distributed: ClassVar[bool] = True

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
        rows = self.eigenvectors.shape[0]
        communicator = Communicator(self.comm.tompi4py(), self.size, self.first, rows)
        spare = np.zeros((rows, 0)) if self.spare is None else self.spare
        communicator.collect(np.hstack([self.eigenvectors, spare]), lambda: self._whole_file(path))
        communicator.free()

    @contextmanager
    def _whole_file(self, path: str | PathLike[str]) -> Iterator[Callable[[int, Array], None]]:
        """A function that takes rows; at the end they are saved."""
        k, dtype = self.eigenvectors.shape[1], self.eigenvectors.dtype
        columns = k + (0 if self.spare is None else self.spare.shape[1])
        with tempfile.TemporaryDirectory(dir=Path(path).resolve().parent) as folder:
            place = Path(folder) / "vectors.npy"
            every: Array = np.lib.format.open_memmap(place, mode="w+", dtype=dtype, shape=(self.size, columns))

            def put(first: int, rows: Array) -> None:
                every[first : first + rows.shape[0]] = rows

            yield put
            self._whole(every[:, :k], None if self.spare is None else every[:, k:]).save(path)

    def _whole(self, vectors: Array, spare: Array | None) -> Solution:
        """The solution on one process, with all rows."""
        problem = self.problem
        if problem is not None:
            given = {name: getattr(problem, name) for name in ("A", "B")}
            absent: dict[str, Any] = {name: M if M is None else Absent("a PETSc matrix") for name, M in given.items()}
            problem = replace(problem, **absent)
        parts = {part.name: getattr(self, part.name) for part in fields(Solution)}
        return Solution(**parts | {"eigenvectors": vectors, "spare": spare, "problem": problem})


def distributed(solution: Solution, A: Any) -> DistributedSolution:
    """The solution with what its rows belong to."""
    parts = {part.name: getattr(solution, part.name) for part in fields(Solution)}
    return DistributedSolution(**parts, comm=A.getComm(), first=A.getOwnershipRange()[0], size=A.getSize()[0])
