"""What is told of files that cannot be read, and where the limits are."""

import os

import numpy as np
import pytest

from splitmerge.solution.store import guard
from splitmerge.solution.store.compressed import check_compressed, check_numbers, check_range, index_array, native
from splitmerge.solution.store.guard import (
    QUOTED_CHARACTERS,
    UnreadableFile,
    amount,
    check_memory,
    check_regular,
    foreign,
    named,
    quoted,
)


@pytest.mark.parametrize(
    ("size", "told"),
    [
        (0, "0 bytes"),
        (999, "999 bytes"),
        (1000, "1 kB"),
        (1234, "1.23 kB"),
        (999_000, "999 kB"),
        (1e6, "1 MB"),
        (2_500_000, "2.5 MB"),
        (1e9, "1 GB"),
        (123_456_789_000, "123 GB"),
    ],
)
def test_amounts(size, told):
    assert amount(size) == told


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("one\ntwo\t three  ", "one two three"),
        ("a\x00b\x1bc", "a?b?c"),
        ("", ""),
        ("λ ≤ 1", "λ ≤ 1"),
        ("x" * QUOTED_CHARACTERS, "x" * QUOTED_CHARACTERS),
        ("x" * (QUOTED_CHARACTERS + 1), "x" * (QUOTED_CHARACTERS - 1) + "…"),
        ("x" * 10**6, "x" * (QUOTED_CHARACTERS - 1) + "…"),
    ],
    ids=range(7),
)
def test_quoted(text, told):
    assert quoted(text) == told


class TestForeign:
    @pytest.mark.parametrize(
        ("error", "told"),
        [
            (ValueError("bad\nheader"), "it is bad: bad header"),
            (KeyError(), "it is bad: KeyError"),
            (MemoryError(), "it is bad: it does not fit into memory"),
            (RecursionError("deep"), "it is bad: it is nested too deeply"),
            (UnreadableFile("as it was"), "as it was"),
        ],
    )
    def test_everything_becomes_one_class(self, error, told):
        with pytest.raises(UnreadableFile) as caught, foreign("it is bad"):
            raise error
        assert str(caught.value) == told

    def test_an_interrupt_comes_through(self):
        with pytest.raises(KeyboardInterrupt), foreign("it is bad"):
            raise KeyboardInterrupt

    @pytest.mark.parametrize(
        ("error", "told"),
        [
            (UnreadableFile("it is bad"), "a.mtx: it is bad"),
            (FileNotFoundError(2, "No such file"), "a.mtx: no such file; check the path"),
            (PermissionError(13, "Permission denied"), "a.mtx: Permission denied; check the path and its permissions"),
        ],
    )
    def test_the_file_is_named(self, error, told):
        with pytest.raises(UnreadableFile) as caught, named("a.mtx"):
            raise error
        assert str(caught.value) == told


@pytest.mark.parametrize(("size", "fits"), [(999, True), (1000, True), (1001, False)])
def test_memory(monkeypatch, size, fits):
    """What needs all that is free is still tried."""
    monkeypatch.setattr(guard, "free_memory", lambda: 1000.0)
    if fits:
        check_memory(size, "it")
    else:
        with pytest.raises(UnreadableFile, match=r"^it needs 1 kB, and 1 kB are available"):
            check_memory(size, "it")


def test_regular_files(tmp_path):
    path = tmp_path / "x"
    path.write_bytes(b"12345")
    assert check_regular(path) == 5
    with pytest.raises(UnreadableFile, match="this is a folder"):
        check_regular(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UnreadableFile, match="this is a pipe"):
        check_regular(tmp_path / "pipe")


class TestCompressed:
    """Two rows and four columns with three entries."""

    DATA, INDICES, INDPTR = np.ones(3), np.array([0, 3, 2]), np.array([0, 2, 3])

    def test_it_is_accepted(self):
        check_compressed(self.DATA, self.INDICES, self.INDPTR, (2, 4))
        check_compressed(np.ones(0), np.zeros(0, int), np.zeros(1, int), (0, 4))

    @pytest.mark.parametrize(
        ("changes", "told"),
        [
            ({"shape": (1, 4)}, "its indptr has 3 entries, and its shape asks for 2"),
            ({"shape": (3, 4)}, "its indptr has 3 entries, and its shape asks for 4"),
            ({"shape": (2, 3)}, "its indices go from 0 to 3, outside of 0 … 2"),
            ({"indices": np.array([0, -1, 2])}, "its indices go from -1 to 2, outside of 0 … 3"),
            ({"indices": np.array([0, 4, 2])}, "its indices go from 0 to 4, outside of 0 … 3"),
            ({"indices": np.array([0, 3])}, "it has 2 indices beside 3 values"),
            ({"data": np.ones(4)}, "it has 3 indices beside 4 values"),
            ({"indptr": np.array([1, 2, 3])}, "its indptr goes from 1 to 3, and there are 3 entries"),
            ({"indptr": np.array([-1, 2, 3])}, "its indptr goes from -1 to 3"),
            ({"indptr": np.array([0, 2, 4])}, "its indptr goes from 0 to 4, and there are 3 entries"),
            ({"indptr": np.array([0, 3, 2])}, "its indptr decreases"),
            ({"indptr": np.array([0.0, 2, 3])}, "its indptr have shape (3,) and dtype float64"),
            ({"indices": np.array([[0, 3, 2]])}, "its indices have shape (1, 3)"),
            ({"indices": np.array([0.0, 3, 2])}, "its indices have shape (3,) and dtype float64"),
        ],
        ids=lambda given: given if isinstance(given, str) else "",
    )
    def test_it_is_refused(self, changes, told):
        parts = {"data": self.DATA, "indices": self.INDICES, "indptr": self.INDPTR, "shape": (2, 4)} | changes
        with pytest.raises(UnreadableFile) as caught:
            check_compressed(**parts)
        assert str(caught.value).startswith(told)

    @pytest.mark.parametrize(("indices", "fits"), [([0, 4], True), ([0, 5], False), ([-1, 0], False), ([], True)])
    def test_ranges(self, indices, fits):
        array = np.array(indices, int)
        if fits:
            check_range(array, 5, "rows")
        else:
            with pytest.raises(UnreadableFile, match=r"^its rows go from .* outside of 0 … 4"):
                check_range(array, 5, "rows")

    @pytest.mark.parametrize("dtype", ["f8", "c16", "i2", "?", "U3", "O"])
    @pytest.mark.parametrize("dimensions", [1, 2])
    def test_numbers(self, dtype, dimensions):
        array = np.zeros((2, 2)).astype(dtype)
        if dimensions == 2 and dtype not in ("U3", "O"):
            check_numbers(array, "A", dimensions)
        else:
            with pytest.raises(UnreadableFile, match=rf"^its A have shape \(2, 2\).*numbers in {dimensions} dim"):
                check_numbers(array, "A", dimensions)

    @pytest.mark.parametrize("dtype", [">f8", "<f8", ">c8", ">i2"])
    def test_byte_order(self, dtype):
        array = np.arange(5).astype(dtype)
        found = native(array)
        assert found.dtype.isnative
        np.testing.assert_array_equal(found, np.arange(5))

    @pytest.mark.parametrize(
        ("dtype", "taken"), [("i2", "i4"), ("i4", "i4"), ("i8", "i8"), ("u4", "i8"), ("u8", "i8"), ("u2", "i8")]
    )
    def test_indices_hold_all_their_numbers(self, dtype, taken):
        most = min(np.iinfo(dtype).max, 2**62)
        found = index_array(np.array([0, most], dtype))
        assert found.dtype == np.dtype(taken)
        assert found.tolist() == [0, most]
