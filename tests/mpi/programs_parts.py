"""Programs that try parts of a distributed solve: `mpiexec -n P python programs_parts.py NAME OPTIONS`."""

import sys

import numpy as np
from programs import COMM, RANK, cube, given, say

import splitmerge as sm
from splitmerge.distributed.communicator import Communicator
from splitmerge.distributed.factor import MumpsFactor
from splitmerge.distributed.matrix import adapt
from splitmerge.distributed.setups import is_plane


def on(mat):
    """The processes of a matrix."""
    first, last = mat.getOwnershipRange()
    return Communicator(COMM.tompi4py(), mat.getSize()[0], first, last - first)


def blocks(counts):
    """How far solutions of whole blocks with factors of A − σB are from those of their columns."""
    K, M = cube(9)
    shifted = K.copy()
    shifted.axpy(-300.0, M)
    rng, rows, worst = np.random.default_rng(RANK), K.getLocalSize()[0], 0.0
    with on(K).solving():
        factor = MumpsFactor(shifted)
        for refined in (False, True):
            factor.refined = refined
            for count in counts:
                b = rng.standard_normal((rows, count))
                alone = np.column_stack([factor.solve(column) for column in b.T])
                for block in (b, np.asfortranarray(b)):
                    worst = max(worst, float(np.abs(factor.solve(block) - alone).max() / np.abs(alone).max()))
    say({"worst": COMM.tompi4py().allreduce(worst, max), "kept": len(factor.blocks)})


def plane(shapes):
    """Which of these grids are taken for grids in the plane?"""
    told = []
    for shape in shapes:
        mat, _ = given(sm.gallery.grid_laplacian(shape)[0])
        with on(mat).solving():
            told.append(is_plane(adapt(mat, "A")))
    say({"plane": told})


if __name__ == "__main__":
    globals()[sys.argv[1]](**eval(sys.argv[2]))
