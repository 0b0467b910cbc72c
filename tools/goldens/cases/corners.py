"""Rare cases: uncommon solution paths, wide and weighted data, other file formats."""

from __future__ import annotations

from collections.abc import Iterator

from .words import COARSE, FINE, MIDDLE, solve

XY = "*gallery.two_views(200, 12, 9, [0.9, 0.6, 0.3], rng=0)"
WIDE = "*gallery.two_views(40, 90, 70, [0.9, 0.6], rng=0)"
WORDS = "*[sp.random_array((400, m), density=0.05, rng=m) for m in (60, 50)]"
CLOUDS = "*gallery.labelled_clouds(40, 8, [5.0, 2.0], rng=0)"
WEIGHTS = "np.arange(1.0, 201.0)"


def routes() -> Iterator[str]:
    """Large matrices with predicted factorisation cost, matrix-free operators, singular matrices with shift-invert."""
    yield solve("gallery.stencil_cube(30)", "k=2", "which='smallest'", "tol=1e-5")
    yield solve("gallery.grid_laplacian((101, 100))", "k=2", "sigma=3.0")
    yield solve("moved(gallery.stencil_cube(12), 40.0)", "k=2", "which='smallest'", "tol=1e-5")
    yield solve(f"made(moved({FINE}, 100.0), 'csr')", "k=2", "which='smallest'", "method=LocallyOptimal()", "tol=1e-5")
    yield solve("made(frame(150), 'operator', 'csr')", "k=2")
    yield solve("made(frame(150), 'operator')", "k=2", "tol=1e-6")
    yield solve("made(frame(300), 'operator', 'csr')", "k=2", "which='smallest'", "tol=1e-6")
    yield solve("made(frame(150, 30), 'operator', 'csr')", "k=2", "b_policy='restrict'")
    yield solve("made(frame(150, 30), 'dense')", "k=2", "b_policy='restrict'")
    yield solve("(synthetic(40)[0], sp.block_diag([singular(20, 14)[1], synthetic(20)[1]]))", "b_policy='restrict'")
    yield solve("made(hermitian(300), 'operator')", "k=2", "tol=1e-6")
    yield solve("made(typed(synthetic(250, 4), 'f4'), 'operator')", "tol=1e-4")
    yield solve(f"made({FINE}, 'operator')", "k=2", "tol=1e-6")
    yield solve("made(synthetic(250, 1e5), 'dense', 'operator')", "k=2", "tol=1e-6")
    yield solve("made(gallery.grid_laplacian((40, 30)), 'operator')", "k=2", "which='smallest'", "tol=1e-5")
    yield solve("made(gallery.grid_laplacian((40, 30)), 'operator')", "k=2", "which='ends'", "tol=1e-5")
    yield solve(FINE, "k=40")
    yield solve("synthetic(500)", "k=30")
    yield solve("synthetic(300)", "k=25", "which='smallest'", "method=Accelerated()")
    yield "eigsh(made(frame(90, 10), 'dense'), 3, sigma=0.5)"
    yield f"eigsh(made({COARSE}, 'aslinearoperator'), 3, sigma=33.0)"
    for kind in ("dense", "csr", "aslinearoperator"):
        yield f"eigsh(made({MIDDLE}, '{kind}'), 3, which='SM')"
        yield f"eigsh(made({MIDDLE}, '{kind}'), 3, sigma=100.0, maxiter=50)"
        yield f"eigsh(made(hermitian(120), '{kind}'), 3, which='LM', maxiter=400)"
    yield "eigsh(frame(150, 30), 3, sigma=0.5, maxiter=100)"
    yield "eigsh(frame(150), 3, sigma=0.5, mode='buckling', maxiter=100)"


def parts() -> Iterator[str]:
    """Preconditioners, the transformed pair, and the splitting of the paper."""
    for P in ("Exact()", "SquareRoot()", "Diagonal()", "LowRank(5)", "IncompleteCholesky()"):
        pair = COARSE if P == "IncompleteCholesky()" else "synthetic(30)"
        n = 56 if pair == COARSE else 30
        yield f"domain(*{pair}, {P}, vectors({n}))"
    yield "domain(*made(synthetic(30), 'csr'), Exact(), vectors(30))"
    yield "splitting(30, 0.5)"
    yield f"solve(*{COARSE}, method=MirrorDescent(Diagonal(), Sampled(), LanczosBound(4)), tol=1e-4, rng=0)"
    for bound in ("LanczosBound()", "TraceBound()"):
        yield f"positive_curvature(Pencil(*hermitian(30)), {bound}, np.random.default_rng(0))"
    yield "gallery.legendre_pair_values(5), gallery.clement_pair_values(5), gallery.grid_laplacian_values((3, 4))"


