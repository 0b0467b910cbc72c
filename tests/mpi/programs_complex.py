"""Programs for a PETSc of complex numbers, as `programs.py` has them; `pretend` takes any for one."""

import sys

import numpy as np
import scipy.sparse as sp
from petsc4py import PETSc
from programs import COMM, cube, given, report, say

import splitmerge as sm
from pairs_of_rows import magnetic
from splitmerge.distributed import factor, matrix, setups, solver


def pretend():
    """Take the build for one of complex numbers."""
    for module in (factor, matrix, setups, solver):
        module.COMPLEX_BUILD = True


def _told(function):
    """What each process is told by an error."""
    try:
        function()
        text = None
    except ValueError as error:
        text = str(error)
    say({"texts": COMM.tompi4py().gather(text)})


def kind():
    """Is this a build for complex numbers?"""
    say({"complex": np.dtype(PETSc.ScalarType).kind == "c"})


def refused(options):
    """What needs MUMPS."""
    pretend()
    K, M = cube(9)
    _told(lambda: sm.solve(K, M, **options))


def many_steps(options):
    """The largest, where conjugate gradients for B take more steps than they may; `options` may help."""
    pretend()
    solver.MAX_STEPS = 2
    K, M = cube(9)
    _told(lambda: sm.solve(K, M, k=2, rng=0, **options))


def solve(options):
    """A solve that needs no MUMPS."""
    pretend()
    K, M = cube(9)
    report(sm.solve(K, M, **options), K, M)


def field(m, options):
    """A Hermitian pair with complex entries."""
    K, M = given(*magnetic(m))
    report(sm.solve(K, M, **options), K, M)


def symmetric(form):
    """A complex matrix with Mᵀ = M that is not Hermitian."""
    A = sp.csr_array(magnetic(16)[0].real + 1j * sp.eye_array(256))
    K, _ = given(A)
    if form == "sbaij":
        K.setOption(PETSc.Mat.Option.SYMMETRIC, True)
        K = K.convert("sbaij")
    _told(lambda: sm.solve(K, k=2))


def near_null():
    """Complex vectors, of which GAMG would take the real parts."""
    K, _ = given(magnetic(16)[0])
    vectors = np.full((K.getLocalSize()[0], 1), 1j)
    _told(lambda: sm.solve(K, k=2, which="smallest", preconditioner=sm.MultiGrid(near_null=vectors)))


if __name__ == "__main__":
    globals()[sys.argv[1]](**eval(sys.argv[2], {"sm": sm, "np": np}))
