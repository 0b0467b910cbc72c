"""The gallery: spectra that are known, sizes that are promised, refusals that say why."""

import builtins
import math

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp

import splitmerge as sm
from data import lapla3
from splitmerge import gallery

KNOWN = {
    "grid, 1D": (gallery.grid_laplacian, gallery.grid_laplacian_values, ((7,),), {}),
    "grid, 2D": (gallery.grid_laplacian, gallery.grid_laplacian_values, ((6, 9),), {}),
    "grid, 3D": (gallery.grid_laplacian, gallery.grid_laplacian_values, ((4, 4, 4),), {}),
    "grid, one point": (gallery.grid_laplacian, gallery.grid_laplacian_values, ((1,),), {}),
    "grid, Neumann": (gallery.grid_laplacian, gallery.grid_laplacian_values, ((5, 6),), {"neumann": True}),
    "grid, one free line": (gallery.grid_laplacian, gallery.grid_laplacian_values, ((1, 6),), {"neumann": True}),
    "elements, 1D": (gallery.element_laplacian, gallery.element_laplacian_values, ((8,),), {}),
    "elements, 2D": (gallery.element_laplacian, gallery.element_laplacian_values, ((6, 9),), {}),
    "elements, 3D": (gallery.element_laplacian, gallery.element_laplacian_values, ((4, 5, 5),), {}),
    "elements, Neumann": (gallery.element_laplacian, gallery.element_laplacian_values, ((4, 5),), {"neumann": True}),
    "Mikota": (gallery.mikota_chain, gallery.mikota_chain_values, (60,), {}),
    "Clement": (gallery.clement_pair, gallery.clement_pair_values, (30,), {}),
}


def dense(M):
    return M.toarray() if sp.issparse(M) else M


def spectrum(A, B):
    return scipy.linalg.eigh(dense(A), None if B is None else dense(B), eigvals_only=True)


def assert_symmetric_definite(A, B):
    for M in (A, B):
        assert abs(M - M.T).max() == 0
    assert np.linalg.eigvalsh(dense(B))[0] > 0


@pytest.mark.parametrize("name", KNOWN)
def test_known_spectra_are_lapacks(name):
    pair, values, arguments, options = KNOWN[name]
    A, B = pair(*arguments, **options)
    exact = values(*arguments, **options)
    assert exact.shape == (A.shape[0],)
    assert (np.diff(exact) >= 0).all()
    assert isinstance(A, sp.csr_array)
    assert abs(A - A.T).max() == 0
    np.testing.assert_allclose(spectrum(A, B), exact, rtol=0, atol=1e-10 * abs(exact).max())


def test_legendres_pair_has_its_spectrum_as_far_as_hilberts_matrix_lets_it_show():
    for n in (1, 2, 4, 6):
        exact = gallery.legendre_pair_values(n)
        np.testing.assert_allclose(spectrum(*gallery.legendre_pair(n)), exact, rtol=0, atol=1e-9 * max(exact[-1], 1))
    B = gallery.legendre_pair(10)[1]
    np.testing.assert_allclose(B, scipy.linalg.hilbert(10))


@pytest.mark.parametrize("neumann", [False, True])
def test_a_free_boundary_makes_the_stiffness_singular(neumann):
    for A in (
        gallery.grid_laplacian((5, 4), neumann=neumann)[0],
        gallery.element_laplacian((5, 4), neumann=neumann)[0],
    ):
        assert (abs(A @ np.ones(A.shape[0])).max() < 1e-12) == neumann


def test_multilinear_elements_converge_with_order_two():
    error = [gallery.element_laplacian_values((c, c))[0] / (2 * np.pi**2) - 1 for c in (20, 40)]
    assert math.log2(error[0] / error[1]) == pytest.approx(2, abs=0.01)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.complex128])