def views() -> Iterator[str]:
    """Canonical correlations of wide, sparse, weighted and dependent data."""
    for solver in ("auto", "formed", "operators"):
        yield f"CCA(2, ridge=0.1, solver='{solver}', random_state=0).fit({WIDE})"
        yield f"CCA(2, ridge=0.1, solver='{solver}', random_state=0).fit({WORDS})"
        yield f"CCA(2, solver='{solver}', random_state=0).fit({XY}, sample_weight={WEIGHTS})"
        yield f"MCCA(2, ridge=0.1, solver='{solver}', random_state=0).fit([{WORDS}, vectors(400, 5)])"
    for policy in ("ridge", "restrict"):
        yield f"CCA(2, b_policy='{policy}', random_state=0).fit(*[np.c_[X, X[:, :2]] for X in ({XY},)])"
        yield f"CCA(2, b_policy='{policy}', random_state=0).fit({WIDE})"
    fitted = f"CCA(2, random_state=0).fit({XY})"
    yield f"{fitted}.predict(vectors(9, 12)), {fitted}.inverse_transform(vectors(9, 2), vectors(9, 2))"
    yield "CCA(1, random_state=0).fit(*gallery.two_views(200, 12, 1, [0.9], rng=0))"
    yield f"CCA(2, random_state=0).fit({XY}).partial_fit({XY})"
    yield f"CCA(2, solver='operators', warm_start=True, random_state=0).fit({XY}).fit({XY})"
    yield "MCCA(2, views=[4, 3, 5], random_state=0).fit(vectors(90, 12))"
    yield "MCCA(2, views=[4, 3, 5], random_state=0).fit_transform(vectors(90, 12))"
    yield "MCCA(2, random_state=0).fit_transform([vectors(90, 5), vectors(90, 4, 8)])"


def classes() -> Iterator[str]:
    """Discriminants, slices and patterns of unusual data."""
    batch = f"LinearDiscriminantAnalysis().partial_fit({CLOUDS}, classes=[0, 1, 2])"
    yield f"{batch}.partial_fit({CLOUDS})"
    yield f"LinearDiscriminantAnalysis(priors=[0.2, 0.3, 0.5]).partial_fit({CLOUDS}, classes=[0, 1, 2])"
    for more in ("b_policy='ridge'", "b_policy='restrict', store_covariance=True", "n_components=1, tol=1e-3"):
        yield f"LinearDiscriminantAnalysis({more}).fit(np.c_[vectors(60, 4), vectors(60, 4)], np.arange(60) % 3)"
        yield f"LinearDiscriminantAnalysis({more}).fit({CLOUDS}, sample_weight=np.arange(1.0, 121.0))"
    for more in ("", "shrinkage=0.2", "shrinkage='auto'"):
        sparse = "sp.random_array((300, 900), density=0.02, rng=1), np.arange(300) % 4"
        yield f"LinearDiscriminantAnalysis({more}).fit({sparse})"
    yield f"LinearDiscriminantAnalysis().fit({CLOUDS}).transform(vectors(9, 8))"
    yield f"LinearDiscriminantAnalysis().fit({CLOUDS}).decision_function(vectors(9, 8))"
    for kind in ("SlicedInverseRegression", "SlicedAverageVariance"):
        for more in ("n_slices=[-1.0, 0.0, 1.0]", "b_policy='restrict'", "b_policy='ridge', tol=1e-3"):
            yield f"{kind}(2, {more}).fit(np.c_[vectors(90, 4), np.ones(90)], vectors(90))"
        yield f"{kind}(1).fit(vectors(90, 4), np.arange(90) % 3)"
        yield f"{kind}(2).fit(*regression(300, 7)).transform(vectors(9, 7))"
        yield f"{kind}(2).fit(*regression(300, 7), sample_weight=np.arange(1.0, 301.0))"
    for more in ("reg='oas'", "reg='ledoit_wolf', cov_est='epoch'", "rank=3"):
        yield f"CSP(4, {more}).fit(np.repeat(trials(40, 4)[0], 2, axis=1), trials(40, 4)[1])"


def formats() -> Iterator[str]:
    """Other file formats, and pairs in one file."""
    for name in ("pair.npz", "pair.mat", "pair.npz#K", "K.hb", "K.mtx.gz"):
        yield f"from_file({COARSE}, '{name}')"
    for method in (
        *("accelerated", "lanczos", "gradient-descent", "auchmuty-conjugate-gradient", "auchmuty-descent"),
        *("auchmuty-newton", "genelink", "jacobi-davidson", "lazy-ev", "rayleigh-quotient-iteration"),
        *("riemannian-conjugate-gradient", "riemannian-gradient", "nonsense"),
    ):
        yield f"command({COARSE}, 'solve K.mtx M.mtx -k 1 --method {method} --max-steps 40 --json')"
    yield f"command({COARSE}, 'solve K.mtx M.mtx -k 1 --preconditioner incomplete-cholesky --json')"
    yield f"command({COARSE}, 'solve K.mtx M.mtx -k 1 --inner cg --inner-steps 9 --method power --max-steps 9 --json')"
    yield f"command({COARSE}, 'solve K.mtx M.mtx -k 1 --seed -1')"
    yield f"command({COARSE}, 'solve K.mtx M.mtx -o K.mtx')"
    yield f"command({COARSE}, 'compare K.mtx M.mtx --only nonsense')"
    yield "command(with_entry(synthetic(9), 'A', 7.0), 'info K.mtx M.mtx --json')"
    yield "command(gallery.grid_laplacian((110, 100)), 'info K.mtx --json')"
    yield "command(hermitian(9), 'info K.mtx M.mtx --json')"
