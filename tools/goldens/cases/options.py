"""Special pairs, and the options of `solve`."""

from __future__ import annotations

from collections.abc import Iterator

from .words import COARSE, FINE, solve


def special() -> Iterator[str]:
    """Multiple, clustered and singular spectra, pairs of the gallery, and certification by inertia counts."""
    for name in ("double", "cluster", "decay", "singular", "negative", "constant"):
        for n in (12, 240):
            for target in ("k=3", "k=3, which='smallest'", "k=2, which='magnitude', certify=True"):
                yield solve(f"spectrum('{name}', {n})", target)
    for pair in (
        "gallery.legendre_pair(9)",
        "gallery.clement_pair(31)",
        "gallery.clement_pair(240)",
        "gallery.mikota_chain(400)",
        "gallery.fem_laplacian(2, 2, 12)",
        "gallery.cube_pair((3, 3, 4), bisected=10, rng=0)",
        "gallery.element_laplacian((14, 14), neumann=True)",
        "gallery.grid_laplacian((40, 40), neumann=True)",
        "moved(gallery.element_laplacian((20, 20)), 500.0)",
        "views(300, 40, 30)",
        "clouds(60, 20)",
        "frame(150)",
        "frame(900)",
    ):
        for target in ("k=4", "k=4, which='smallest'", "k=4, which='smallest', certify=True"):
            yield solve(pair, target)
    for n in (8, 300):
        yield solve(f"synthetic({n})", "k=3", "certify=True")
    for pair in (FINE, "frame(900)", "hermitian(260)"):
        for target in ("k=3, sigma=1.1", "k=3, which='ends', certify=True", "k=3, sigma=1.1, certify=True"):
            yield solve(pair, target)
    yield solve("gallery.grid_laplacian((30, 30))", "k=5", "sigma=4.0")
    yield solve("gallery.element_laplacian((14, 14), neumann=True)", "k=3", "sigma=0.0")


def scales() -> Iterator[str]:
    """Extreme scales, and a badly conditioned B."""
    for a, b in ((1e150, 1.0), (1e-150, 1.0), (1.0, 1e150), (1e-150, 1e-150), (1e150, 1e-150)):
        yield solve(f"scaled(synthetic(30), {a}, {b})", "k=2")
        yield solve(f"scaled({COARSE}, {a}, {b})", "k=2", "which='smallest'", "max_steps=900")
        yield solve(f"scaled(synthetic(450), {a}, {b})", "tol=1e-8")
        yield solve(f"scaled(synthetic(40), {a}, {b})", "method=SplitMerge()", "tol=1e-6")
    for kappa in (1e6, 1e10):
        for n in (40, 250, 450):
            yield solve(f"synthetic({n}, {kappa})", "k=2")
            yield solve(f"synthetic({n}, {kappa})", "k=2", "which='smallest'")


def policies() -> Iterator[str]:
    """A singular or indefinite B."""
    for policy in ("restrict", "ridge"):
        for pair in (
            "singular(20, 14)",
            "singular(260, 200)",
            "frame(150, 30)",
            "frame(900, 200)",
            "frame(150, 10, True)",
            "gallery.legendre_pair(16)",
            "synthetic(30)",
        ):
            yield solve(pair, "k=3", f"b_policy='{policy}'")
        yield solve("frame(150, 30)", "k=3", "which='smallest'", f"b_policy='{policy}'")
        yield solve("singular(40, 30)", f"b_policy='{policy}'", "method=SplitMerge()", "tol=1e-6")
        yield solve("frame(150, 30)", "k=2", "sigma=1.0", f"b_policy='{policy}'")


def stopping() -> Iterator[str]:
    """Stopping rules and their combinations, reached or not, and callbacks."""
    reference = "SineAngle(solve(*synthetic(70), k=2, rng=1).eigenvectors, 1e-6)"
    for method in ("SplitMerge()", "Lanczos()", "Accelerated()", None):
        for rule in (
            "Residual(1e-3) | MaxSteps(500)",
            "MaxSteps(5)",
            "Residual(1e-14) | Stagnation(20)",
            "Residual(1e-300) | MaxSteps(40)",
            f"{reference} | MaxSteps(300)",
            "Residual(1e-6) | MaxSeconds(1e9)",
        ):
            yield solve("synthetic(70)", "k=2", f"method={method}", f"stop={rule}")
        yield solve("synthetic(70)", f"method={method}", "stop=(Residual(1e-6) & MaxSteps(30)) | MaxSteps(60)")
        yield f"watched(synthetic(70), 4, method={method})"
        yield f"watched(synthetic(70), 10**6, k=2, tol=1e-6, method={method})"
        yield solve("synthetic(70)", f"method={method}", "max_steps=3", "k=2")
    yield solve("synthetic(300)", "k=3", "max_steps=2")
    yield solve(FINE, "k=3", "max_steps=2", "which='smallest'")
    yield solve(FINE, "k=3", "tol=1e-15")
    yield solve("synthetic(30)", "tol=1e-15", "method=SplitMerge()", "max_steps=3000")
    yield solve("synthetic(40)", "method=GradientDescent(Fixed(50.0))", "max_steps=3000")


