"""Checkpoints that are truncated, altered or foreign: one sentence, never a half-read file."""

import json
import zlib

import numpy as np
import pytest

import splitmerge as sm
from checkpoints import left_behind
from splitmerge.solution.checkpoint.layout import MAGIC


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    path = tmp_path_factory.mktemp("whole") / "run.ckpt"
    left_behind(path, *sm.gallery.synthetic_pair(40, kappa_B=10, rng=0), k=2, method=sm.SplitMerge())
    return path.read_bytes()


def refused(path, content, pattern="damaged|broken"):
    path.write_bytes(content)
    with pytest.raises(ValueError, match=pattern) as caught:
        sm.load(path)
    said = str(caught.value)
    assert str(path) in said
    assert "\n" not in said
    assert len(said) < 700


def rewritten(data, change):
    """The file with another header, and a CRC-32 that fits it."""
    length = int.from_bytes(data[8:16], "little")
    said = json.loads(data[16 : 16 + length])
    change(said)
    text = json.dumps(said).encode()
    content = MAGIC + len(text).to_bytes(8, "little") + text + data[16 + length : -4]
    return content + zlib.crc32(content).to_bytes(4, "little")


def test_whole(data, tmp_path):
    (tmp_path / "x").write_bytes(rewritten(data, lambda said: None))
    assert sm.load(tmp_path / "x").vectors.shape[0] == 40


def test_truncated_anywhere(data, tmp_path):
    for size in range(len(data)):
        refused(tmp_path / "x", data[:size], "damaged|broken")


def test_any_byte_flipped(data, tmp_path):
    for place in range(len(data)):
        flipped = bytearray(data)
        flipped[place] ^= 1 << place % 8
        refused(tmp_path / "x", bytes(flipped), "damaged|broken")


def test_longer(data, tmp_path):
    refused(tmp_path / "x", data + b"\0", "truncated or damaged")


@pytest.mark.parametrize("length", [2**63, 10**7, 0])
def test_length_of_the_header(data, tmp_path, length):
    refused(tmp_path / "x", data[:8] + length.to_bytes(8, "little") + data[16:])


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("format", "splitmerge solution"), ("version", 2), ("version", True), ("n", 0), ("n", 10**30), ("n", 41)),
        *(("n", "40"), ("columns", 0), ("columns", 1.0), ("dtype", "<f2"), ("dtype", "O"), ("dtype", None)),
        *(("dtype", ["<f8"]), ("steps", -1), ("seconds", -1.0), ("seconds", "1"), ("shift", None), ("trusted", 1)),
        *(("generator", None), ("generator", {}), ("generator", {"bit_generator": "MT19937"}), ("counts", {})),
        *(("generator", {"bit_generator": "PCG64", "state": {"state": -1, "inc": "x"}}), ("problem", None)),
        *(("problem", {}), ("more", 1), ("counts", None)),
    ],
)
def test_entries(data, tmp_path, name, value):
    refused(tmp_path / "x", rewritten(data, lambda said: said.update({name: value})))


@pytest.mark.parametrize("name", ["A", "B", "k", "which", "method", "tol", "stop", "interval"])
@pytest.mark.parametrize("value", ["dense", {"sparse": [40, 40]}, {"absent": 3}, -1, [], {"is": "Magic"}])
def test_problem(data, tmp_path, name, value):
    refused(tmp_path / "x", rewritten(data, lambda said: said["problem"].update({name: value})))


def test_without_A(data, tmp_path):
    refused(tmp_path / "x", rewritten(data, lambda said: said["problem"].update(A=None)), "no A")


@pytest.mark.parametrize("text", [b"[" * 100_000, b"{}", b"[]", b"\xff", b"1" * 10_000])
def test_header_that_is_none(data, tmp_path, text):
    refused(tmp_path / "x", MAGIC + len(text).to_bytes(8, "little") + text + data[-200:], "damaged")


def test_foreign(tmp_path):
    refused(tmp_path / "x", b"PK\x03\x04 something else")
    refused(tmp_path / "x", b"")
    with pytest.raises(FileNotFoundError):
        sm.load(tmp_path / "none")
    with pytest.raises(ValueError, match="folder"):
        sm.load(tmp_path)


def test_vectors_that_are_no_start(data, tmp_path):
    """Columns with NaN are left out; without any other the run begins with a random vector."""
    A, B = sm.gallery.synthetic_pair(40, kappa_B=10, rng=0)
    length = int.from_bytes(data[8:16], "little")
    content = data[: 16 + length] + np.full(len(data[16 + length : -4]) // 8, np.nan).tobytes()
    (tmp_path / "x").write_bytes(content + zlib.crc32(content).to_bytes(4, "little"))
    assert sm.load(tmp_path / "x").resume(A, B).converged
