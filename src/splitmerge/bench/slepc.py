"""SLEPc's Krylov–Schur method on the pair, or with shift-invert at zero. Needs petsc4py and slepc4py.

The module imports nothing from the library, so that it can run in a separate Python environment with SLEPc.
"""

from __future__ import annotations

from typing import Any

import numpy as np

MAX_RESTARTS = 10_000


def slepc_pairs(
    A: Any, B: Any, k: int, largest: bool, tol: float, start: Any, *, invert: bool = False, tally: Any = None
) -> tuple[Any, Any]:
    """The converged eigenvalues and eigenvectors. `tol` is SLEPc's criterion ‖Au − λBu‖ ≤ tol |λ| ‖u‖.

    If `tally` is a dict, products and solves are counted in it with PETSc's event log.
    """
    PETSc, SLEPc = _libraries()
    P = _matrix(PETSc, A, definite=invert)
    E = SLEPc.EPS().create(comm=PETSc.COMM_SELF)
    E.setOperators(P, None if B is None else _matrix(PETSc, B, definite=True))
    E.setProblemType(SLEPc.EPS.ProblemType.HEP if B is None else SLEPc.EPS.ProblemType.GHEP)
    E.setType(SLEPc.EPS.Type.KRYLOVSCHUR)
    E.setDimensions(k)
    E.setTolerances(tol, MAX_RESTARTS)
    _choose_end(SLEPc, E, largest, invert)
    if invert or B is not None:
        solver = E.getST().getKSP()
        solver.setType(PETSc.KSP.Type.PREONLY)
        solver.getPC().setType(PETSc.PC.Type.CHOLESKY)
    x = P.createVecLeft()
    if start is not None:
        x.setArray(start)
        E.setInitialSpace(x.copy())
    if tally is not None:
        PETSc.Log.begin()
        before = _logged(PETSc)
    E.solve()
    found = min(E.getConverged(), k)
    values, vectors = np.empty(found), np.empty((x.getSize(), found), dtype=PETSc.ScalarType)
    for i in range(found):
        values[i] = E.getEigenpair(i, x).real
        vectors[:, i] = x.getArray()
    if tally is not None:
        applied, products, solves = (count - before[name] for name, count in _logged(PETSc).items())
        # MatMult does not include the product inside STApply, so each application adds one product
        tally.update(_named(applied, products, solves, invert, B is not None))
    return values, vectors


def _libraries() -> tuple[Any, Any]:
    import petsc4py
    import slepc4py

    petsc4py.init([])
    slepc4py.init([])
    from petsc4py import PETSc
    from slepc4py import SLEPc

    return PETSc, SLEPc


def _matrix(PETSc: Any, X: Any, definite: bool) -> Any:
    if np.dtype(PETSc.ScalarType).kind != "c" and np.iscomplexobj(X):
        raise ValueError("SLEPc was built with real scalars, but the matrix is complex; use a complex build")
    if hasattr(X, "tocsr"):
        X = X.tocsr()
        parts = X.indptr.astype(PETSc.IntType), X.indices.astype(PETSc.IntType), X.data.astype(PETSc.ScalarType)
        P = PETSc.Mat().createAIJ(X.shape, csr=parts, comm=PETSc.COMM_SELF)
    else:
        P = PETSc.Mat().createDense(X.shape, array=np.asfortranarray(X), comm=PETSc.COMM_SELF)
        P.assemble()
    P.setOption(PETSc.Mat.Option.HERMITIAN, True)
    P.setOption(PETSc.Mat.Option.SYMMETRIC, not np.iscomplexobj(X))
    P.setOption(PETSc.Mat.Option.SPD, definite)
    return P


def _choose_end(SLEPc: Any, E: Any, largest: bool, invert: bool) -> None:
    if invert:
        E.setTarget(0.0)
        E.setWhichEigenpairs(SLEPc.EPS.Which.TARGET_MAGNITUDE)
        E.getST().setType(SLEPc.ST.Type.SINVERT)
    else:
        ends = SLEPc.EPS.Which.LARGEST_REAL, SLEPc.EPS.Which.SMALLEST_REAL
        E.setWhichEigenpairs(ends[0] if largest else ends[1])


def _logged(PETSc: Any) -> dict[str, int]:
    return {name: int(PETSc.Log.Event(name).getPerfInfo()["count"]) for name in ("STApply", "MatMult", "MatSolve")}


def _named(applied: int, products: int, solves: int, invert: bool, general: bool) -> dict[str, int]:
    if invert:
        return {"A_solves": solves} | ({"B_products": products} if general else {})
    return {"A_products": applied} | ({"B_products": products - applied, "B_solves": solves} if general else {})
