"""Sizes, targets, methods with their options, and matrix types."""

from __future__ import annotations

from collections.abc import Iterator

from .words import COARSE, FINE, TARGETS, solve

PAPER = ("SplitMerge()", "Power()", "GradientDescent()", "MirrorDescent()", "Lanczos()")
ALL = (*PAPER, "Accelerated()", "LocallyOptimal()")
STEPSIZES = ("Adaptive()", "Adaptive(0.5)", "Sampled()", "Fixed(0.4)", "0.3")
DENSE_P, SPARSE_P = ("Exact()", "SquareRoot()", "Diagonal()", "LowRank(5)"), ("IncompleteCholesky()", "MultiGrid()")


def sizes() -> Iterator[str]:
    """Sizes × numbers of eigenpairs × targets, with the default method."""
    for n in (1, 2, 3, 5, 8, 20, 64, 150):
        for k in sorted({1, min(3, n), n} if n in (3, 8, 64, 150) else {1, n}):
            for target in TARGETS:
                yield solve(f"synthetic({n})", f"k={k}", target.format(sigma=0.7))
    for n, numbers, targets in ((300, (1, 3, 6), 5), (500, (1, 3, 6), 3), (1000, (1, 6), 3)):
        for k in numbers:
            for target in TARGETS[:targets]:
                yield solve(f"synthetic({n})", f"k={k}", target.format(sigma=0.7))
    for pair in (FINE, "gallery.stencil_cube(12)", "gallery.grid_laplacian((50, 50))", "frame(2000)"):
        for target, k in zip(TARGETS, (6, 6, 6, 1, 3), strict=True):
            yield solve(pair, f"k={k}", target.format(sigma=30.0))
    yield solve("gallery.grid_laplacian((101, 100))", "k=3", "which='smallest'")
    yield solve("gallery.stencil_cube(23)", "tol=1e-5")
    yield solve("gallery.stencil_cube(23)", "k=2", "which='smallest'")


def thresholds() -> Iterator[str]:
    """Sizes on both sides of the thresholds between solution paths."""
    for n, k in ((200, 1), (201, 1), (220, 2), (221, 2), (399, 1), (400, 1), (402, 67), (402, 68)):
        yield solve(f"synthetic({n})", f"k={k}")
    for shape, k in (("(10, 10)", 2), ("(101, 1)", 2), ("(15, 14)", 35), ("(15, 14)", 36)):
        for target in TARGETS[:2]:
            yield solve(f"gallery.grid_laplacian({shape})", f"k={k}", target)
        yield f"eigsh(gallery.grid_laplacian({shape}), {k}, which='LA')"
    for n in (1000, 1001):
        yield solve(f"made(gallery.grid_laplacian(({n}, 1)), 'operator')", "which='smallest'", "tol=1e-3")


def methods() -> Iterator[str]:
    """Every method on dense, sparse, complex and indefinite pairs."""
    for method in ALL:
        yield solve("synthetic(64)", f"method={method}")
        yield solve("synthetic(64)", "k=3", "which='smallest'", f"method={method}", "tol=1e-6")
        yield solve("hermitian(40)", "k=2", f"method={method}", "tol=1e-7")
        yield solve("spectrum('indefinite', 50)", "k=2", f"method={method}", "tol=1e-6")
        yield solve("without_B(synthetic(64))", "k=2", f"method={method}")
        yield solve("gallery.mikota_chain(60)", f"method={method}", "tol=1e-6")
        yield solve("typed(synthetic(64), 'f4')", f"method={method}", "tol=1e-4")
        yield solve("synthetic(64)", f"method={method}", "max_steps=7")
        yield solve("spectrum('double', 60)", "k=3", f"method={method}", "tol=1e-7")
        yield solve("synthetic(300, 3)", f"method={method}", "tol=1e-5")
        yield solve("synthetic(3)", "k=3", f"method={method}")
        yield solve("synthetic(1)", f"method={method}")
        yield solve(COARSE, "k=2", f"method={method}", "tol=1e-6")
        yield solve(COARSE, "k=2", "which='smallest'", f"method={method}", "tol=1e-5", "max_steps=2000")


