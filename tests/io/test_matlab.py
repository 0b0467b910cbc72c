"""MATLAB files: read as SciPy reads them, only what is asked for, and refused when damaged."""

import contextlib
import io
import struct
import tracemalloc
import zlib

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

from splitmerge.io.matlab.level4 import read_level_4
from splitmerge.io.matrices import read_matrix, read_pair
from splitmerge.solution.store.guard import UnreadableFile

RNG = np.random.default_rng(0)
N = 9
DENSE = RNG.standard_normal((N, N))
SPARSE = sp.csc_matrix(np.where(np.abs(DENSE) > 1, DENSE, 0))
MATRICES = {
    "double": DENSE,
    "single": DENSE.astype(np.float32),
    "complex": DENSE + 1j * DENSE.T,
    "int8": (10 * DENSE).astype(np.int8),
    "uint64": np.arange(81, dtype=np.uint64).reshape(N, N),
    "logical": DENSE > 0,
    "whole": np.eye(N),
    "small": np.eye(2, dtype=np.uint8),
    "sparse": SPARSE,
    "sparse complex": SPARSE * (1 + 2j),
    "sparse logical": sp.csc_matrix(SPARSE != 0),
    "sparse empty": sp.csc_matrix((N, N)),
    "sparse of order 1": sp.csc_matrix([[2.0]]),
}


def plain(M):
    return M.toarray() if sp.issparse(M) else M


@pytest.mark.parametrize("name", MATRICES)
@pytest.mark.parametrize("options", [{}, {"do_compression": True}, {"format": "4"}], ids=str)
def test_as_scipy_reads_it(tmp_path, name, options):
    path = tmp_path / "A.mat"
    if options == {"format": "4"} and name in ("int8", "uint64", "logical", "small", "sparse logical", "sparse empty"):
        pytest.skip("version 4 has no such type")
    scipy.io.savemat(path, {"A": MATRICES[name], "text": "words", "x": 3.0}, **options)
    expected = scipy.io.loadmat(path, spmatrix=False)["A"]
    found = read_matrix(path)
    assert sp.issparse(found) == sp.issparse(expected)
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(plain(found), plain(expected))


def test_other_things_in_the_file(tmp_path):
    path = tmp_path / "A.mat"
    others = {
        "cell": np.array([1, "a"], dtype=object),
        "record": {"x": DENSE},
        "row": np.ones(1),
        "cube": np.ones((2, 2, 2)),
    }
    scipy.io.savemat(
        path, {**others, "K": SPARSE, "M": np.eye(N), "long_name_of_a_matrix": DENSE}, long_field_names=True
    )
    A, B = read_pair(path)
    np.testing.assert_array_equal(A.toarray(), SPARSE.toarray())
    np.testing.assert_array_equal(B, np.eye(N))
    np.testing.assert_array_equal(read_matrix(f"{path}#long_name_of_a_matrix"), DENSE)
    with pytest.raises(ValueError, match="contains K, M, long_name_of_a_matrix, but no record"):
        read_matrix(f"{path}#record")


def test_big_endian(tmp_path):
    """Written by hand, since SciPy writes what the machine has."""
    values = DENSE[:2, :2].T.astype(">f8").tobytes()
    tag = struct.pack(">I", (1 << 16) | 1) + b"A\0\0\0"
    body = struct.pack(">4I", 6, 8, 6, 0) + struct.pack(">2I2i", 5, 8, 2, 2) + tag + struct.pack(">2I", 9, 32) + values
    data = b"MATLAB 5.0 MAT-file".ljust(124) + b"\x01\x00MI" + struct.pack(">2I", 14, len(body)) + body
    (tmp_path / "A.mat").write_bytes(data)
    np.testing.assert_array_equal(read_matrix(tmp_path / "A.mat"), DENSE[:2, :2])
    np.testing.assert_array_equal(scipy.io.loadmat(tmp_path / "A.mat")["A"], DENSE[:2, :2])


