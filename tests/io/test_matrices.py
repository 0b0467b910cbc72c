"""Pairs from files of every kind, and what is said of damaged ones."""

from __future__ import annotations

import gzip

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

import splitmerge as sm
from boeing import boeing
from splitmerge.io.matrices import read_matrix

RNG = np.random.default_rng(0)
DENSE = RNG.standard_normal((7, 7))
DENSE = DENSE + DENSE.T
SPARSE = sp.csr_array(np.where(np.abs(DENSE) > 1, DENSE, 0))
HERMITIAN = DENSE + 1j * (np.triu(DENSE, 1) - np.tril(DENSE, -1))


def equal(found, expected, kind):
    assert isinstance(found, kind)
    found, expected = (M.toarray() if sp.issparse(M) else M for M in (found, expected))
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("suffix", [".mtx", ".mtx.gz"])
@pytest.mark.parametrize("symmetry", ["general", "symmetric"])
def test_matrix_market(tmp_path, suffix, symmetry):
    path = tmp_path / f"A{suffix}"
    with gzip.open(path, "wb") if suffix.endswith("gz") else path.open("wb") as file:
        scipy.io.mmwrite(file, SPARSE, symmetry=symmetry)
    equal(read_matrix(path), SPARSE, sp.csr_array)
    scipy.io.mmwrite(tmp_path / "D.mtx", DENSE, symmetry=symmetry)
    equal(read_matrix(tmp_path / "D.mtx"), DENSE, np.ndarray)


def test_matrix_market_hermitian(tmp_path):
    scipy.io.mmwrite(tmp_path / "A.mtx", sp.coo_array(HERMITIAN), symmetry="hermitian")
    equal(read_matrix(str(tmp_path / "A.mtx")), HERMITIAN, sp.csr_array)


class TestBoeing:
    @pytest.mark.parametrize("kind", ["RSA", "RUA"])
    @pytest.mark.parametrize("value_format", ["(3E25.16)", "(1P,3D25.16)", "(1P3E25.16E3)"])
    @pytest.mark.parametrize("name", ["A.hb", "A.rb", "A.rsa"])
    def test_real(self, tmp_path, kind, value_format, name):
        equal(read_matrix(boeing(tmp_path, SPARSE, kind, value_format=value_format, name=name)), SPARSE, sp.csr_array)

    @pytest.mark.parametrize("kind", ["CHA", "CUA"])
    def test_complex(self, tmp_path, kind):
        equal(read_matrix(boeing(tmp_path, HERMITIAN, kind)), HERMITIAN, sp.csr_array)

    def test_pattern_and_right_hand_sides(self, tmp_path):
        path = boeing(tmp_path, SPARSE, "PSA", values=False, right_sides=True)
        equal(read_matrix(path), (SPARSE != 0).astype(float), sp.csr_array)

    def test_as_scipy_writes_it(self, tmp_path):
        scipy.io.hb_write(tmp_path / "A.hb", sp.csc_matrix(SPARSE))
        equal(read_matrix(tmp_path / "A.hb"), SPARSE, sp.csr_array)

    def test_exponent_without_a_letter(self, tmp_path):
        path = boeing(tmp_path, sp.csr_array(np.diag([1.0, 2.0])), "RSA")
        path.write_text(path.read_text().replace("2.0000000000000000E+00", "2.0000000000000000-120"))
        np.testing.assert_allclose(read_matrix(path).toarray(), np.diag([1.0, 2e-120]), rtol=1e-15)

    @pytest.mark.parametrize("keep", [0, 1, 2, 3, 4, 5, 7, -1])
    def test_truncated(self, tmp_path, keep):
        path = boeing(tmp_path, SPARSE, "RSA")
        lines = path.read_text().splitlines()[:keep]
        path.write_text("\n".join(lines) + "\n" if lines else "")
        with pytest.raises(ValueError, match=rf"A\.hb: line {len(lines) + 1}: the file ends where"):
            read_matrix(path)

    @pytest.mark.parametrize(
        ("old", "new", "message"),
        [
            ("RSA", "XSA", "line 3: unknown matrix type 'XSA'"),
            ("RSA", "RSE", "line 3: the matrix is stored by unassembled elements"),
            ("(8I10)", "(8Q10)", "unknown Fortran format"),
            ("             7             7", "             7             x", "line 3: rows, columns and entries"),
        ],
    )
    def test_lying_header(self, tmp_path, old, new, message):
        path = boeing(tmp_path, SPARSE, "RSA")
        assert old in path.read_text()
        path.write_text(path.read_text().replace(old, new, 1))
        with pytest.raises(ValueError, match=r"A\.hb: ") as caught:
            read_matrix(path)
        assert message in str(caught.value)

    def test_index_out_of_range(self, tmp_path):
        path = boeing(tmp_path, SPARSE, "RSA")
        lines = path.read_text().splitlines()
        lines[5] = lines[5].replace(f"{7:10d}", f"{9:10d}")
        path.write_text("\n".join(lines) + "\n")
        with pytest.raises(ValueError, match="not all between 1 and 7"):
            read_matrix(path)