def test_prescribed_spectrum_and_condition(dtype):
    values = np.r_[5.0, 5.0, 5.0, 4.999, 4.998, np.linspace(2.0, -3.0, 25)]
    A, B = gallery.prescribed_pair(values, 1e4, dtype=dtype, rng=1)
    assert A.dtype == B.dtype == dtype
    tolerance = 1e-10 if np.finfo(dtype).eps < 1e-10 else 1e-2
    for M in (A, B):
        assert abs(M - M.conj().T).max() == 0
    np.testing.assert_allclose(spectrum(A, B), np.sort(values), rtol=0, atol=5 * tolerance)
    assert np.linalg.cond(B) == pytest.approx(1e4, rel=1e-2)


@pytest.mark.parametrize("cells", [2, 3, (2, 3, 4)])
@pytest.mark.parametrize("bisected", [0, 1, 7])
def test_cube_has_the_promised_size(cells, bisected):
    A, B = gallery.cube_pair(cells, bisected, rng=0)
    assert A.shape[0] == math.prod(2 * c - 1 for c in np.broadcast_to(cells, 3)) + 8 * bisected
    assert_symmetric_definite(A, B)
    assert spectrum(A, B)[0] > 3 * np.pi**2


def test_quadratic_elements_converge_with_order_four():
    first = [sm.solve(*gallery.cube_pair(c), which="smallest", rng=0).eigenvalues[0] for c in (4, 8)]
    error = np.array(first) / (3 * np.pi**2) - 1
    assert (error > 0).all()
    assert math.log2(error[0] / error[1]) == pytest.approx(4, abs=0.25)


def test_the_mesh_does_not_change_when_its_bricks_are_bisected_on():
    # three bisections of 2 × 2 × 2 bricks are 4 × 4 × 4
    from splitmerge.gallery.tetrahedra import bricks

    mesh = bricks((2, 2, 2))
    for square in (3.0, 2.0, 1.0):
        mesh = mesh.bisected(mesh.longest(square))
    fine = bricks((4, 4, 4))

    def places(points, corners):
        return sorted(tuple(sorted(map(tuple, points[own]))) for own in corners)

    assert places(2 * mesh.points, mesh.corners) == places(fine.points, fine.corners)


def test_stencil_is_what_is_assembled():
    for own, assembled in zip(gallery.stencil_cube(5), gallery.fem_laplacian(3, 1, 5), strict=True):
        assert abs(own - assembled).max() < 1e-14


@pytest.mark.parametrize(("pair", "n", "nonzeros"), [("lapla3_like", 5795, 143_783), ("lapla4_like", 10891, 268_025)])
def test_lapla_sizes_and_clusters(pair, n, nonzeros):
    A, B = getattr(gallery, pair)()
    assert A.shape == B.shape == (n, n)
    assert B.nnz == nonzeros
    assert max(abs(A - A.T).max(), abs(B - B.T).max()) == 0
    top = sm.solve(A, B, 10, rng=0).eigenvalues
    assert ((top[:-1] - top[1:]) / top[0] < 0.03).all()
    assert top[9] > 0.9 * top[0]
    assert sm.solve(A, B, which="smallest", rng=0).eigenvalues[0] == pytest.approx(3 * np.pi**2, rel=1e-3)


def test_lapla3_is_like_the_papers():
    A, B = lapla3()
    ours = gallery.lapla3_like()
    assert ours[0].shape == A.shape
    assert abs(ours[1].nnz / B.nnz - 1) < 0.02
    # as many bricks are cut: a midpoint has this mass in both
    center = 1 / 512 / 70
    assert (abs(B.diagonal() / center - 1) < 1e-5).sum() == (abs(ours[1].diagonal() / center - 1) < 1e-5).sum() == 310
    top = [sm.solve(*pair, 10, rng=0).eigenvalues for pair in ((A, B), ours)]
    np.testing.assert_allclose(top[1], top[0], rtol=0.02)


