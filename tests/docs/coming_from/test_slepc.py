"""Every row of the table for SLEPc, both sides run; docs/mpi.md says how to install PETSc."""

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse

import splitmerge as sm
from tables import Table

TABLE = Table("SLEPc")
K, M = sm.gallery.element_laplacian((24, 19))
REFERENCE = scipy.linalg.eigh(K.toarray(), M.toarray(), eigvals_only=True)
# between eigenvalues, and not in the middle of two
s = float(0.6 * REFERENCE[20] + 0.4 * REFERENCE[21])


@pytest.fixture
def SLEPc():
    pytest.importorskip("slepc4py", reason="SLEPc is not installed")
    from slepc4py import SLEPc

    return SLEPc


def petsc(matrix):
    from petsc4py import PETSc

    rows = scipy.sparse.csr_array(matrix)
    made = PETSc.Mat().createAIJ(size=rows.shape, csr=(rows.indptr, rows.indices, rows.data))
    made.assemble()
    return made


class Solver:
    """SLEPc's solver of K u = λ M u, and the same matrices for ours."""

    def __init__(self, SLEPc, kind=None):
        self.pair = petsc(K), petsc(M)
        self.eps = SLEPc.EPS().create()
        self.eps.setOperators(*self.pair)
        self.eps.setProblemType(SLEPc.EPS.ProblemType.GHEP)
        self.eps.setDimensions(nev=4, ncv=40)
        self.eps.setTolerances(1e-10, 5000)
        if kind is not None:
            self.eps.setType(kind)

    def values(self, count=4):
        self.eps.solve()
        assert self.eps.getConverged() >= count
        return np.sort([self.eps.getEigenvalue(i).real for i in range(count or self.eps.getConverged())])

    def ours(self, **options):
        return sm.solve(*self.pair, **({"k": 4} | options))


def agree(found, wanted):
    np.testing.assert_allclose(np.sort(found), np.sort(wanted), rtol=1e-7)


def test_block(SLEPc):
    solver = Solver(SLEPc)
    names = {"K": solver.pair[0], "M": solver.pair[1], "sm": sm}
    exec(TABLE.block(), names)
    agree(names["values"][:4], REFERENCE[:4])
    agree(names["sol"].eigenvalues, REFERENCE[:4])


@TABLE.checks(
    "`EPS.setOperators(A, B)` with PETSc matrices",
    "`setProblemType(HEP)`, `GHEP`",
    "`LARGEST_REAL`, `SMALLEST_REAL`",
    "`LARGEST_MAGNITUDE`",
    "`setDimensions(nev, ncv)`",
)
@pytest.mark.parametrize(
    ("name", "ours"),
    [("LARGEST_REAL", {}), ("SMALLEST_REAL", {"which": "smallest"}), ("LARGEST_MAGNITUDE", {"which": "magnitude"})],
)
def test_which(SLEPc, name, ours):
    solver = Solver(SLEPc)
    solver.eps.setWhichEigenpairs(getattr(SLEPc.EPS.Which, name))
    values = solver.values()
    agree(solver.ours(**ours).eigenvalues, values)
    agree(solver.ours(**ours, method=sm.Accelerated(max_basis=40)).eigenvalues, values)
    solver.eps.setOperators(solver.pair[0])
    solver.eps.setProblemType(SLEPc.EPS.ProblemType.HEP)
    agree(sm.solve(solver.pair[0], None, 4, **ours).eigenvalues, solver.values())


@TABLE.checks("`TARGET_REAL`, `setTarget(s)`, `ST` of type `sinvert`")
def test_target(SLEPc):
    solver = Solver(SLEPc)
    solver.eps.setWhichEigenpairs(SLEPc.EPS.Which.TARGET_REAL)
    solver.eps.setTarget(s)
    solver.eps.getST().setType("sinvert")
    agree(solver.ours(sigma=s).eigenvalues, solver.values())


