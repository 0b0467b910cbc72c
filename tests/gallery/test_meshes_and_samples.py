"""What the gallery promises beside its spectra: unit squares and cubes, spacings, seeds, and where meshes are fine."""

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp

from splitmerge import gallery
from splitmerge.gallery.fem import _boundaries, _central
from splitmerge.gallery.tetrahedra import bricks


def dense(M):
    return M.toarray() if sp.issparse(M) else np.asarray(M)


def spectrum(A, B=None):
    return scipy.linalg.eigh(dense(A), None if B is None else dense(B), eigvals_only=True)


@pytest.mark.parametrize("cells", [(3, 3, 4), (4, 3, 3), (3, 4, 3), (2, 3, 4), (5, 2, 2), 3])
def test_every_division_is_of_the_unit_cube(cells):
    """The first eigenvalue is near 3π² from above, whatever the numbers of bricks along the axes are."""
    K, M = gallery.cube_pair(cells)
    least = spectrum(K, M)[0] / (3 * np.pi**2)
    assert 1 < least < (1.02 if min(np.broadcast_to(cells, 3)) > 2 else 1.06)


@pytest.mark.parametrize("axis", range(3))
def test_axes_of_a_cube_are_as_long(axis):
    """(2, 1, 1), (1, 2, 1) and (1, 1, 2) π² squared lengths: waves along the fine axis are resolved best."""
    cells = [2, 2, 2]
    cells[axis] = 5
    K, M = gallery.cube_pair(tuple(cells))
    found, even = spectrum(K, M)[:2], spectrum(*gallery.cube_pair(2))[:2]
    np.testing.assert_allclose(found, np.array([3, 6]) * np.pi**2, rtol=0.06)
    assert found[0] < even[0]


@pytest.mark.parametrize("bisected", [0, 5])
def test_masses_of_a_cube_add_up(bisected):
    """Stiffness times a constant and the mass of it are those of the layer at the boundary only."""
    K, M = gallery.cube_pair(4, bisected, rng=1)
    one = np.ones(K.shape[0])
    # without its boundary layer of a quarter of a brick to one brick
    assert 0.5**3 < one @ M @ one < 1
    inside = abs(K @ one) < 1e-12 * abs(K).max()
    assert 27 <= inside.sum() < K.shape[0]


@pytest.mark.parametrize(("dimension", "order", "tol"), [(2, 1, 0.1), (2, 2, 2e-3), (3, 1, 0.3), (3, 2, 1.5e-2)])
def test_elements_of_either_order(dimension, order, tol):
    K, M = gallery.fem_laplacian(dimension, order, 6 if dimension == 2 else 4)
    assert K.shape[0] == ((6 if dimension == 2 else 4) * order - 1) ** dimension
    least = spectrum(K, M)[0] / (dimension * np.pi**2)
    assert 1 < least < 1 + tol


def test_linear_triangles_are_the_five_point_stencil():
    found = spectrum(gallery.fem_laplacian(2, 1, 6)[0])
    np.testing.assert_allclose(found, gallery.grid_laplacian_values((5, 5)), atol=1e-12)


def test_the_smallest_stencil_by_hand():
    """One interior point: six tetrahedra around it in each of eight cubes."""
    K, M = gallery.stencil_cube(2)
    np.testing.assert_allclose([K.toarray().item(), M.toarray().item()], [3.0, 0.05], rtol=1e-14)


@pytest.mark.parametrize("cells", [(1,), (1, 1), (1, 3), (2, 1, 1)])
def test_one_free_cell_along_a_side(cells):
    K, M = gallery.element_laplacian(cells, neumann=True)
    exact = gallery.element_laplacian_values(cells, neumann=True)
    np.testing.assert_allclose(spectrum(K, M), exact, atol=1e-10 * exact.max())
    assert np.ones(len(exact)) @ M @ np.ones(len(exact)) == pytest.approx(1)


@pytest.mark.parametrize("shape", [(1,), (2,), (1, 1), (3, 1, 2)])
def test_grids_of_one_and_two_points(shape):
    for neumann in (False, True):
        A, B = gallery.grid_laplacian(shape, neumann=neumann)
        assert B is None
        np.testing.assert_allclose(spectrum(A), gallery.grid_laplacian_values(shape, neumann=neumann), atol=1e-14)


@pytest.mark.parametrize("number", [4, 16, 40])
def test_refined_bricks_are_about_the_centre(number):
    """Those that are cut first are closer to it than the others, by and large, and differ from seed to seed."""
    mesh = bricks((4, 4, 4))
    edges = mesh.longest(3.0)
    assert len(edges) == 64
    chosen = [_central(mesh, edges, np.random.default_rng(seed))[:number] for seed in range(20)]
    away = [np.linalg.norm(mesh.middles(some) / 4 - 0.5, axis=1).mean() for some in chosen]
    whole = np.linalg.norm(mesh.middles(edges) / 4 - 0.5, axis=1).mean()
    assert np.mean(away) < (0.9 if number == 40 else 0.8) * whole
    assert len({frozenset(map(tuple, some)) for some in chosen}) > 15


