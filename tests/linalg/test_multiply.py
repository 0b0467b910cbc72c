"""Products by the BLAS of SciPy: values in every memory order, and no search wakes the threads of NumPy."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from splitmerge.linalg import multiply
from splitmerge.linalg.multiply import adjoint_product, dot, product

LAYOUTS = {
    "C": np.ascontiguousarray,
    "F": np.asfortranarray,
    "strided": lambda M: np.repeat(M, 2, axis=0)[::2],
}
# entries of X; the smaller one is left to NumPy
SIZES = {"few": (20, 6), "many": (2500, 6)}

WATCHED = """
import os
import time
import numpy as np
workers = [task for task in os.listdir("/proc/self/task") if int(task) != os.getpid()]
import splitmerge as sm
import scipy.sparse as sp

def spent():
    return sum(int(open(f"/proc/self/task/{task}/schedstat").read().split()[0]) for task in workers)

rng = np.random.default_rng(0)
A, B = sm.gallery.synthetic_pair(700, 10, rng=1)
near = sm.solve(A, B, rng=0).eigenvectors + 1e-6 * rng.standard_normal((700, 1))
ring = sp.diags_array([np.ones(11999), rng.standard_normal(12000), np.ones(11999)], offsets=[-1, 0, 1]).tocsr()
K, M = sm.gallery.fem_laplacian(2, 1, 40)
before = -1
while spent() != before:  # they wait in a loop for more of what made the problems
    before = spent()
    time.sleep(0.1)
for solution in (
    sm.solve(A, B, rng=0),
    sm.solve(A, B, 6, rng=0),
    sm.solve(A, B, x0=near, rng=0),
    sm.solve(A, B, x0=rng.standard_normal(700), rng=0),
    sm.solve(A, B, 3, certify=True, rng=0),
    sm.solve(ring, k=4, which="smallest", tol=1e-5, rng=0),
    sm.solve(K, M, 5, sigma=50.0, rng=0),
    sm.solve(K, M, 5, rng=0),
):
    assert solution.converged
print(len(workers), spent() - before)
"""


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.complex128, np.longdouble])
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("first", LAYOUTS)
@pytest.mark.parametrize("second", LAYOUTS)
def test_products_are_those_of_numpy(dtype, size, first, second):
    rng = np.random.default_rng(0)
    n, k = SIZES[size]

    def random(*shape):
        M = rng.standard_normal(shape)
        return (M + 1j * rng.standard_normal(shape) if np.iscomplexobj(dtype()) else M).astype(dtype)

    X, Y, C = LAYOUTS[first](random(n, k)), LAYOUTS[second](random(n, 5)), LAYOUTS[second](random(k, 5))
    tol = 1e-5 if np.finfo(dtype).eps > 1e-8 else 1e-12
    for found, expected in (
        (product(X, C), X @ C),
        (product(X, C[:, 0]), X @ C[:, 0]),
        (adjoint_product(X, Y), X.conj().T @ Y),
        (adjoint_product(X, Y[:, 0]), X.conj().T @ Y[:, 0]),
        (dot(X[:, 0], Y[:, 0]), np.vdot(X[:, 0], Y[:, 0])),
    ):
        assert found.shape == expected.shape
        assert found.dtype == expected.dtype
        assert np.abs(found - expected).max() <= tol * np.abs(expected).max()


@pytest.mark.parametrize("shapes", [((0, 3), (3, 2)), ((30_000, 0), (0, 4)), ((30_000, 3), (3, 0))])
def test_empty_products(shapes):
    X, Y = (np.ones(shape, order="F") for shape in shapes)
    assert np.array_equal(product(X, Y), X @ Y)
    assert np.array_equal(adjoint_product(X, X), X.T @ X)


def test_different_dtypes_are_multiplied_in_the_wider_one():
    X, C = np.ones((20_000, 3), np.float32), np.eye(3)
    assert product(X, C).dtype == np.float64
    assert adjoint_product(X, np.ones((20_000, 2))).dtype == np.float64
    assert dot(X[:, 0].copy(), np.ones(20_000)) == 20_000


def test_many_multiplications_do_not_use_numpy(monkeypatch):
    called = []
    routines = multiply._routines(np.dtype(float))
    watched = routines._replace(gemm=lambda *a, **o: called.append("gemm") or routines.gemm(*a, **o))
    monkeypatch.setattr(multiply, "_routines", lambda dtype: watched)
    X = np.ones((3001, 3), order="F")
    adjoint_product(X, X)
    assert called == ["gemm"]
    adjoint_product(X[:100], X[:100])
    assert called == ["gemm"]


@pytest.mark.skipif(not Path("/proc/self/schedstat").exists(), reason="the times of threads are those of Linux")
def test_no_search_wakes_the_threads_of_numpy():
    """They would keep cores from those of SciPy's BLAS, which cost a factor of ten with n = 16,384 on two cores."""
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "2"}
    run = subprocess.run([sys.executable, "-c", WATCHED], env=environment, capture_output=True, text=True, check=True)
    workers, nanoseconds = map(int, run.stdout.split())
    if workers == 0:
        pytest.skip("this NumPy has no threads of its own")
    assert nanoseconds < 2e6