@TABLE.checks("`setInterval(a, b)`, `Which.ALL`")
def test_interval(SLEPc):
    a, b = REFERENCE[9] - 1e-3, s
    solver = Solver(SLEPc, "krylovschur")
    solver.eps.setWhichEigenpairs(SLEPc.EPS.Which.ALL)
    solver.eps.setInterval(a, b)
    solver.eps.getST().setType("sinvert")
    # slicing has a solver of its own, whose factorisation must count pivots
    inner = solver.eps.getKrylovSchurKSP()
    inner.setType("preonly")
    inner.getPC().setType("cholesky")
    inner.getPC().setFactorSolverType("mumps")
    found = solver.values(count=0)
    agree(found, REFERENCE[9:21])
    agree(sm.solve(K, M, interval=(a, b)).eigenvalues, found)
    with pytest.raises(ValueError, match="interval is for one process with SciPy matrices"):
        solver.ours(k=1, interval=(a, b))


@TABLE.checks("`setType(KRYLOVSCHUR)`, `LOBPCG`")
@pytest.mark.parametrize(("kind", "method"), [("krylovschur", sm.Accelerated()), ("lobpcg", sm.LocallyOptimal())])
def test_methods(SLEPc, kind, method):
    solver = Solver(SLEPc, kind)
    solver.eps.setWhichEigenpairs(SLEPc.EPS.Which.SMALLEST_REAL)
    solver.eps.setTolerances(1e-8, 5000)
    agree(solver.ours(which="smallest", method=method).eigenvalues, solver.values())


@TABLE.checks("`setTolerances(tol, max_it)`", "`getConverged()` less than nev")
def test_limits(SLEPc):
    solver = Solver(SLEPc, "lobpcg")
    solver.eps.setWhichEigenpairs(SLEPc.EPS.Which.SMALLEST_REAL)
    solver.eps.setTolerances(1e-10, 2)
    solver.eps.solve()
    assert solver.eps.getConverged() < 4
    with pytest.raises(sm.NotConverged) as error:
        solver.ours(which="smallest", method=sm.LocallyOptimal(), tol=1e-10, max_steps=2)
    assert error.value.solution.eigenvalues.shape == (4,)


@TABLE.checks("`setInitialSpace`", "`setDeflationSpace`", "`setMonitor`")
def test_starts_and_monitors(SLEPc):
    solver = Solver(SLEPc)
    start = solver.pair[0].createVecRight()
    start.setRandom()
    told, seen = [], []
    solver.eps.setInitialSpace([start])
    solver.eps.setMonitor(lambda eps, step, *_: told.append(step))
    agree(
        solver.ours(x0=start.getArray(), callback=lambda state: seen.append(state.residual)).eigenvalues,
        solver.values(),
    )
    assert told
    assert seen
    lowest = Solver(SLEPc)
    lowest.eps.setWhichEigenpairs(SLEPc.EPS.Which.SMALLEST_REAL)
    lowest.eps.setDeflationSpace(lowest.ours(k=2, which="smallest").to_petsc())
    agree(lowest.ours(k=6, which="smallest").eigenvalues[2:], lowest.values())


@TABLE.checks("`getEigenpair(i, vr)`", "`computeError(i)`")
def test_results(SLEPc):
    solver = Solver(SLEPc)
    values = solver.values()[::-1]
    sol = solver.ours()
    vector = solver.pair[0].createVecRight()
    for i in range(4):
        solver.eps.getEigenpair(i, vector)
        theirs, ours = vector.getArray(), sol.to_petsc()[i].getArray()
        cosine = abs(theirs @ (M @ ours)) / np.sqrt((theirs @ (M @ theirs)) * (ours @ (M @ ours)))
        assert cosine == pytest.approx(1, abs=1e-8)
        assert sol.eigenvalues[i] == pytest.approx(values[i], rel=1e-9)
        assert solver.eps.computeError(i) < 1e-6
    assert sol.residuals.max() <= 1e-8
    assert np.all(abs(sol.eigenvalues - REFERENCE[:-5:-1]) <= sol.error_bounds + 1e-9)


def test_every_row_has_a_test():
    assert TABLE.untested == []
