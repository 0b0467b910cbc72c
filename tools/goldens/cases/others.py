"""`eigsh`, `iterates`, estimators, commands and files."""

from __future__ import annotations

from collections.abc import Iterator

from .words import COARSE, FINE, GRID, MIDDLE


def scipys() -> Iterator[str]:
    """`eigsh`: which × modes × matrix types, and its other arguments."""
    for pair in ("synthetic(13)", "synthetic(130)", GRID, FINE, "spectrum('indefinite', 120)", "frame(150)"):
        for which in ("LM", "SM", "LA", "SA", "BE"):
            yield f"eigsh({pair}, 3, which='{which}')"
        yield f"eigsh({pair}, 2, which='LA', return_eigenvectors=False)"
        yield f"eigsh({pair}, 2, sigma=0.45)"
        if pair != FINE:
            yield f"eigsh({pair}, 2, sigma=0.45, which='SA', return_eigenvectors=False)"
    for which in ("LM", "SM", "LR", "SR"):
        yield f"eigsh(hermitian(120), 3, which='{which}')"
    for dtype in ("f4", "c8", "i8"):
        yield f"eigsh(typed({GRID}, '{dtype}'), 3, which='LA')"
    yield "eigsh(synthetic(6), 6)"


def modes() -> Iterator[str]:
    """Shift-invert `eigsh`, with user-supplied inverses, and with limits."""
    for mode in ("normal", "buckling", "cayley"):
        for pair in (MIDDLE, "synthetic(30)", "synthetic(120)", "frame(150)"):
            for which in ("LM", "LA", "SA", "BE"):
                yield f"eigsh({pair}, 3, sigma=1.3, mode='{mode}', which='{which}')"
        yield f"eigsh({COARSE}, 2, sigma=33.0, mode='{mode}', OPinv=shifted_inverse({COARSE}, 33.0))"
    for more in ("maxiter=1", "maxiter=300", "v0=vectors(360)", "ncv=9", "tol=1e-4", "maxiter=1, which='SA'"):
        yield f"eigsh({GRID}, 3, {more})"
    yield f"eigsh({FINE}, 3, which='LA', Minv=inverse({FINE}[1]))"
    yield f"eigsh({GRID}, 3, sigma=4.0, OPinv=shifted_inverse({GRID}, 4.0))"
    yield f"eigsh(made({GRID}, 'aslinearoperator'), 3, which='LA')"
    yield f"eigsh(made({GRID}, 'aslinearoperator'), 3, sigma=0.0)"
    yield f"eigsh(made({MIDDLE}, 'aslinearoperator'), 3, which='SA')"
    yield "eigsh(hermitian(120), 3, sigma=0.5)"
    yield "eigsh(frame(150, 30), 3, sigma=0.5)"


def inside() -> Iterator[str]:
    """`iterates`, and the components of the methods."""
    for method in (
        *("SplitMerge()", "Power()", "GradientDescent()", "MirrorDescent(Diagonal())", "Lanczos()"),
        *("Accelerated()", "LocallyOptimal()", "None"),
    ):
        for pair in ("synthetic(50)", "hermitian(30)", COARSE):
            yield f"first(iterates(*{pair}, method={method}, rng=0), 12)"
    yield "first(iterates(Pencil(*synthetic(50)), method=SplitMerge(), x0=vectors(50)), 9)"
    yield "first(iterates(*spectrum('indefinite', 30), method=Power(), rng=3), 9)"
    for call in ("value({x})", "gradient({x})", "hessian_product({x}, vectors(30, seed=6))"):
        yield f"Objective(Pencil(*synthetic(30))).{call.format(x='vectors(30)')}"
    for bound in ("LanczosBound()", "TraceBound()"):
        yield f"positive_curvature(Pencil(*synthetic(30)), {bound}, np.random.default_rng(0))"
    for name in ("lapla3_like()", "clement_pair(9)", "grid_laplacian((3, 4), neumann=True)", "cube_pair(2)"):
        yield f"gallery.{name}"
    for name in ("mikota_chain_values(9)", "element_laplacian_values((4, 5))", "KAPPA_B", "SIZES"):
        yield f"gallery.{name}"