@pytest.mark.parametrize("order", "<>")
@pytest.mark.parametrize("kind", ["real", "complex", "sparse", "sparse complex"])
def test_version_4_in_either_byte_order(tmp_path, kind, order):
    """Written by hand: the thousands of the type tell the byte order of the machine that wrote the file."""
    M = np.array([[1.5, 0.0, 2.0], [0.0, -3.0, 0.0], [2.0, 0.0, 4.0]])
    M = M + 2j * M.T if "complex" in kind else M
    table, imaginary = M, "complex" in kind
    if "sparse" in kind:
        row, column = np.nonzero(M)
        entries = [row + 1, column + 1, M[row, column].real, *([M[row, column].imag] if imaginary else [])]
        table = np.column_stack([np.array(entries), [3, 3, *[0] * (len(entries) - 2)]]).T
    code, flag = 1000 * (order == ">") + 2 * ("sparse" in kind), int(imaginary and "sparse" not in kind)
    parts = [table.real, table.imag] if flag else [table]
    data = struct.pack(f"{order}5i", code, *table.shape, flag, 2) + b"A\0"
    (tmp_path / "A.mat").write_bytes(data + b"".join(part.T.astype(f"{order}f8").tobytes() for part in parts))
    np.testing.assert_array_equal(plain(read_matrix(tmp_path / "A.mat")), M)
    np.testing.assert_array_equal(plain(scipy.io.loadmat(tmp_path / "A.mat")["A"]), M)


def element(code, values):
    """An element of version 5: its tag, its numbers, and zeros up to a multiple of eight bytes."""
    data = values.tobytes()
    return struct.pack("<2I", code, len(data)) + data + b"\0" * (-len(data) % 8)


@pytest.mark.parametrize("order", range(3, 8))
@pytest.mark.parametrize(("code", "dtype"), [(1, "i1"), (2, "u1"), (3, "<i2"), (4, "<u2"), (5, "<i4"), (9, "<f8")])
@pytest.mark.parametrize("form", ["dense", "sparse"])
def test_numbers_in_the_smallest_type(tmp_path, form, code, dtype, order):
    """MATLAB stores whole numbers in the smallest type that holds them, SciPy does not; other parts follow them."""
    real, imaginary = (
        np.arange(order**2).reshape(order, order) % 50,
        np.arange(order**2)[::-1].reshape(order, order) % 7,
    )
    M = real + 1j * imaginary
    parts, kind = [real.T.ravel(), imaginary.T.ravel()], 6
    if form == "sparse":
        S = sp.csc_array(M)
        parts, kind = [S.data.real, S.data.imag], 5
    body = element(6, np.array([0x800 | kind, parts[0].size], "<u4")) + element(5, np.array([order] * 2, "<i4"))
    body += element(1, np.frombuffer(b"A", "i1"))
    if form == "sparse":
        body += element(5, S.indices.astype("<i4")) + element(5, S.indptr.astype("<i4"))
    body += b"".join(element(code, part.astype(dtype)) for part in parts)
    data = b"MATLAB 5.0 MAT-file".ljust(124) + b"\x00\x01IM" + struct.pack("<2I", 14, len(body)) + body
    (tmp_path / "A.mat").write_bytes(data)
    np.testing.assert_array_equal(plain(read_matrix(tmp_path / "A.mat")), M)
    np.testing.assert_array_equal(plain(scipy.io.loadmat(tmp_path / "A.mat")["A"]), M)


def test_what_is_not_asked_for_is_not_read(tmp_path):
    path = tmp_path / "A.mat"
    scipy.io.savemat(path, {"A": np.eye(3), "unasked": np.zeros((1000, 5000))}, do_compression=True)
    tracemalloc.start()
    try:
        np.testing.assert_array_equal(read_matrix(f"{path}#A"), np.eye(3))
        assert tracemalloc.get_traced_memory()[1] < 5_000_000
    finally:
        tracemalloc.stop()


def saved(**options):
    file = io.BytesIO()
    scipy.io.savemat(file, {"A": SPARSE}, **options)
    return file.getvalue()


def refused(path, data):
    path.write_bytes(data)
    with pytest.raises(ValueError, match=r"A\.mat: ") as caught:
        read_matrix(path)
    assert str(caught.value).isprintable()