class TestNumpy:
    def test_npy_and_npz(self, tmp_path):
        np.save(tmp_path / "A.npy", DENSE)
        sp.save_npz(tmp_path / "S.npz", SPARSE)
        np.savez(tmp_path / "one.npz", X=DENSE, label=np.array("words"))
        equal(read_matrix(tmp_path / "A.npy"), DENSE, np.ndarray)
        equal(read_matrix(tmp_path / "S.npz"), SPARSE, sp.csr_array)
        equal(read_matrix(tmp_path / "one.npz"), DENSE, np.ndarray)
        A, B = sm.read_pair(tmp_path / "A.npy", tmp_path / "S.npz")
        equal(A, DENSE, np.ndarray)
        equal(B, SPARSE, sp.csr_array)

    @pytest.mark.parametrize("names", [("A", "B"), ("k", "m"), ("F", "S"), ("H", "S")])
    def test_both_in_one_file(self, tmp_path, names):
        np.savez(tmp_path / "pair.npz", **{names[0]: DENSE, names[1]: np.eye(7), "other": np.eye(3)})
        A, B = sm.read_pair(tmp_path / "pair.npz")
        equal(A, DENSE, np.ndarray)
        equal(B, np.eye(7), np.ndarray)
        A, B = sm.read_pair(f"{tmp_path / 'pair.npz'}#other")
        assert A.shape == (3, 3)
        assert B is None

    def test_a_folder_with_a_mark_in_its_name(self, tmp_path):
        """The name of a matrix follows the last mark."""
        folder = tmp_path / "run #1"
        folder.mkdir()
        np.savez(folder / "pair.npz", K=DENSE, M=np.eye(7))
        equal(read_matrix(f"{folder / 'pair.npz'}#K"), DENSE, np.ndarray)
        equal(sm.read_pair(folder / "pair.npz")[1], np.eye(7), np.ndarray)

    def test_no_pickles(self, tmp_path):
        np.save(tmp_path / "A.npy", np.array([[{}]], dtype=object), allow_pickle=True)
        with pytest.raises(ValueError, match=r"A\.npy: matrix consists of Python objects"):
            read_matrix(tmp_path / "A.npy")


class TestMatlab:
    def test_version_5(self, tmp_path):
        scipy.io.savemat(tmp_path / "pair.mat", {"K": sp.csc_matrix(SPARSE), "M": DENSE, "text": "words", "x": 3.0})
        A, B = sm.read_pair(tmp_path / "pair.mat")
        equal(A, SPARSE, sp.csr_array)
        equal(B, DENSE, np.ndarray)

    def test_version_73(self, tmp_path):
        h5py = pytest.importorskip("h5py")
        C = sp.csc_array(SPARSE)
        with h5py.File(tmp_path / "pair.mat", "w", userblock_size=512) as file:
            group = file.create_group("K")
            group.attrs["MATLAB_sparse"] = np.uint64(7)
            group["data"], group["ir"], group["jc"] = C.data, C.indices.astype("u8"), C.indptr.astype("u8")
            file["M"] = DENSE.T
            pairs = np.zeros((7, 7), [("real", float), ("imag", float)])
            pairs["real"], pairs["imag"] = HERMITIAN.T.real, HERMITIAN.T.imag
            file["Z"] = pairs
        header = b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM"
        with (tmp_path / "pair.mat").open("r+b") as file:
            file.write(header)
        A, B = sm.read_pair(tmp_path / "pair.mat")
        equal(A, SPARSE, sp.csr_array)
        equal(B, DENSE, np.ndarray)
        equal(read_matrix(f"{tmp_path / 'pair.mat'}#Z"), HERMITIAN, np.ndarray)