def estimators() -> Iterator[str]:
    """Fits to synthetic data."""
    XY = "*gallery.two_views(200, 12, 9, [0.9, 0.6, 0.3], rng=0)"
    LX = "*gallery.labelled_clouds(40, 8, [5.0, 2.0], rng=0)"
    for more in ("", "ridge=0.1", "scale=False", "solver='formed'", "solver='operators'", "ridge=(0.1, 0.2)"):
        yield f"CCA(2, random_state=0, {more}).fit({XY})"
    yield f"CCA(2, random_state=0).fit({XY}).transform({XY})"
    yield f"CCA(2, random_state=0, solver='operators').fit(*[sp.csr_array(X) for X in ({XY},)])"
    yield "CCA(2, random_state=0, b_policy='restrict').fit(*gallery.two_views(15, 12, 9, [0.9], rng=0))"
    yield f"CCA(2).partial_fit({XY}).partial_fit({XY})"
    for more in ("", "ridge=0.1", "solver='operators'", "scale=False"):
        yield f"MCCA(2, random_state=0, {more}).fit([{XY}, vectors(200, 5)])"
    for more in ("", "shrinkage=0.2", "shrinkage='auto'", "between='means'", "priors=[0.2, 0.3, 0.5]"):
        yield f"LinearDiscriminantAnalysis({more}).fit({LX})"
    yield f"LinearDiscriminantAnalysis(store_covariance=True).fit({LX}).predict_proba(vectors(9, 8))"
    yield "LinearDiscriminantAnalysis().fit(*gallery.labelled_clouds(5, 60, [5.0, 2.0], rng=0))"
    yield "LinearDiscriminantAnalysis(shrinkage=0.1).fit(*gallery.labelled_clouds(5, 600, [5.0, 2.0], rng=0))"
    for kind in ("SlicedInverseRegression", "SlicedAverageVariance"):
        for more in ("2", "2, n_slices=5", "2, shrinkage=0.1", "1, b_policy='ridge'"):
            yield f"{kind}({more}).fit(*regression(300, 7))"
    for more in ("4", "2, log=False", "2, reg=0.1", "4, component_order='alternate'", "3, reg='oas', cov_est='epoch'"):
        yield f"CSP({more}).fit(*trials(40, 6))"
    yield "CSP(4).fit(*trials(60, 6, 3))"
    yield "SPoC(4).fit(trials(40, 6)[0], vectors(40))"
    yield "CSP(4).fit(*trials(40, 6)).transform(trials(40, 6)[0])"
    for method in ("music", "esprit"):
        yield f"vars(harmonic_retrieval(np.cos(0.7 * np.arange(90)) + 0.1 * vectors(90), 1, method='{method}'))"
        more = f"noise=vectors(500, seed=6), method='{method}'"
        yield f"vars(harmonic_retrieval(np.cos(0.7 * np.arange(90)) + 0.1 * vectors(90), 1, {more}))"


def commands() -> Iterator[str]:
    """`splitmerge` with files."""
    for line in (
        "solve K.mtx M.mtx -k 2",
        "solve K.mtx M.mtx -k 2 --json",
        "solve K.mtx -k 2 --which ends --json",
        "solve K.mtx M.mtx -k 3 --which smallest --certify --json",
        "solve K.mtx M.mtx -k 3 --sigma 100 --json",
        "solve K.mtx M.mtx -k 2 --sigma -1e3 --json",
        "solve K.mtx M.mtx -k 1 --method split-merge --inner cg --preconditioner diagonal --tol 1e-6 --json",
        "solve K.mtx M.mtx -k 1 --method mirror-descent --tol 1e-6 --json",
        "solve K.mtx M.mtx -k 1 --method power --max-steps 5 --json",
        "solve K.mtx M.mtx -k 2 --which smallest --method locally-optimal --preconditioner multigrid --json",
        "solve K.mtx M.mtx -k 2 -o modes.npz --report page.html --explain --no-progress",
        "solve K.mtx M.mtx -k 2 -o values.csv --quiet",
        "solve K.mtx M.mtx -k 2 --b-policy restrict --json",
        "solve K.mtx M.mtx --json",
        "solve M.mtx K.mtx -k 2 --json --seed 3",
        "info K.mtx M.mtx",
        "info K.mtx M.mtx --json",
        "info M.mtx --json -k 3",
        "solve missing.mtx",
        "solve K.mtx --method nonsense",
        "solve K.mtx -k 0",
        "--version",
        "--help",
        "nonsense",
    ):
        yield f"command({COARSE}, '{line}')"
    for line in ("info K.mtx M.mtx --json", "solve K.mtx M.mtx --json", "solve K.mtx M.mtx --b-policy ridge --json"):
        yield f"command(frame(150, 10), '{line}')"
    yield "command(with_entry(synthetic(9), 'A', np.nan), 'info K.mtx M.mtx --json')"
    yield "command(moved(synthetic(9), 0.5), 'info K.mtx M.mtx --json')"


def files() -> Iterator[str]:
    """`read_pair`."""
    for names in ("'K.mtx', 'M.mtx'", "'K.npz', 'M.npz'", "'K.npy', 'M.mtx'", "'K.mtx'"):
        yield f"read({COARSE}, {names})"
