"""Hostile Matrix Market and Harwell–Boeing files, and files of formats that are not read."""

from __future__ import annotations

import functools
import gzip
import io

import numpy as np
import scipy.io
import scipy.sparse as sp

from .draw import Rng, damaged, number, pick
from .numpy_files import BOMB_BYTES, N, symmetric

WORDS = (
    "x",
    "nan",
    "inf",
    "1e999",
    "-1e-999",
    "1.0D+03",
    "0x10",
    "",
    "-",
    "1,5",
    "1.5.5",
    "٣",
    "é",
    "\0",
    "\ufeff1",
    "9" * 5000,
)
BANNERS = (
    "%%MatrixMarket matrix coordinate real general",
    "%%MatrixMarket matrix coordinate real symmetric",
    "%%MatrixMarket matrix coordinate pattern symmetric",
    "%%MatrixMarket matrix coordinate complex hermitian",
    "%%MatrixMarket matrix coordinate integer general",
    "%%MatrixMarket matrix coordinate real skew-symmetric",
    "%%MatrixMarket matrix coordinate unsigned-integer general",
    "%%MatrixMarket matrix array real general",
    "%%MatrixMarket matrix array real symmetric",
    "%%MatrixMarket matrix array pattern general",
    "%%MatrixMarket vector coordinate real general",
    "%%matrixmarket MATRIX Coordinate Real General",
    "%%MatrixMarket matrix coordinate real",
    "%MatrixMarket matrix coordinate real general",
    "",
)


def matrix_market(rng: Rng) -> tuple[str, bytes]:
    """A Matrix Market file with hostile tokens, lines or bytes, compressed or not."""
    way = int(rng.integers(8))
    lines = _lines(rng)
    if way == 0:
        lines[0] = pick(rng, BANNERS)
    if way in (1, 2):
        at = 1 if way == 1 else int(rng.integers(1, len(lines)))
        words = lines[at].split() or [""]
        words[int(rng.integers(len(words)))] = str(number(rng)) if rng.random() < 0.6 else pick(rng, WORDS)
        lines[at] = " ".join(words)
    if way == 3:
        at = int(rng.integers(1, len(lines)))
        extra = ("% Müller", "", "   ", lines[-1], "%" + "x" * 200_000, "1 " * 100_000, "1 1 1 1 1", "\x1a", "\t")
        lines.insert(at, pick(rng, extra))
    text = pick(rng, ("\n", "\n", "\n", "\r\n", "\r")).join(lines) + pick(rng, ("\n", ""))
    encoding = pick(rng, ("utf-8", "utf-8", "latin1", "utf-8-sig", "utf-16"))
    data = text.encode(encoding, "replace")
    if way >= 6:
        data = damaged(rng, data)
    if rng.random() < 0.3:
        packed = gzip.compress(data, 1)
        return "A.mtx.gz", damaged(rng, packed) if rng.random() < 0.4 else packed
    return pick(rng, ("A.mtx", "A.mtx", "A.mtx", "A.mm", "A.mtx.gz")), data


def _lines(rng: Rng) -> list[str]:
    A = np.where(rng.random((N, N)) < 0.4, symmetric(rng), 0)
    M = sp.coo_array(A + A.T) if rng.random() < 0.7 else A + A.T
    file = io.BytesIO()
    scipy.io.mmwrite(file, M, symmetry=pick(rng, ("general", "symmetric")))
    return [line for line in file.getvalue().decode().splitlines() if line.strip() not in ("%", "")]


def gzip_bomb(rng: Rng) -> tuple[str, bytes]:
    """Few bytes that expand to many."""
    head = b"%%MatrixMarket matrix coordinate real general\n"
    sizes = pick(rng, (b"3 3 3\n", b"", b"3 3 1000000\n", b"100000 100000 30000000\n"))
    filler = pick(rng, (b"\n", b"%\n", b"\0", b" ", b"1 1 1.0\n", b"%" * 80 + b"\n", b"9"))
    return "A.mtx.gz", _inflated(head + sizes, filler)


@functools.cache
def _inflated(head: bytes, filler: bytes) -> bytes:
    return gzip.compress(head + filler * (BOMB_BYTES // len(filler)), 6)


def boeing(rng: Rng) -> tuple[str, bytes]:
    """A Harwell–Boeing file with a hostile header or hostile fields."""
    A = sp.csc_array(np.where(rng.random((N, N)) < 0.3, symmetric(rng), 0))
    pointers = _block(A.indptr + 1, 8, lambda i: f"{i:10d}")
    indices = _block(A.indices + 1, 8, lambda i: f"{i:10d}")
    values = _block(A.data, 3, lambda x: f"{x:25.16E}")
    counts = [len(pointers) + len(indices) + len(values), len(pointers), len(indices), len(values), 0]
    sizes: list[object] = [N, N, A.nnz, 0]
    kind = pick(rng, ("RUA", "RUA", "RSA", "CUA", "PUA", "RZA", "RSE", "XXX", "rua", "IUA", "CHA"))
    forms = ["(8I10)", "(8I10)", "(3E25.16)"]
    way = int(rng.integers(7))
    if way == 0:
        sizes[int(rng.integers(4))] = number(rng)
    if way == 1:
        odd = (
            "(0I10)",
            "(8I0)",
            "(99999I99999)",
            "(8I)",
            "((((",
            "(1P,3D25.16)",
            "()",
            "",
            "(8I10",
            "(1I1)",
            "(800I1)",
        )
        forms[int(rng.integers(3))] = pick(rng, odd)
    if way == 2:
        counts[int(rng.integers(5))] = number(rng)
    lines = [f"{'a test':72s}{'TEST':8s}", "".join(f"{count:14d}" for count in counts)]
    lines += [f"{kind:14s}" + "".join(f"{size:14d}" for size in sizes), f"{forms[0]:16s}{forms[1]:16s}{forms[2]:20s}"]
    lines += [*pointers, *indices, *values]
    if way == 3:
        at = int(rng.integers(4, len(lines)))
        lines[at] = pick(
            rng, (f"{number(rng):10d}" * 8, *WORDS, "1 " * 50_000, "-1.0D+00 " * 3, "1.0+300 " * 3, lines[at][:7])
        )
    data = ("\r\n" if rng.random() < 0.1 else "\n").join(lines).encode("utf-8")
    return pick(rng, ("A.hb", "A.rb", "A.rsa")), damaged(rng, data) if way >= 5 else data


def _block(numbers, a_line, form):  # type: ignore[no-untyped-def]
    fields = [form(one) for one in numbers]
    return ["".join(fields[i : i + a_line]) for i in range(0, len(fields), a_line)]


def foreign(rng: Rng) -> tuple[str, bytes]:
    """Formats that are not read, and random bytes or nothing under a name that is."""
    names = (
        "A.csv",
        "A.txt",
        "A",
        "A.npy",
        "A.npz",
        "A.mat",
        "A.mtx",
        "A.mtx.gz",
        "A.hb",
        "A.petsc",
        "A.tar",
        "#",
        "A.mtx#B",
        "A.NPY",
    )
    contents = (
        b"",
        b"\0" * 1000,
        b"1,2\n3,4\n",
        rng.bytes(500),
        b"PK\x05\x06" + bytes(18),
        b"\x1f\x8b\x08\0",
        b"{" * 5000,
    )
    contents = (
        *contents,
        b"\x93NUMPY",
        b"\x89HDF\r\n\x1a\n",
        b"\n" * 1000,
        b"MATLAB 5.0 MAT-file",
        "٣\n".encode("utf-16"),
    )
    return pick(rng, names), pick(rng, contents)
