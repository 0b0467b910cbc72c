"""Invalid input, which must raise an exception."""

from __future__ import annotations

from collections.abc import Iterator

from .words import COARSE, FINE

# Invalid arguments of `solve`, for a pair with n = 9.
OPTIONS = (
    *("k=0", "k=10", "k=1.5", "k='2'", "which='most'", "which=None", "sigma='x'", "sigma=np.nan", "tol=0"),
    *("sigma=1.0, which='smallest'", "method='SplitMerge'", "method=SplitMerge", "stop=1e-8", "max_steps=0"),
    *("x0=np.zeros(9)", "x0=np.ones(8)", "x0=np.ones(9) * 1j", "x0=np.full(9, np.nan)", "callback=3", "tol=-1"),
    *("b_policy='none'", "preconditioner=Diagonal(), diagonal=np.ones(9)", "sigma=1.0, method=SplitMerge()"),
    *("certify=True, method=Power()", "which='ends', method=Lanczos()", "sigma=1.0, method=LocallyOptimal()"),
    *("diagonal=np.ones(9), method=Power()", "method=SplitMerge(UserSolve(lambda b: b))", "nonsense=1"),
    *("x0=np.ones((9, 2))", "diagonal=-np.ones(9)", "diagonal=np.ones(8)", "preconditioner=3"),
)


def matrices() -> Iterator[str]:
    """Invalid, non-Hermitian and non-finite matrices, and a B that is not positive definite."""
    for name in "AB":
        for value in ("7.0", "np.nan", "np.inf"):
            yield f"solve(*with_entry(synthetic(9), '{name}', {value}), rng=0)"
            yield f"solve(*made(with_entry(synthetic(9), '{name}', {value}), 'csr'), rng=0)"
            yield f"solve(*made(with_entry(synthetic(9), '{name}', {value}), 'operator'), rng=0)"
        yield f"eigsh(with_entry(synthetic(120), '{name}', 7.0), 2)"
    for bad in (
        "np.ones((6, 5))",
        "np.ones(6)",
        "np.zeros((0, 0))",
        "'matrix'",
        "object()",
        "3",
        "[[1.0, 2.0], [3.0]]",
    ):
        yield f"solve({bad}, rng=0)"
        yield f"solve(np.eye(6), {bad}, rng=0)"
    yield "solve(None, rng=0)"
    yield "solve(np.eye(6), np.eye(5), rng=0)"
    for pair in ("singular(20, 14)", "frame(150, 10)", "frame(150, 10, True)", "gallery.legendre_pair(16)"):
        yield f"solve(*{pair}, k=3, rng=0)"
        yield f"solve(*{pair}, method=SplitMerge(ConjugateGradient(200)), rng=0)"


def options() -> Iterator[str]:
    """Invalid arguments of `solve`."""
    for more in OPTIONS:
        yield f"solve(*synthetic(9), {more}, rng=0)"
    yield "solve(*synthetic(9), rng=-1)"
    yield f"solve(*made({COARSE}, 'csr', 'operator'), method=SplitMerge(Cholesky()), rng=0)"
    yield f"solve(*made({FINE}, 'operator'), sigma=3.0, rng=0)"


def objects() -> Iterator[str]:
    """Invalid arguments of constructors, invalid data of estimators, and missing files."""
    yield from (
        *("MaxSteps(0)", "Residual(0)", "MaxSeconds(-1)", "Stagnation(0)", "Fixed(0)", "Sampled(0.9, 0.8)"),
        *("Adaptive(0)", "ConjugateGradient(0)", "IncompleteCholesky(-1)", "LowRank(0)", "Lanczos(max_basis=1)"),
        *("Accelerated(max_basis=1)", "LocallyOptimal(inner=Cholesky())", "LanczosBound(0)", "Residual(1e-3) | 3"),
        *("MirrorDescent(3)", "GradientDescent('x')", "gallery.mikota_chain(0)", "Power(inner=3)"),
    )
    yield "CCA(2).fit(np.ones((20, 3)), np.ones((20, 3)))"
    yield "LinearDiscriminantAnalysis().fit(np.ones((20, 3)), np.ones(20))"
    yield "load('/nonexistent/modes.npz')"
    yield "read_pair('/nonexistent/K.mtx')"


def scipys() -> Iterator[str]:
    """Invalid arguments of `eigsh`."""
    for more in ("which='XX'", "k=0", "sigma=1.0, Minv=np.eye(9)", "OPinv=np.eye(9)", "ncv=2", "maxiter=0"):
        yield f"eigsh(synthetic(9), **{{'k': 3, **dict({more})}})"
    yield "eigsh(hermitian(30), 2, which='BE')"
    yield "eigsh(synthetic(30), 2, sigma=1.0, mode='nonsense')"
    yield "eigsh(synthetic(30), 2, sigma=0.0, mode='buckling')"
    yield "eigsh((np.ones((3, 4)), None), 2)"
    yield "eigsh((sp.eye_array(5), None), 5)"
    yield "eigsh(synthetic(30), 2, v0=np.zeros(30))"