def test_faces_of_the_cube_are_counted():
    """Of the edges of a single brick each is on two, the diagonals of faces on one, and that of the cube on none."""
    mesh = bricks((1, 1, 1))
    edges = np.array([[i, j] for i in range(8) for j in range(i)])
    lengths = ((mesh.points[edges[:, 0]] - mesh.points[edges[:, 1]]) ** 2).sum(axis=1)
    np.testing.assert_array_equal(_boundaries(mesh, edges), 3 - lengths)


class TestSpacings:
    @pytest.mark.parametrize("kappa_B", [3.0, 100.0])
    @pytest.mark.parametrize("kappa_A", [100.0, 7.0])
    def test_synthetic_eigenvalues_are_equally_spaced(self, kappa_A, kappa_B):
        A, B = gallery.synthetic_pair(20, kappa_B, kappa_A=kappa_A, rng=0)
        np.testing.assert_allclose(spectrum(A), np.linspace(1 / kappa_A, 1, 20), rtol=1e-12)
        np.testing.assert_allclose(spectrum(B), np.linspace(1 / kappa_B, 1, 20), rtol=1e-12)
        for M in (A, B):
            np.testing.assert_array_equal(M, M.T)
        # with bases of their own
        assert np.abs(A @ B - B @ A).max() > 1e-3

    def test_synthetic_defaults_and_seeds(self):
        A, B = gallery.synthetic_pair(12, 3.0, rng=5)
        assert np.linalg.cond(A) == pytest.approx(100)
        for same, other in ((A, 0), (B, 1)):
            np.testing.assert_array_equal(same, gallery.synthetic_pair(12, 3.0, rng=5)[other])
            assert not np.array_equal(same, gallery.synthetic_pair(12, 3.0, rng=6)[other])

    @pytest.mark.parametrize("dtype", [float, complex])
    @pytest.mark.parametrize("kappa", [1.0, 16.0, 1e6])
    def test_prescribed_conditions_are_geometric(self, dtype, kappa):
        A, B = gallery.prescribed_pair(np.arange(1.0, 8.0), kappa, dtype=dtype, rng=2)
        np.testing.assert_allclose(spectrum(B), np.geomspace(1 / kappa, 1, 7), rtol=1e-9)
        np.testing.assert_allclose(spectrum(A, B), np.arange(1.0, 8.0), rtol=1e-8)
        assert (np.abs(A.imag).max() > 0.01) == (dtype is complex)

    def test_prescribed_defaults_and_one_value(self):
        assert np.linalg.cond(gallery.prescribed_pair([1.0, 2.0, 5.0], rng=0)[1]) == pytest.approx(10)
        A, B = gallery.prescribed_pair([-3.0], rng=0)
        assert A.item() / B.item() == pytest.approx(-3)


class TestSamples:
    def test_clouds_are_in_order_and_of_equal_size(self):
        X, labels = gallery.labelled_clouds(7, 5, [9.0, 4.0, 1.0], rng=0)
        assert X.shape == (28, 5)
        assert labels.tolist() == [label for label in range(4) for _ in range(7)]

    def test_unequal_classes(self):
        """Between the classes each mean has the weight of its samples; by hand for two points and four."""
        X = np.array([[0.0], [2.0], [9.0], [11.0], [9.0], [11.0]])
        A, B = gallery.lda_pair(X, ["a", "a", "b", "b", "b", "b"])
        np.testing.assert_allclose([A.item(), B.item()], [(2 * 36 + 4 * 9) / 6, 1.0], rtol=1e-14)

    @pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64, np.int8, bool])
    def test_types_of_samples(self, dtype):
        X = (np.random.default_rng(0).standard_normal((30, 3)) * 3).astype(dtype)
        A, B = gallery.cca_pair(X, X[:, :2] ^ X[::-1, :2] if dtype is bool else X[:, :2] + X[::-1, :2])
        assert A.dtype == B.dtype == (np.float32 if np.dtype(dtype).itemsize == 1 or dtype is np.float32 else float)
        np.testing.assert_allclose(B[:3, :3], np.cov(X.astype(float), rowvar=False, bias=True), rtol=1e-5, atol=1e-6)

    @pytest.mark.parametrize("exact", [False, True])
    def test_views_are_centred_and_mixed(self, exact):
        """No column by itself is a canonical variate, and means are zero where samples are exact."""
        X, Y = gallery.two_views(400, 3, 2, [0.9, 0.5], exact=exact, rng=0)
        assert np.abs(np.corrcoef(X, Y, rowvar=False)[:3, 3:]).max() < 0.9
        for Z in (X, Y):
            assert np.abs(Z.mean(axis=0)).max() < (1e-13 if exact else 0.5)
            assert 1.0 < np.linalg.cond(Z) < 3.5


@pytest.mark.parametrize("kappa", [1.0, 10.0, 1e6])
def test_norm_of_a_prescribed_B(kappa):
    """Of one row, too."""
    for n in (1, 2, 5):
        A, B = gallery.prescribed_pair(np.arange(-3.0, n - 3), kappa, rng=0)
        assert np.linalg.norm(B, 2) == pytest.approx(1)
        assert np.linalg.cond(B) == pytest.approx(kappa if n > 1 else 1)
        assert np.linalg.eigvals(np.linalg.solve(B, A)).real.min() == pytest.approx(-3)
