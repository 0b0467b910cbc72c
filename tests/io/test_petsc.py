"""PETSc's binary matrices: the bytes, all four variants, ranges of rows, and what is said of damaged files."""

import os
import struct
import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp

import splitmerge as sm
from splitmerge.io import petsc
from splitmerge.io.matrices import read_matrix
from splitmerge.solution.store.guard import UnreadableFile

RNG = np.random.default_rng(0)
REAL = np.where(RNG.random((23, 23)) < 0.2, RNG.standard_normal((23, 23)), 0)
REAL[[0, 7, 8, 22]] = 0
REAL[:, 22] = 0
COMPLEX = REAL + 1j * np.roll(REAL, 3, 1)

# [[2, 0, −1.5], [0, 0, 0], [0.25, 3, 0]]
HEADER, LENGTHS, INDICES, VALUES = (1211216, 3, 3, 4), (2, 0, 2), (0, 2, 0, 1), (2.0, -1.5, 0.25, 3.0)
SMALL = np.array([[2, 0, -1.5], [0, 0, 0], [0.25, 3, 0]])
LETTERS = {4: "i", 8: "q"}

each_width = pytest.mark.parametrize("width", [4, 8])
each_matrix = pytest.mark.parametrize("M", [REAL, COMPLEX, np.array([[2.5]]), np.zeros((1, 1)), np.zeros((4, 4))])


def packed(width=4, *, header=HEADER, lengths=LENGTHS, indices=INDICES, values=VALUES):
    """The bytes of a file; complex values are those of a complex build."""
    integers = (*header, *lengths, *indices)
    parts = [part for x in values for part in ((x.real, x.imag) if isinstance(x, complex) else (x,))]
    return struct.pack(f">{len(integers)}{LETTERS[width]}{len(parts)}d", *integers, *parts)


def stored(tmp_path, data, name="A.petsc"):
    path = tmp_path / name
    path.write_bytes(data)
    return path


def refused(path, pattern, read=read_matrix):
    with pytest.raises(UnreadableFile, match=pattern) as caught:
        read(path)
    said = str(caught.value)
    assert said.startswith(str(path))
    assert said.isprintable()
    assert len(said) < 500


class TestBytes:
    @each_width
    def test_real(self, tmp_path, width):
        petsc.write_petsc(tmp_path / "A.petsc", sp.csr_array(SMALL), wide=width == 8)
        assert (tmp_path / "A.petsc").read_bytes() == packed(width)

    @each_width
    def test_complex(self, tmp_path, width):
        petsc.write_petsc(tmp_path / "A.petsc", sp.csr_array(SMALL * (1 - 2j)), wide=width == 8)
        assert (tmp_path / "A.petsc").read_bytes() == packed(width, values=[x * (1 - 2j) for x in VALUES])

    @pytest.mark.parametrize(
        "M",
        [
            SMALL,
            sp.csc_array(SMALL),
            sp.coo_matrix(SMALL),
            sp.csr_array(([-1.5, 2.0, 0.2, 3.0, 0.05], [2, 0, 0, 1, 0], [0, 2, 2, 5]), shape=(3, 3)),
            sp.csr_array(SMALL.astype(np.float32)),
        ],
        ids=["dense", "columns", "triples", "unsorted duplicates", "single"],
    )
    def test_every_form_of_a_matrix(self, tmp_path, M):
        before = M.copy()
        petsc.write_petsc(tmp_path / "A.petsc", M)
        assert (tmp_path / "A.petsc").read_bytes() == packed()
        if sp.issparse(M) and M.format == "csr":
            np.testing.assert_array_equal(M.indices, before.indices)

    def test_explicit_zeros_and_integers(self, tmp_path):
        M = sp.csr_array(([2, 0, 5], [0, 1, 1], [0, 2, 3]), shape=(2, 2))
        petsc.write_petsc(tmp_path / "A.petsc", M)
        expected = packed(header=(1211216, 2, 2, 3), lengths=(2, 1), indices=(0, 1, 1), values=(2.0, 0.0, 5.0))
        assert (tmp_path / "A.petsc").read_bytes() == expected

    def test_wide_where_indices_do_not_fit(self, tmp_path):
        M = sp.csr_array(([1.5], [2**31], [0, 1]), shape=(1, 2**31 + 1))
        petsc.write_petsc(tmp_path / "A.petsc", M)
        header = (1211216, 1, 2**31 + 1, 1)
        assert (tmp_path / "A.petsc").read_bytes() == packed(
            8, header=header, lengths=(1,), indices=(2**31,), values=(1.5,)
        )
        assert petsc.size(tmp_path / "A.petsc") == (1, 2**31 + 1)
        indptr, indices, _ = petsc.read_rows(tmp_path / "A.petsc", 0, 1)
        assert indptr.dtype == indices.dtype == np.int64
        assert indices.tolist() == [2**31]

    def test_a_failure_leaves_the_old_file(self, tmp_path, monkeypatch):
        stored(tmp_path, b"old")

        def full(descriptor):
            raise OSError("full")

        monkeypatch.setattr(os, "fsync", full)
        with pytest.raises(OSError, match="full"):
            petsc.write_petsc(tmp_path / "A.petsc", SMALL)
        assert (tmp_path / "A.petsc").read_bytes() == b"old"
        assert os.listdir(tmp_path) == ["A.petsc"]


