"""`load`: a file that `Solution.save` or a checkpoint wrote."""

from __future__ import annotations

from os import PathLike
from typing import Any

from . import checkpoint, store
from .solution import Solution


def load(path: str | PathLike[str], A: Any = None, B: Any = None) -> Solution | checkpoint.LoadedCheckpoint:
    """The solution that `Solution.save` wrote to `path`, or the checkpoint that `solve(…, checkpoint=path)` wrote.

    A and B replace, or stand in for, the matrices of a solution in the file. Operators have no entries to be saved: to
    resume their solution, give them here. A checkpoint never has the matrices: give them here, or to its `resume`. Its
    vectors are unverified, so it is no `Solution`. A file that is broken, or none of ours, is refused with a
    ValueError.

    >>> import os, tempfile
    >>> import splitmerge as sm
    >>> sol = sm.solve(*sm.gallery.synthetic_pair(64, kappa_B=10, rng=0), k=2)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "pairs.sol")
    ...     sol.save(path)
    ...     again = sm.load(path)
    >>> bool((again.eigenvectors == sol.eigenvectors).all()), again.reason.name
    (True, 'RESIDUAL')
    >>> again.resume(k=4).eigenvalues.shape
    (4,)
    """
    return checkpoint.load(path, A, B) if checkpoint.is_checkpoint(path) else store.load(path, A, B)
