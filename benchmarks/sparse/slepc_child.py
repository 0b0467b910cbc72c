"""SLEPc in a separate Python with slepc4py; needs only NumPy otherwise, and measures its own time.

slepc_child.py PAIR.npz OUT.npz WAY K TOL
"""

import sys
import time

import numpy as np
import petsc4py
import slepc4py

petsc4py.init([])
slepc4py.init([])
from petsc4py import PETSc  # noqa: E402
from slepc4py import SLEPc  # noqa: E402


def matrix(pair, letter):
    data, indices, indptr = (pair[f"{letter}_{part}"] for part in ("data", "indices", "indptr"))
    n = len(indptr) - 1
    A = PETSc.Mat().createAIJ((n, n), csr=(indptr.astype(np.int32), indices.astype(np.int32), data), comm=None)
    A.setOption(PETSc.Mat.Option.SYMMETRIC, True)
    A.setOption(PETSc.Mat.Option.SPD, True)
    return A


def configured(way, k, tol):
    """An EPS for the k smallest: shift-invert Krylov–Schur ("cholesky", "lu", "mumps") or LOBPCG with GAMG ("gamg")."""
    E = SLEPc.EPS().create()
    E.setProblemType(SLEPc.EPS.ProblemType.GHEP)
    E.setDimensions(k)
    E.setTolerances(tol, 2000)
    transform = E.getST()
    if way == "gamg":
        E.setType(SLEPc.EPS.Type.LOBPCG)
        E.setWhichEigenpairs(SLEPc.EPS.Which.SMALLEST_REAL)
        transform.setType(SLEPc.ST.Type.PRECOND)
        solver = transform.getKSP()
        solver.getPC().setType(PETSc.PC.Type.GAMG)
    else:
        E.setType(SLEPc.EPS.Type.KRYLOVSCHUR)
        E.setWhichEigenpairs(SLEPc.EPS.Which.TARGET_MAGNITUDE)
        E.setTarget(0.0)
        transform.setType(SLEPc.ST.Type.SINVERT)
        solver = transform.getKSP()
        solver.getPC().setType("lu" if way == "lu" else "cholesky")
        if way == "mumps":
            solver.getPC().setFactorSolverType("mumps")
    solver.setType(PETSc.KSP.Type.PREONLY)
    return E


def main():
    source, target, way, k, tol = sys.argv[1:]
    with np.load(source) as pair:
        pair = dict(pair)
    begin = time.perf_counter()
    A, B = matrix(pair, "A"), matrix(pair, "B")
    E = configured(way, int(k), float(tol))
    E.setOperators(A, B)
    E.solve()
    found = min(E.getConverged(), int(k))
    x = A.createVecLeft()
    values, vectors = np.empty(found), np.empty((A.getSize()[0], found))
    for i in range(found):
        values[i] = E.getEigenpair(i, x).real
        vectors[:, i] = x.getArray()
    np.savez(target, values=values, vectors=vectors, seconds=time.perf_counter() - begin)


main()
