"""Matrices written in every format are read again as they were."""

import os

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

from splitmerge.io.matrices import read_matrix
from splitmerge.io.writing import SUFFIXES, write_matrix
from splitmerge.solution.store.replacement import UnwritableFile

RNG = np.random.default_rng(1)
GENERAL = np.where(RNG.random((9, 9)) < 0.4, RNG.standard_normal((9, 9)), 0)
SYMMETRIC = GENERAL + GENERAL.T
HERMITIAN = SYMMETRIC + 1j * (GENERAL - GENERAL.T)
MATRICES = {
    "general": GENERAL,
    "symmetric": SYMMETRIC,
    "hermitian": HERMITIAN,
    "complex symmetric": SYMMETRIC * (1 + 2j),
    "complex": GENERAL * (1 - 1j),
    "one": np.array([[1 / 3]]),
    "zero": np.zeros((2, 2)),
    "single": SYMMETRIC.astype(np.float32),
    "half": SYMMETRIC.astype(np.float16),
    "single complex": HERMITIAN.astype(np.complex64),
    "integers": np.round(10 * SYMMETRIC).astype(int),
    "unsigned": np.round(np.abs(GENERAL)).astype(np.uint8),
    "booleans": SYMMETRIC != 0,
    "extreme": np.diag([5e-324, 1.7976931348623157e308, 0.1]),
    "not finite": np.diag([np.nan, np.inf, 1.0]),
}
CYCLE = np.roll(np.eye(5), 1, axis=1)
# as many entries in every row as in the column of its number, or the same entries but for signs
NOT_SYMMETRIC = {
    "cycle": CYCLE,
    "cycle with a diagonal": np.eye(5) + CYCLE,
    "two cycles": CYCLE + CYCLE @ CYCLE,
    "pattern of a symmetric one": np.eye(5) + CYCLE + 2 * CYCLE.T,
    "skew-symmetric": CYCLE - CYCLE.T,
    "imaginary and symmetric up to a sign": 1j * np.eye(5) + CYCLE + 1j * CYCLE.T,
    "complex cycle": (1 + 1j) * CYCLE,
}
each_suffix = pytest.mark.parametrize("suffix", SUFFIXES)


def dense(M):
    return M.toarray() if sp.issparse(M) else M


def banner(path):
    return path.read_text().split("\n", 1)[0].split()[1:]


@each_suffix
@pytest.mark.parametrize("name", MATRICES)
@pytest.mark.parametrize("is_sparse", [False, True])
def test_round_trip(tmp_path, suffix, name, is_sparse):
    M = MATRICES[name]
    if is_sparse:
        # SciPy has no sparse matrices in half precision
        M = sp.csr_array(M.astype(np.float32) if name == "half" else M)
    path = tmp_path / f"A{suffix}"
    written = write_matrix(path, M)
    found = read_matrix(path)
    np.testing.assert_array_equal(dense(found), dense(M))
    assert written.n == M.shape[0]
    assert sp.issparse(found) is (suffix != ".npy" and (is_sparse or suffix != ".mtx"))
    if suffix == ".npy":
        assert written.entries == M.shape[0] ** 2
    elif suffix != ".mtx":
        assert written.entries == found.nnz


@each_suffix
@pytest.mark.parametrize("name", NOT_SYMMETRIC)
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array, sp.csc_array, sp.coo_array])
def test_a_matrix_that_is_not_symmetric_is_not_written_as_one(tmp_path, suffix, name, kind):
    M = NOT_SYMMETRIC[name]
    assert write_matrix(tmp_path / f"A{suffix}", kind(M)).symmetry == "general"
    np.testing.assert_array_equal(dense(read_matrix(tmp_path / f"A{suffix}")), M)


class TestMatrixMarket:
    @pytest.mark.parametrize(
        ("name", "symmetry"),
        [
            ("general", "general"),
            ("symmetric", "symmetric"),
            ("hermitian", "hermitian"),
            ("complex symmetric", "symmetric"),
            ("complex", "general"),
            ("integers", "symmetric"),
        ],
    )
    @pytest.mark.parametrize("is_sparse", [False, True])
    def test_symmetric_storage(self, tmp_path, name, symmetry, is_sparse):
        M = MATRICES[name]
        written = write_matrix(tmp_path / "A.mtx", sp.csr_array(M) if is_sparse else M)
        assert banner(tmp_path / "A.mtx")[-1] == written.symmetry == symmetry
        lines = [line for line in (tmp_path / "A.mtx").read_text().splitlines() if not line.startswith("%")]
        assert written.entries == len(lines) - 1
        if is_sparse:
            assert written.entries == np.count_nonzero(M if symmetry == "general" else np.tril(M))
        np.testing.assert_array_equal(dense(scipy.io.mmread(tmp_path / "A.mtx", spmatrix=False)), M)

    @pytest.mark.parametrize("is_sparse", [False, True])
    def test_the_last_bit(self, tmp_path, is_sparse):
        M = SYMMETRIC.copy()
        i, j = np.argwhere(np.triu(M, 1))[0]
        M[i, j] = np.nextafter(M[i, j], 9)
        assert write_matrix(tmp_path / "A.mtx", sp.csr_array(M) if is_sparse else M).symmetry == "general"

    def test_a_zero_that_is_stored_in_one_triangle(self, tmp_path):
        M = sp.csr_array(([1.0, 0.0, 1.0], [0, 1, 1], [0, 2, 3]), shape=(2, 2))
        written = write_matrix(tmp_path / "A.mtx", M)
        assert (written.symmetry, written.entries) == ("general", 3)


@each_suffix
class TestEveryFormat:
    def test_unsorted_duplicates(self, tmp_path, suffix):
        M = sp.csr_array(([1.0, 2.0, 3.0, 4.0], [1, 0, 1, 1], [0, 3, 4]), shape=(2, 2))
        write_matrix(tmp_path / f"A{suffix}", M)
        np.testing.assert_array_equal(dense(read_matrix(tmp_path / f"A{suffix}")), [[2, 4], [0, 4]])
        assert M.indices.tolist() == [1, 0, 1, 1]

    def test_same_bytes_again(self, tmp_path, suffix):
        for name in ("A", "B"):
            write_matrix(tmp_path / f"{name}{suffix}", sp.csc_array(SYMMETRIC))
        assert (tmp_path / f"A{suffix}").read_bytes() == (tmp_path / f"B{suffix}").read_bytes()

    def test_only_regular_files_are_replaced(self, tmp_path, suffix):
        path = tmp_path / f"A{suffix}"
        path.mkdir()
        with pytest.raises(UnwritableFile, match="this is a folder"):
            write_matrix(path, SYMMETRIC)
        assert os.listdir(tmp_path) == [path.name]


def test_unknown_format(tmp_path):
    with pytest.raises(ValueError, match=r"A\.csv: unknown file format; give a name that ends in \.petsc, \.mtx"):
        write_matrix(tmp_path / "A.csv", SYMMETRIC)


def test_a_dense_matrix_beyond_the_memory(tmp_path):
    n = 10_000_000
    with pytest.raises(ValueError, match=r"A\.npy: a dense matrix of order 10000000 needs 8e\+05 GB"):
        write_matrix(tmp_path / "A.npy", sp.eye_array(n, format="csr"))
    assert os.listdir(tmp_path) == []
