"""MATLAB's files: checksums of what is compressed, what else is in a file, and sparse matrices of version 7.3."""

import struct
import zlib

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

from splitmerge.io.matlab import level5
from splitmerge.io.matrices import read_matrix, read_pair
from splitmerge.solution.store.guard import UnreadableFile

RNG = np.random.default_rng(3)
SQUARE = RNG.standard_normal((6, 6))
SYMMETRIC = np.where(np.abs(SQUARE + SQUARE.T) > 1, SQUARE + SQUARE.T, 0) + 3 * np.eye(6)


def dense(M):
    return M.toarray() if sp.issparse(M) else np.asarray(M)


MATRICES = {
    "dense": SYMMETRIC,
    "complex": SYMMETRIC + 1j * (SQUARE - SQUARE.T),
    "sparse": sp.csc_array(SYMMETRIC),
    "sparse complex": sp.csc_array(SYMMETRIC * (2 - 1j)),
    "bytes": np.rint(SYMMETRIC).astype(np.int8),
    "longer than what is read at a time": 1 + np.arange(10_000.0).reshape(100, 100),
}


class TestMatlab:
    """Version 7, whose elements are compressed, and whose checksums are at their ends."""

    def stored(self, path, M):
        """Deflate with the bytes as they are: changed ones are as good as before, but for the checksum."""
        scipy.io.savemat(path, {"A": M})
        data = path.read_bytes()
        packed = zlib.compress(data[128:], 0)
        whole = data[:128] + struct.pack("<2I", 15, len(packed)) + packed
        path.write_bytes(whole)
        return whole

    @pytest.mark.parametrize("name", MATRICES)
    def test_damaged_numbers(self, tmp_path, name):
        path, M = tmp_path / "A.mat", MATRICES[name]
        whole = self.stored(path, M)
        np.testing.assert_array_equal(dense(read_matrix(path)), dense(M))
        data = M.data if sp.issparse(M) else M
        for number in (data.real.ravel()[0], data.real.ravel()[-1]):
            at = whole.index(number.tobytes()) + number.itemsize - 1
            path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
            with pytest.raises(UnreadableFile, match=r"A\.mat: the file is corrupt"):
                read_matrix(path)

    @pytest.mark.parametrize("byte", range(4))
    def test_damaged_checksum(self, tmp_path, byte):
        path = tmp_path / "A.mat"
        for M in MATRICES.values():
            whole = bytearray(self.stored(path, M))
            whole[-1 - byte] ^= 1
            path.write_bytes(whole)
            with pytest.raises(UnreadableFile, match=r"A\.mat: the file is corrupt"):
                read_matrix(path)

    @pytest.mark.parametrize("rest", [1, 2, 3, 4])
    def test_a_checksum_in_the_next_piece_of_the_file(self, tmp_path, rest):
        """The last bytes of the checksum are not read together with the numbers."""
        M = 1 + np.arange(8100.0).reshape(90, 90)
        for name in ("A" * 5, "A" * 9, "A" * 17, "A" * 25, "A" * 33):
            scipy.io.savemat(tmp_path / "A.mat", {name: M}, long_field_names=True)
            data = (tmp_path / "A.mat").read_bytes()
            body = data[128:]
            spare = level5.CHUNK_BYTES + rest - (2 + len(body) + 5 + 4)
            if spare % 5 == 0:
                break
        # blocks of nothing, which take five bytes each
        packed = b"\x78\x01" + spare // 5 * struct.pack("<BHH", 0, 0, 0xFFFF)
        packed += struct.pack("<BHH", 1, len(body), len(body) ^ 0xFFFF) + body
        packed += struct.pack(">I", zlib.adler32(body))
        assert len(packed) == level5.CHUNK_BYTES + rest
        whole = data[:128] + struct.pack("<2I", 15, len(packed)) + packed
        (tmp_path / "A.mat").write_bytes(whole)
        np.testing.assert_array_equal(read_matrix(tmp_path / "A.mat"), M)
        (tmp_path / "A.mat").write_bytes(whole.replace(np.float64(4000.0).tobytes(), np.float64(4000.5).tobytes()))
        with pytest.raises(UnreadableFile, match=r"A\.mat: the file is corrupt"):
            read_matrix(tmp_path / "A.mat")

    @pytest.mark.parametrize("nameless", [0, 1, 2])
    def test_the_workspace_of_functions_has_no_name(self, tmp_path, nameless):
        scipy.io.savemat(tmp_path / "A.mat", {"K": SYMMETRIC, "M": np.eye(6)})
        data = (tmp_path / "A.mat").read_bytes()
        body = struct.pack("<4I", 6, 8, 9, 0) + struct.pack("<2I2i", 5, 8, 1, 64) + struct.pack("<2I", 1, 0)
        body += struct.pack("<2I", 2, 64) + bytes(64)
        extra = struct.pack("<2I", 14, len(body)) + body
        length = 8 + struct.unpack("<I", data[132:136])[0]
        at = (128, 128 + length, len(data))[nameless]
        (tmp_path / "A.mat").write_bytes(data[:at] + extra + data[at:])
        np.testing.assert_array_equal(read_pair(tmp_path / "A.mat")[0], SYMMETRIC)
        with pytest.raises(UnreadableFile, match="contains K, M, but no Z; select one"):
            read_matrix(f"{tmp_path / 'A.mat'}#Z")

    def test_only_matrices_are_listed(self, tmp_path):
        """Version 7.3: numbers, rows, cubes, words and empty matrices are passed over."""
        h5py = pytest.importorskip("h5py")
        with h5py.File(tmp_path / "A.mat", "w", userblock_size=512) as file:
            file["K"] = SYMMETRIC.T
            file["a"], file["b"], file["c"], file["d"] = 3.0, np.ones(5), np.ones((2, 2, 2)), np.ones((1, 1))
            file["e"], file["f"] = np.zeros((0, 0)), np.array([[b"x", b"y"]])
            file["g"] = h5py.Empty("f8")
            file["type"] = np.dtype("f8")
            file.create_group("h")["x"] = np.ones((2, 2))
        data = (tmp_path / "A.mat").read_bytes()
        (tmp_path / "A.mat").write_bytes(b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM" + data[128:])
        np.testing.assert_array_equal(read_matrix(tmp_path / "A.mat"), SYMMETRIC)
        for name in "abcdegh":
            with pytest.raises(ValueError, match=f"contains K.*, but no {name};"):
                read_matrix(f"{tmp_path / 'A.mat'}#{name}")

    @pytest.mark.parametrize("kind", ["real", "complex", "int", "empty"])
    def test_sparse_matrices_of_version_73(self, tmp_path, kind):
        h5py = pytest.importorskip("h5py")
        M = SYMMETRIC + np.triu(SYMMETRIC, 1)
        M = {"real": M, "complex": M + 2j * M.T, "int": np.rint(M).astype(np.int32), "empty": 0 * M}[kind]
        C = sp.csc_array(M)
        data = C.data
        if kind == "complex":
            data = np.zeros(C.nnz, [("real", float), ("imag", float)])
            data["real"], data["imag"] = C.data.real, C.data.imag
        with h5py.File(tmp_path / "A.mat", "w", userblock_size=512) as file:
            group = file.create_group("K")
            group.attrs["MATLAB_sparse"] = np.uint64(6)
            group["jc"] = C.indptr.astype("u8")
            if kind != "empty":
                group["data"], group["ir"] = data, C.indices.astype("u8")
        raw = (tmp_path / "A.mat").read_bytes()
        (tmp_path / "A.mat").write_bytes(b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM" + raw[128:])
        np.testing.assert_array_equal(read_matrix(tmp_path / "A.mat").toarray(), M)