def options_of_methods() -> Iterator[str]:
    """Step sizes, preconditioners, inner solvers, basis sizes."""
    for step in STEPSIZES:
        for P in (*DENSE_P, *SPARSE_P):
            pair = COARSE if P in SPARSE_P else "synthetic(80, 5)"
            yield solve(pair, f"method=MirrorDescent({P}, {step})", "tol=1e-5", "max_steps=1500")
        yield solve("synthetic(80, 5)", f"method=GradientDescent({step})", "tol=1e-4", "max_steps=1500")
    for bound in ("LanczosBound()", "LanczosBound(5)", "TraceBound()"):
        yield solve("synthetic(64)", f"method=GradientDescent(curvature={bound})", "max_steps=400", "tol=1e-5")
    for method in ("SplitMerge", "Power", "Lanczos", "Accelerated", "MirrorDescent"):
        for inner in (
            "Cholesky()",
            "ConjugateGradient(30, Diagonal())",
            "ConjugateGradient(None, tol=0.01)",
            "ConjugateGradient(None, IncompleteCholesky(), tol=1e-13)",
            "UserSolve(inverse({pair}[1]).matvec)",
        ):
            for pair in (COARSE, "made(synthetic(60, 3), 'csr')"):
                given = inner.format(pair=pair)
                yield solve(pair, "k=2", f"method={method}(inner={given})", "tol=1e-6", "max_steps=1000")
    for P in ("MultiGrid()", "LowRank(3)", "SquareRoot()", "Exact()"):
        pair = COARSE if P == "MultiGrid()" else "synthetic(60, 30)"
        yield solve(pair, f"method=SplitMerge(ConjugateGradient(None, {P}, tol=1e-10))", "tol=1e-6")
    yield solve("synthetic(80)", "method=Lanczos(reorthogonalise=False)")
    yield solve("synthetic(80)", "k=2", "method=Lanczos(max_basis=8)")
    yield solve("synthetic(300)", "k=3", "method=Accelerated(max_basis=12)")
    for P in (None, "Diagonal()", "MultiGrid()", "IncompleteCholesky()"):
        for target in TARGETS[:2]:
            yield solve(FINE, "k=3", target, f"method=LocallyOptimal({P})", "tol=1e-6")
    yield solve(FINE, "which='smallest'", "method=LocallyOptimal(Diagonal(), block=7)", "tol=1e-5")


def kinds() -> Iterator[str]:
    """Every matrix type and precision."""
    for kind in ("dense", "F", "strided", "list", "csr", "csc", "coo", "dia", "bsr", "csr_matrix", "csc_matrix"):
        yield solve(f"made(synthetic(30), '{kind}')", "k=2")
        yield solve(f"made({COARSE}, '{kind}')", "k=2", "which='smallest'", "max_steps=500")
    for A in ("dense", "csr", "operator", "object"):
        for B in ("dense", "csr", "operator", "aslinearoperator"):
            if A != B:
                yield solve(f"made({COARSE}, '{A}', '{B}')", "k=3")
                yield solve(f"made(synthetic(250, 4), '{A}', '{B}')", "k=2")
        yield solve(f"made(gallery.grid_laplacian((20, 15)), '{A}')", "k=3")
        yield solve(f"made(gallery.grid_laplacian((20, 15)), '{A}')", "k=3", "which='smallest'")
        yield solve(f"made({COARSE}, '{A}', 'operator')", "k=2", "which='smallest'")
    for dtype in ("f4", "f8", "c8", "c16", ">f8"):
        for n in (8, 150, 420):
            yield solve(f"typed(synthetic({n}), '{dtype}')", "k=2", "tol=1e-5")
        if dtype != ">f8":
            yield solve(f"typed({FINE}, '{dtype}')", "k=3", "which='smallest'", "tol=1e-4")
            yield solve(f"typed({FINE}, '{dtype}')", "k=3", "tol=1e-4")
        yield solve(f"typed(hermitian(60), '{'c8' if dtype in ('f4', 'c8') else 'c16'}')", "k=3", "tol=1e-4")
    for n in (2, 40, 150, 300, 450):
        for target in TARGETS[:3]:
            yield solve(f"hermitian({n})", "k=2", target.format(sigma=0.4))
    yield solve("made(gallery.grid_laplacian((12, 12)), 'integers')", "k=2", "which='smallest'")
    yield solve("(KINDS['integers'](10 * synthetic(30)[0]), None)", "k=30")
    yield solve("(np.diag([True, False, True]), None)", "k=3")