def canonical_correlations(X, Y):
    Q, P = (np.linalg.qr(Z - Z.mean(axis=0))[0] for Z in (X, Y))
    return np.linalg.svd(Q.T @ P, compute_uv=False)


def test_cca_is_qr_and_svd():
    X, Y = gallery.two_views(300, 6, 4, [0.9, 0.6, 0.3], rng=0)
    X, Y = X + 5.0, Y - 100.0
    rho = canonical_correlations(X, Y)
    values = spectrum(*gallery.cca_pair(X, Y))
    np.testing.assert_allclose(values[::-1][:4], rho, rtol=0, atol=1e-10)
    np.testing.assert_allclose(values[:4], -rho, rtol=0, atol=1e-10)
    np.testing.assert_allclose(values[4:6], 0, atol=1e-10)


def test_samples_tend_to_the_population():
    X, Y = gallery.two_views(100_000, 3, 4, [0.9, 0.5], rng=0)
    np.testing.assert_allclose(canonical_correlations(X, Y), [0.9, 0.5, 0.0], atol=0.02)
    X, labels = gallery.labelled_clouds(30_000, 4, [3.0, 1.0], rng=0)
    np.testing.assert_allclose(spectrum(*gallery.lda_pair(X, labels))[::-1], [3, 1, 0, 0], atol=0.05)


def test_exact_samples_are_exact():
    X, Y = gallery.two_views(12, 6, 5, [0.99, -0.5, 0.1], exact=True, rng=0)
    np.testing.assert_allclose(canonical_correlations(X, Y), [0.99, 0.5, 0.1, 0, 0], atol=1e-12)
    X, labels = gallery.labelled_clouds(4, 7, [30.0, 2.0, 2.0], exact=True, rng=0)
    np.testing.assert_allclose(spectrum(*gallery.lda_pair(X, labels)), [0, 0, 0, 0, 2, 2, 30], atol=1e-10)


def test_lda_is_scikit_learns():
    from sklearn import discriminant_analysis

    X, labels = gallery.labelled_clouds(40, 5, [4.0, 1.0], rng=3)
    X, labels = X[:-17], np.array(["a", "b", "c"])[labels[:-17]]
    model = discriminant_analysis.LinearDiscriminantAnalysis(solver="eigen").fit(X, labels)
    values = spectrum(*gallery.lda_pair(X, labels))[::-1]
    np.testing.assert_allclose(values[:2] / values.sum(), model.explained_variance_ratio_, rtol=1e-10)


def test_pairs_of_samples_are_covariances():
    """Divided by the number of samples: a ridge is relative to variances."""
    X, labels = gallery.labelled_clouds(5, 3, [1.0], rng=0)
    A, B = gallery.cca_pair(X, X[:, :2] ** 2)
    C = np.cov(np.hstack([X, X[:, :2] ** 2]), rowvar=False, bias=True)
    np.testing.assert_allclose(A + B, C, atol=1e-14)
    np.testing.assert_array_equal(A[:3, :3], 0)
    np.testing.assert_array_equal(B[:3, 3:], 0)
    A, B = gallery.lda_pair(X, labels)
    np.testing.assert_allclose(A + B, np.cov(X, rowvar=False, bias=True), atol=1e-14)
    within = [np.cov(X[labels == name], rowvar=False, bias=True) for name in np.unique(labels)]
    np.testing.assert_allclose(B, np.mean(within, axis=0), atol=1e-14)


def test_ridge_goes_to_the_diagonal_of_B():
    X, labels = gallery.labelled_clouds(5, 3, [1.0], rng=0)
    for pair, other in ((gallery.lda_pair, labels), (gallery.cca_pair, X**2)):
        (A, B), (C, D) = pair(X, other), pair(X, other, ridge=0.5)
        np.testing.assert_array_equal(A, C)
        np.testing.assert_allclose(D - B, 0.5 * np.eye(len(B)), atol=1e-15)