class TestRoundTrip:
    @each_matrix
    @each_width
    @pytest.mark.parametrize("name", ["A.petsc", "A.PETSC", "A.dat"])
    def test_whole(self, tmp_path, M, width, name):
        petsc.write_petsc(tmp_path / name, M, wide=width == 8)
        found = read_matrix(tmp_path / name)
        assert isinstance(found, sp.csr_array)
        assert found.dtype == (M.dtype if M.any() else float)
        assert found.dtype.isnative
        np.testing.assert_array_equal(found.toarray(), M)

    @each_matrix
    @each_width
    def test_rows(self, tmp_path, M, width, monkeypatch):
        petsc.write_petsc(tmp_path / "A.petsc", M, wide=width == 8)
        monkeypatch.setattr("splitmerge.io.petsc.reading.CHUNK_NUMBERS", 5)
        n = M.shape[0]
        assert petsc.size(str(tmp_path / "A.petsc")) == (n, n)
        for first in range(n + 1):
            for last in range(first, n + 1):
                indptr, indices, data = petsc.read_rows(tmp_path / "A.petsc", first, last)
                expected = sp.csr_array(M)[first:last] if last > first else sp.csr_array((1, n))[:0]
                np.testing.assert_array_equal(indptr, expected.indptr[: last - first + 1])
                np.testing.assert_array_equal(indices, expected.indices)
                np.testing.assert_array_equal(data, expected.data)
                assert indptr.dtype == indices.dtype == np.int32
                assert data.dtype.isnative

    def test_a_pair_of_files(self, tmp_path):
        A, B = np.diag([1.0, 2.0, 3.0]), np.diag([1.0, 1.0, 2.0])
        petsc.write_petsc(tmp_path / "A.petsc", A)
        petsc.write_petsc(tmp_path / "B.petsc", B, wide=True)
        A, B = sm.read_pair(tmp_path / "A.petsc", tmp_path / "B.petsc")
        np.testing.assert_allclose(sm.solve(A, B, 2).eigenvalues, [2, 1.5])

    @each_width
    @pytest.mark.parametrize("value", [1.0, 1 - 2j])
    def test_dense(self, tmp_path, width, value):
        values = [x * value for x in SMALL.ravel().tolist()]
        data = packed(width, header=(1211216, 3, 3, -1), lengths=(), indices=(), values=values)
        found = read_matrix(stored(tmp_path, data))
        assert isinstance(found, np.ndarray)
        assert found.dtype.isnative
        np.testing.assert_array_equal(found, SMALL * value)
        assert petsc.size(tmp_path / "A.petsc") == (3, 3)
        refused(tmp_path / "A.petsc", "the matrix is dense", lambda path: petsc.read_rows(path, 0, 1))

    def test_rectangular(self, tmp_path):
        petsc.write_petsc(tmp_path / "A.petsc", SMALL[:2])
        assert petsc.size(tmp_path / "A.petsc") == (2, 3)
        assert petsc.read_rows(tmp_path / "A.petsc", 0, 2)[1].tolist() == [0, 2]
        refused(tmp_path / "A.petsc", r"shape \(2, 3\); a square matrix is needed")

    @pytest.mark.parametrize(("first", "last"), [(-1, 2), (2, 1), (0, 4), (4, 4)])
    def test_no_such_rows(self, tmp_path, first, last):
        petsc.write_petsc(tmp_path / "A.petsc", SMALL)
        with pytest.raises(ValueError, match=rf"first = {first} and last = {last} .* the 3 rows of .*A\.petsc"):
            petsc.read_rows(tmp_path / "A.petsc", first, last)

    def test_memory_is_that_of_the_rows(self, tmp_path):
        n = 1_000_000
        petsc.write_petsc(tmp_path / "A.petsc", sp.eye_array(n, format="csr"))
        tracemalloc.start()
        try:
            indptr, indices, _ = petsc.read_rows(tmp_path / "A.petsc", n - 10, n)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert indptr.size == 11
        assert indices.tolist() == list(range(n - 10, n))
        assert peak < 3_000_000