@pytest.mark.parametrize("options", [{}, {"do_compression": True}, {"format": "4"}], ids=str)
@pytest.mark.parametrize("tenths", range(10))
def test_truncated(tmp_path, options, tenths):
    data = saved(**options)
    refused(tmp_path / "A.mat", data[: len(data) * tenths // 10])


@pytest.mark.parametrize("word", range(10))
@pytest.mark.parametrize("value", [0x7FFFFFFF, 0xFFFFFFFF, 0x80000000, 3])
def test_damaged_words_of_the_head(tmp_path, word, value):
    """No crash and no traceback; some words are not used."""
    for data, start in ((saved(), 128), (saved(format="4"), 0)):
        damaged = bytearray(data)
        struct.pack_into("<I", damaged, start + 4 * word, value)
        (tmp_path / "A.mat").write_bytes(damaged)
        with contextlib.suppress(UnreadableFile):
            read_matrix(tmp_path / "A.mat")


def test_checksum(tmp_path):
    data = bytearray(saved(do_compression=True))
    data[-1] ^= 1
    refused(tmp_path / "A.mat", data)


def test_indices_out_of_range(tmp_path):
    data = saved()
    indices = SPARSE.indices.astype("<i4").tobytes()
    assert indices in data
    refused(tmp_path / "A.mat", data.replace(indices, (SPARSE.indices + 5).astype("<i4").tobytes()))
    pointers = SPARSE.indptr.astype("<i4").tobytes()
    refused(tmp_path / "A.mat", data.replace(pointers, SPARSE.indptr[::-1].astype("<i4").tobytes()))


def test_nested_compression_and_junk(tmp_path):
    packed = zlib.compress(zlib.compress(saved()[128:]))
    refused(tmp_path / "A.mat", saved()[:128] + struct.pack("<2I", 15, len(packed)) + packed)
    refused(tmp_path / "A.mat", saved()[:128] + b"\0" * 64)
    refused(tmp_path / "A.mat", b"MATLAB 9.9".ljust(124) + b"\x00\x09IM")


class TestVersion73:
    def written(self, path, **parts):
        h5py = pytest.importorskip("h5py")
        C = sp.csc_array(SPARSE)
        content = {"data": C.data, "ir": C.indices.astype("u8"), "jc": C.indptr.astype("u8"), "rows": N} | parts
        with h5py.File(path, "w", userblock_size=512) as file:
            group = file.create_group("A")
            group.attrs["MATLAB_sparse"] = content.pop("rows")
            for name, part in content.items():
                group[name] = part
        data = b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM" + path.read_bytes()[128:]
        path.write_bytes(data)
        return data

    @pytest.mark.parametrize(
        "parts",
        [
            {"ir": np.full(SPARSE.nnz, -1)},
            {"ir": np.full(SPARSE.nnz, 10**6)},
            {"ir": np.ones(SPARSE.nnz)},
            {"jc": SPARSE.indptr[::-1]},
            {"jc": SPARSE.indptr[:-1]},
            {"jc": np.zeros((2, 2), int)},
            {"data": np.ones(3)},
            {"data": np.array([b"x"] * SPARSE.nnz)},
            {"rows": "nine"},
            {"rows": np.nan},
            {"rows": 10**15},
        ],
        ids=str,
    )
    def test_tampered(self, tmp_path, parts):
        refused(tmp_path / "A.mat", self.written(tmp_path / "A.mat", **parts))

    @pytest.mark.parametrize("tenths", range(10))
    def test_truncated(self, tmp_path, tenths):
        data = self.written(tmp_path / "A.mat")
        refused(tmp_path / "A.mat", data[: len(data) * tenths // 10])

    def test_declared_and_not_stored(self, tmp_path):
        h5py = pytest.importorskip("h5py")
        self.written(tmp_path / "A.mat")
        with h5py.File(tmp_path / "A.mat", "r+") as file:
            file.create_dataset("X", shape=(10**6, 10**6), dtype="f8", chunks=(10, 10))
            file["Y"] = h5py.ExternalLink("/dev/zero", "/x")
            file.create_dataset("Z", shape=(20, 20), dtype="f8", external=[("/dev/zero", 0, 3200)])
        with pytest.raises(ValueError, match=r"declares 8e\+03 GB, and 0 bytes are stored"):
            read_matrix(f"{tmp_path / 'A.mat'}#X")
        with pytest.raises(ValueError, match="contains A, X, Z, but no Y"):
            read_matrix(f"{tmp_path / 'A.mat'}#Y")
        with pytest.raises(ValueError, match="not as MATLAB saves it"):
            read_matrix(f"{tmp_path / 'A.mat'}#Z")


def test_what_follows_a_complex_sparse_matrix_of_version_4(tmp_path):
    """Its parts are columns of one matrix, not two of them."""
    path = tmp_path / "both.mat"
    first = sp.csc_array(np.diag([1.0, 2.0, 3.0]) + 1j * (np.eye(3, k=1) - np.eye(3, k=-1)))
    second = np.arange(6.0).reshape(2, 3)
    scipy.io.savemat(path, {"first": first, "second": second}, format="4")
    data = bytearray(path.read_bytes())
    # MATLAB sets the flag of complex matrices here, SciPy does not
    struct.pack_into("<i", data, 12, 1)
    path.write_bytes(data)
    found = read_level_4(path)
    np.testing.assert_array_equal(found["first"].load().toarray(), first.toarray())
    np.testing.assert_array_equal(found["second"].load(), second)
