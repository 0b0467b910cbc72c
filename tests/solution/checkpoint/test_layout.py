"""The bytes of a checkpoint: rows are contiguous, so that ranges of them are written and read in any division."""

import io
import json
import zlib
from itertools import pairwise

import numpy as np
import pytest

import splitmerge as sm
from resuming import sparse_pair
from splitmerge.problem.problem import Problem
from splitmerge.problem.products import Counts, Tally
from splitmerge.problem.start import Spent
from splitmerge.solution.checkpoint import rows
from splitmerge.solution.checkpoint.header import Header, parsed
from splitmerge.solution.checkpoint.layout import MAGIC, crc_of, encoded_head, trailer
from splitmerge.solution.checkpoint.writing import write

DTYPES = ("<f4", "<f8", "<c8", "<c16")


def header_of(X):
    asked = (np.eye(3), None, 2, "largest", None, sm.Power(), np.float64(1e-8), None, np.int64(7), "error", False)
    spent = Spent(5, Counts(9, setup=Tally(1), monitoring=Tally(2)), 1.5)
    state = dict(np.random.default_rng(3).bit_generator.state)
    return Header(*X.shape, X.dtype.newbyteorder("<").str, Problem(*asked), spent, 0.25, True, state)


def block(dtype, n=23, m=3):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, m)) + (1j * rng.standard_normal((n, m)) if "c" in dtype else 0)
    return np.asfortranarray(X.astype(dtype))


@pytest.mark.parametrize("dtype", DTYPES)
def test_bytes(tmp_path, dtype):
    X, path = block(dtype), tmp_path / "x.ckpt"
    write(path, header_of(X), X)
    data = path.read_bytes()
    length = int.from_bytes(data[8:16], "little")
    assert data[:8] == MAGIC
    said = json.loads(data[16 : 16 + length].decode())
    assert (said["n"], said["columns"], said["dtype"]) == (23, 3, dtype)
    assert data[16 + length : -4] == X.tobytes(order="C")
    assert data[-4:] == zlib.crc32(data[:-4]).to_bytes(4, "little")


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("borders", [(0, 23), (0, 1, 9, 23), (0, 10, 10, 23), tuple(range(24))])
def test_ranges_of_rows(tmp_path, monkeypatch, dtype, borders):
    """Other processes hold other ranges: the same file, and the same rows from it."""
    monkeypatch.setattr(rows, "PIECE_BYTES", 100)
    X, path = block(dtype), tmp_path / "x.ckpt"
    header = header_of(X)
    write(path, header, X)
    head, file = encoded_head(header.said()), io.BytesIO()
    layout, crc = header.layout(len(head)), crc_of(head)
    file.write(head)
    for first, last in pairwise(borders):
        crc = rows.write_rows(file, layout, first, X[first:last], crc)
    file.seek(layout.offset(layout.n))
    file.write(trailer(crc))
    assert file.getvalue() == path.read_bytes()
    assert len(file.getvalue()) == layout.file_bytes
    again = crc_of(head)
    for first, last in pairwise(borders):
        part, again = rows.read_rows(file, layout, first, last, again)
        np.testing.assert_array_equal(part, X[first:last])
    assert again == crc


def test_ranges_are_written_in_any_order():
    X = block("<f8")
    header = header_of(X)
    head = encoded_head(header.said())
    layout, one, two = header.layout(len(head)), io.BytesIO(), io.BytesIO()
    for file, order in ((one, (0, 8, 16)), (two, (16, 0, 8))):
        file.write(head)
        for first in order:
            rows.write_rows(file, layout, first, X[first : first + 8], 0)
    assert one.getvalue() == two.getvalue()


def test_header_returns():
    header = header_of(block("<f8"))
    again = parsed(json.dumps(header.said(), default=lambda number: number.item()).encode())
    assert again.spent == header.spent
    assert again.generator == header.generator
    assert (again.shift, again.trusted, again.dtype) == (0.25, True, "<f8")
    assert again.problem.method == sm.Power()
    assert again.problem.A.what == "a ndarray of shape (3, 3)"
    assert again.problem.B is None


def test_numbers_of_numpy_are_options(tmp_path):
    A, B = sparse_pair()
    sm.solve(A, B, np.int64(2), tol=np.float32(1e-4), max_steps=np.int32(500), checkpoint=tmp_path / "x")
    assert sm.load(tmp_path / "x").problem.max_steps == 500