class TestDamaged:
    @each_width
    @pytest.mark.parametrize("value", [1.0, 1 - 2j])
    def test_truncated_anywhere(self, tmp_path, width, value):
        whole = packed(width, values=[x * value for x in VALUES])
        # half of the complex values are as long as all values of a real matrix
        looks_real = len(whole) - 8 * len(VALUES) if isinstance(value, complex) else None
        for length in set(range(len(whole))) - {looks_real}:
            path = stored(tmp_path, whole[:length])
            for read in (read_matrix, petsc.size, lambda path: petsc.read_rows(path, 0, 1)):
                refused(path, "does not begin|ends within its header|truncated", read)

    @each_width
    @pytest.mark.parametrize("more", [b"\0", bytes(8), packed()], ids=["byte", "number", "matrix"])
    def test_trailing_bytes(self, tmp_path, width, more):
        refused(stored(tmp_path, packed(width) + more), "more than one matrix")

    @each_width
    @pytest.mark.parametrize(
        ("header", "pattern"),
        [
            ((1211214, 3, 3, 4), "does not begin with 1211216"),
            ((-1211216, 3, 3, 4), "does not begin with 1211216"),
            ((1211216, -3, 3, 4), "declares -3 rows"),
            ((1211216, 3, -3, 4), "-3 columns"),
            ((1211216, 3, 3, -2), "-2 entries"),
            ((1211216, 3, 3, -1), "9 entries, which are"),
            ((1211216, 3, 3, 5), "5 entries, which are"),
            ((1211216, 2, 3, 4), "the file has"),
            ((1211216, 2**31 - 1, 2**31 - 1, 2**31 - 1), "the file has"),
            ((1211216, 3, 4, 4), "a square matrix is needed"),
        ],
    )
    def test_header(self, tmp_path, width, header, pattern):
        refused(stored(tmp_path, packed(width, header=header)), pattern)

    def test_sizes_beyond_64_bits(self, tmp_path):
        refused(stored(tmp_path, packed(8, header=(1211216, *[2**63 - 1] * 3))), "the file has")
        refused(stored(tmp_path, packed(8, header=(1211216, 2**63 - 1, 2**63 - 1, -1))), "the file has")

    def test_the_other_byte_order_and_single_precision(self, tmp_path):
        swapped = struct.pack("<11i4d", *HEADER, *LENGTHS, *INDICES, *VALUES)
        refused(stored(tmp_path, swapped), "does not begin with 1211216")
        single = struct.pack(">11i4f", *HEADER, *LENGTHS, *INDICES, *VALUES)
        refused(stored(tmp_path, single), "in single precision")

    @each_width
    @pytest.mark.parametrize(
        ("lengths", "pattern"),
        [
            ((-1, 3, 2), "its row 0 has the length -1, outside of 0 … 3"),
            ((2, -2, 4), "its row 1 has the length -2"),
            ((4, 0, 0), "its row 0 has the length 4"),
            ((2, 0, 1), "add up to 3, and its header declares 4 entries"),
            ((2, 1, 2), "exceed the 4 entries"),
            ((3, 3, 3), "exceed the 4 entries"),
            ((2**31 - 1, 2**31 - 1, 6), "its row 0 has the length 2147483647"),
        ],
    )
    def test_lengths(self, tmp_path, width, lengths, pattern):
        path = stored(tmp_path, packed(width, lengths=lengths))
        refused(path, pattern)
        refused(path, pattern, lambda path: petsc.read_rows(path, 0, 3))

    @each_width
    def test_lengths_before_the_rows(self, tmp_path, width):
        path = stored(tmp_path, packed(width, lengths=(-2, 3, 3)))
        refused(path, "its row 0 has the length -2", lambda path: petsc.read_rows(path, 1, 2))
        path = stored(tmp_path, packed(width, lengths=(3, 3, 0)))
        refused(path, "exceed the 4 entries", lambda path: petsc.read_rows(path, 2, 3))

    @each_width
    @pytest.mark.parametrize(
        ("indices", "pattern"),
        [
            ((0, 3, 0, 1), "column indices go from 0 to 3, outside of 0 … 2"),
            ((0, 2, -1, 1), "column indices go from -1 to 2"),
            ((0, 2, 0, 2**31 - 1), "outside of 0 … 2"),
            ((2, 0, 0, 1), "column indices of its row 0 do not increase"),
            ((0, 2, 1, 0), "column indices of its row 2 do not increase"),
            ((0, 2, 1, 1), "column indices of its row 2 do not increase"),
        ],
    )
    def test_indices(self, tmp_path, width, indices, pattern):
        path = stored(tmp_path, packed(width, indices=indices))
        refused(path, pattern)
        refused(path, pattern, lambda path: petsc.read_rows(path, 0, 3))

    def test_indices_beyond_32_bits(self, tmp_path):
        refused(stored(tmp_path, packed(8, indices=(0, 2**32, 0, 1))), "go from 0 to 4294967296")

    def test_a_row_that_is_not_the_first_of_the_range(self, tmp_path):
        path = stored(tmp_path, packed(indices=(0, 2, 1, 0)))
        refused(path, "its row 2 do not increase", lambda path: petsc.read_rows(path, 1, 3))
        assert petsc.read_rows(path, 0, 2)[1].tolist() == [0, 2]

    def test_a_huge_file_of_nothing(self, tmp_path):
        """Where holes take no space, a file may have the size that its header declares."""
        entries = 10**12
        path = stored(tmp_path, packed(8, header=(1211216, 3, 3, entries), lengths=(), indices=(), values=()))
        try:
            os.truncate(path, 32 + 24 + 16 * entries)
        except OSError:
            pytest.skip("the file system has no such files")
        refused(path, "available|add up to 0")

    @pytest.mark.parametrize("read", [petsc.size, lambda path: petsc.read_rows(path, 0, 1)], ids=["size", "rows"])
    def test_not_a_regular_file(self, tmp_path, read):
        refused(tmp_path / "absent.petsc", "no such file", read)
        refused(tmp_path, "this is a folder", read)
        if hasattr(os, "mkfifo"):
            os.mkfifo(tmp_path / "A.petsc")
            refused(tmp_path / "A.petsc", "a pipe, a socket or a device", read)