class TestDamaged:
    @pytest.mark.parametrize("name", ["A.mtx", "A.mtx.gz", "A.npz", "S.npz", "A.npy", "A.mat"])
    @pytest.mark.parametrize("share", [0.0, 0.3, 0.9])
    def test_truncated(self, tmp_path, name, share):
        path = tmp_path / name
        if name == "A.mtx":
            scipy.io.mmwrite(path, SPARSE)
        elif name == "A.mtx.gz":
            with gzip.open(path, "wb") as file:
                scipy.io.mmwrite(file, SPARSE)
        elif name == "A.mat":
            scipy.io.savemat(path, {"A": DENSE})
        elif name == "A.npy":
            np.save(path, DENSE)
        else:
            (sp.save_npz if name == "S.npz" else np.savez)(path, SPARSE if name == "S.npz" else DENSE)
        whole = path.read_bytes()
        path.write_bytes(whole[: int(share * len(whole))])
        with pytest.raises(ValueError, match=name.replace(".", r"\.")):
            read_matrix(path)

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 1.0\n2 2 1.0\n", "(?i)line|truncated"),
            ("%%MatrixMarket matrix coordinate real general\n2 2 1\n3 1 1.0\n", "(?i)line 3"),
            ("%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 x\n", "(?i)line 3"),
            ("%%MatrixMarket matrix nonsense real general\n2 2 1\n1 1 1\n", "(?i)line 1|nonsense|invalid"),
        ],
    )
    def test_lying_matrix_market(self, tmp_path, text, message):
        (tmp_path / "A.mtx").write_text(text)
        with pytest.raises(ValueError, match=message) as caught:
            read_matrix(tmp_path / "A.mtx")
        assert str(caught.value).startswith(str(tmp_path / "A.mtx"))

    def test_not_a_matrix(self, tmp_path):
        np.save(tmp_path / "A.npy", np.ones((2, 3)))
        with pytest.raises(ValueError, match=r"shape \(2, 3\); a square matrix"):
            read_matrix(tmp_path / "A.npy")
        np.save(tmp_path / "B.npy", np.array([["a", "b"], ["c", "d"]]))
        with pytest.raises(ValueError, match="numeric matrix is needed"):
            read_matrix(tmp_path / "B.npy")

    def test_no_such_thing(self, tmp_path):
        for name in ("A.mtx", "A.hb", "A.npz", "A.npy", "A.mat"):
            with pytest.raises(ValueError, match="no such file"):
                read_matrix(tmp_path / name)
        with pytest.raises(ValueError, match="unknown file format"):
            read_matrix(tmp_path / "A.csv")
        (tmp_path / "folder.npy").mkdir()
        with pytest.raises(ValueError, match="folder"):
            read_matrix(tmp_path / "folder.npy")
        np.savez(tmp_path / "two.npz", X=DENSE, Y=DENSE)
        with pytest.raises(ValueError, match="contains X, Y; select one"):
            read_matrix(tmp_path / "two.npz")
        with pytest.raises(ValueError, match="contains X, Y, but no Z"):
            read_matrix(f"{tmp_path / 'two.npz'}#Z")


@pytest.mark.parametrize("end", ["", " ", "\n"], ids=["nothing", "blank", "newline"])
def test_a_pattern_without_a_newline_at_its_end(tmp_path, end):
    """SciPy's reader goes beyond the end of such a file."""
    path = tmp_path / "A.mtx"
    path.write_text(f"%%MatrixMarket matrix coordinate pattern general\n3 3 3\n1 1\n2 2\n3 3{end}")
    np.testing.assert_array_equal(read_matrix(path).toarray(), np.eye(3))