def starts() -> Iterator[str]:
    """A start, or several, good or bad."""
    for method in ("SplitMerge()", "Lanczos()", "Accelerated()", "LocallyOptimal()", None):
        for x0 in ("vectors(70)", "vectors(70, 2)", "solve(*synthetic(70), k=2, rng=1).eigenvectors", "np.eye(70)[0]"):
            yield solve("synthetic(70)", "k=2", f"x0={x0}", f"method={method}", "tol=1e-6")
    # an eigenvector from the opposite end of the spectrum
    yield solve("(np.diag(np.arange(1.0, 51)), None)", "x0=np.eye(50)[0]", "tol=1e-6", "method=SplitMerge()")
    yield solve("(np.diag(np.arange(1.0, 51)), None)", "x0=np.eye(50)[0]", "tol=1e-6")
    yield solve("synthetic(450)", "x0=vectors(450)")
    yield solve("hermitian(60)", "x0=vectors(60) * 1j", "k=2")
    yield solve(FINE, "x0=vectors(992, 2)", "k=2", "which='smallest'")


def going_on() -> Iterator[str]:
    """`resume`, `save` and `load`."""
    for first in (
        solve("synthetic(70)", "k=2", "tol=1e-3", "method=SplitMerge()"),
        solve("synthetic(300)", "k=2", "tol=1e-4"),
        solve(FINE, "k=2", "tol=1e-4", "which='smallest'"),
        solve("hermitian(60)", "k=2"),
        solve("frame(150, 30)", "k=2", "b_policy='restrict'"),
        "partial(synthetic(300), k=2, max_steps=1)",
    ):
        yield f"{first}.resume(tol=1e-9, rng=0)"
        yield f"{first}.resume(k=4, rng=0)"
        yield f"{first}.resume(k=1, rng=0)"
        yield f"through_file({first})"
        yield f"through_file({first}).resume(k=3, tol=1e-8, rng=0)"
    yield f"{solve(FINE, 'k=2')}.resume(which='smallest', rng=0)"
    yield f"{solve('synthetic(300)', 'k=2')}.resume(A=synthetic(300, 11.0)[0], rng=0)"


def narrow() -> Iterator[str]:
    """Dense pairs that are solved in mixed precision."""
    for pair in ("synthetic(400)", "synthetic(640, 100)", "hermitian(420)", "spectrum('double', 420)"):
        for more in ("tol=1e-9", "tol=1e-5", "tol=1e-10", "certify=True", "max_steps=4", "which='smallest'"):
            yield solve(pair, more)
    yield solve("without_B(synthetic(420))", "")
    yield solve("spectrum('cluster', 420)", "")
    yield solve("spectrum('indefinite', 420)", "")
    yield solve("synthetic(420, 1e8)", "")


def hints() -> Iterator[str]:
    """`preconditioner` and `diagonal`."""
    for hint in (
        "preconditioner=MultiGrid()",
        "preconditioner=Diagonal()",
        f"preconditioner=inverse({FINE}[0])",
        f"preconditioner=inverse({FINE}[0]).matvec",
        f"diagonal={FINE}[0].diagonal()",
    ):
        for kind in ("csr", "operator"):
            if kind == "csr" or "()" not in hint:
                yield solve(f"made({FINE}, '{kind}')", "k=2", "which='smallest'", hint, "tol=1e-6")
    for hint in ("preconditioner=Diagonal()", f"diagonal={FINE}[1].diagonal()", f"preconditioner=inverse({FINE}[1])"):
        yield solve(FINE, "k=2", hint, "tol=1e-6")
        if "Diagonal()" not in hint:
            yield solve(f"made({FINE}, 'csr', 'operator')", "k=2", hint, "tol=1e-6")