SEEDED = {
    "prescribed": lambda rng: gallery.prescribed_pair(np.arange(5.0), rng=rng),
    "two views": lambda rng: gallery.two_views(20, 3, 2, [0.5], rng=rng),
    "clouds": lambda rng: gallery.labelled_clouds(5, 3, [1.0], rng=rng),
    "cube": lambda rng: gallery.cube_pair(4, 20, rng=rng),
}


@pytest.mark.parametrize("name", SEEDED)
def test_the_seed_decides(name):
    first, again, other = (dense(SEEDED[name](seed)[0]) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


CLOUDS = np.arange(12.0).reshape(6, 2)
REFUSED = {
    "shape of numbers": (lambda: gallery.grid_laplacian(5), "one integer per dimension"),
    "no shape": (lambda: gallery.grid_laplacian(()), "one integer per dimension"),
    "no cells inside": (lambda: gallery.element_laplacian((1, 4)), "at least 2"),
    "empty chain": (lambda: gallery.mikota_chain(0), "n is 0"),
    "float": (lambda: gallery.clement_pair(3.0), "whole number"),
    "complex spectrum": (lambda: gallery.prescribed_pair([1j, 1.0]), "finite real numbers"),
    "NaN in the spectrum": (lambda: gallery.prescribed_pair([np.nan]), "finite real numbers"),
    "condition below one": (lambda: gallery.prescribed_pair([1.0], 0.5), "kappa_B"),
    "integer type": (lambda: gallery.prescribed_pair([1.0], dtype=int), "dtype"),
    "two cells": (lambda: gallery.cube_pair((2, 2)), "tuple of three integers"),
    "too many cut": (lambda: gallery.cube_pair(2, 9), "bisected is 9"),
    "four dimensions": (lambda: gallery.fem_laplacian(4, 1, 3), "dimension is 4"),
    "rows": (lambda: gallery.cca_pair(CLOUDS, CLOUDS[1:]), "6 rows and Y has 5"),
    "NaN": (lambda: gallery.cca_pair(CLOUDS, np.full((6, 1), np.nan)), "Y contains NaN"),
    "sparse": (lambda: gallery.cca_pair(sp.eye_array(6), CLOUDS), "toarray"),
    "a vector": (lambda: gallery.cca_pair(CLOUDS, np.ones(6)), "samples in rows"),
    "negative ridge": (lambda: gallery.cca_pair(CLOUDS, CLOUDS, ridge=-1.0), "ridge"),
    "labels": (lambda: gallery.lda_pair(CLOUDS, [0, 1]), "one label for each row"),
    "NaN among labels": (lambda: gallery.lda_pair(CLOUDS, [0, 1, 0, 1, 0, np.nan]), "labels contains NaN"),
    "one class": (lambda: gallery.lda_pair(CLOUDS, np.zeros(6)), "single class"),
    "correlation of one": (lambda: gallery.two_views(9, 2, 2, [1.0]), "between −1 and 1"),
    "too many correlations": (lambda: gallery.two_views(9, 2, 3, [0.1] * 3), r"min\(p, q\) = 2"),
    "too few samples": (lambda: gallery.two_views(4, 2, 2, [0.1], exact=True), "samples is 4"),
    "negative discriminant": (lambda: gallery.labelled_clouds(9, 2, [-1.0]), "positive finite numbers"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusals(name):
    call, text = REFUSED[name]
    with pytest.raises(ValueError, match=text):
        call()


def test_absent_scikit_fem_is_named(monkeypatch):
    real = builtins.__import__

    def without(name, *rest):
        if name.startswith("skfem"):
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ImportError, match=r"this pair needs scikit-fem, .* pip install scikit-fem$"):
        gallery.lapla3_like()


def test_everything_is_exported_with_a_word_on_it():
    for name in gallery.__all__:
        thing = getattr(gallery, name)
        assert not callable(thing) or thing.__doc__
