"""Arrays and archives: headers are not trusted, and only what is asked for is read."""

import io
import struct
import tracemalloc
import zipfile

import numpy as np
import pytest

from splitmerge.solution.store.archive import open_archive
from splitmerge.solution.store.guard import UnreadableFile
from splitmerge.solution.store.npy import read_entries, read_layout


def npy(header, data=b"", version=1):
    text = header.encode("latin1") + b"\n"
    return b"\x93NUMPY" + bytes([version, 0]) + struct.pack("<H" if version == 1 else "<I", len(text)) + text + data


def read(data):
    source = io.BytesIO(data)
    layout = read_layout(source)
    return read_entries(source, layout, len(data) - layout.header_bytes)


@pytest.mark.parametrize("dtype", ["f8", ">f8", "f4", "c16", "i2", "u1", "?", "S3", "U5"])
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 3), (2, 0, 3)])
@pytest.mark.parametrize("order", ["C", "F"])
def test_as_numpy_reads_it(dtype, shape, order):
    array = np.asarray(np.random.default_rng(0).integers(0, 2, shape).astype(dtype), order=order)
    file = io.BytesIO()
    np.save(file, array)
    found = read(file.getvalue())
    assert found.dtype == array.dtype
    assert found.shape == array.shape
    assert found.flags.f_contiguous == array.flags.f_contiguous
    np.testing.assert_array_equal(found, array)


@pytest.mark.parametrize("version", [(1, 0), (2, 0), (3, 0)])
@pytest.mark.parametrize("dtype", ["f8", ">c16", "i2"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_every_version_of_the_format(version, dtype, order):
    """From version 2 on the length of the header has four bytes; the entries begin where NumPy has put them."""
    array = np.asarray(np.arange(6).reshape(2, 3).astype(dtype), order=order)
    file = io.BytesIO()
    np.lib.format.write_array(file, array, version)
    data = file.getvalue()
    layout = read_layout(io.BytesIO(data))
    assert layout.header_bytes == len(data) - array.nbytes
    assert layout.size == array.nbytes
    np.testing.assert_array_equal(read(data), array)
    # as a reader that comes back for the entries does
    there = io.BytesIO(data)
    there.seek(layout.header_bytes)
    np.testing.assert_array_equal(read_entries(there, layout, array.nbytes), array)


HEADERS = {
    "nested parentheses": "{'descr': '<f8', 'fortran_order': False, 'shape': " + "(" * 5000,
    "nested minus": "{'descr': '<f8', 'fortran_order': False, 'shape': " + "-" * 5000 + "1}",
    "code": "{'descr': __import__('os'), 'fortran_order': False, 'shape': (1,)}",
    "huge": "{'descr': '<f8', 'fortran_order': False, 'shape': (10000000000000000000000000000000,)}",
    "large": "{'descr': '<f8', 'fortran_order': False, 'shape': (100000000000,)}",
    "negative": "{'descr': '<f8', 'fortran_order': False, 'shape': (-1,)}",
    "unknown type": "{'descr': '<f3', 'fortran_order': False, 'shape': (1,)}",
    "objects": "{'descr': '|O', 'fortran_order': False, 'shape': (1,)}",
    "records": "{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (1,)}",
    "twice": "{'descr': '<f8', 'descr': '<f8', 'fortran_order': False, 'shape': (1,)}",
    "nothing": "{}",
    "no order": "{'descr': '<f8', 'fortran_order': 3, 'shape': (1,)}",
}


@pytest.mark.parametrize("name", HEADERS)
def test_damaged_header(name):
    with pytest.raises(UnreadableFile) as caught:
        read(npy(HEADERS[name], b"\0" * 80))
    assert str(caught.value).isprintable()


@pytest.mark.parametrize(
    "data", [b"", b"\x93NUMP", npy("{}")[:9], npy("{}", version=9), b"\x93NUMPY\x02\0\xff\xff\xff\xff{"]
)
def test_truncated_or_unknown(data):
    with pytest.raises(UnreadableFile):
        read(data)


@pytest.fixture
def bomb(tmp_path):
    """A few kilobytes, of which one member takes 80 MB."""
    path = tmp_path / "bomb.npz"
    np.savez_compressed(path, A=np.eye(3), unasked=np.zeros((1000, 10_000)))
    return path


def test_only_what_is_asked_for_is_read(bomb):
    tracemalloc.start()
    try:
        with open_archive(bomb) as archive:
            assert archive.layout("unasked").shape == (1000, 10_000)
            np.testing.assert_array_equal(archive.read("A"), np.eye(3))
        assert tracemalloc.get_traced_memory()[1] < 5_000_000
    finally:
        tracemalloc.stop()


def patched(path, signature, offset, form, value):
    data = bytearray(path.read_bytes())
    struct.pack_into(form, data, data.find(signature) + offset, value)
    path.write_bytes(data)
    return path


def refused(path, pattern, name="A"):
    with pytest.raises(UnreadableFile, match=pattern), open_archive(path) as archive:
        archive.read(name)


def test_a_lying_directory_is_refused_with_figures(tmp_path):
    path = tmp_path / "a.npz"
    for offset, pattern in ((24, r"claims 4\.29 GB in .* of a file of"), (20, r"claims .* in 4\.29 GB")):
        np.savez(path, A=np.eye(3))
        refused(patched(path, b"PK\x01\x02", offset, "<I", 2**32 - 2), pattern)
    np.savez(path, A=np.eye(3))
    refused(patched(path, b"PK\x05\x06", 12, "<I", 2**32 - 2), "its zip directory claims 4.29 GB")
    np.savez(path, A=np.eye(3))
    refused(patched(path, b"PK\x01\x02", 8, "<H", 1), "encrypted")


def test_many_members(tmp_path):
    path = tmp_path / "a.npz"
    with zipfile.ZipFile(path, "w") as archive:
        for i in range(20_000):
            archive.writestr(f"{i:0200d}.npy", b"")
    refused(path, "zip directory claims .* MB")


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_other_compression_has_no_limit(tmp_path, method):
    path = tmp_path / "a.npz"
    with zipfile.ZipFile(path, "w", method) as archive:
        archive.writestr("A.npy", npy("{}"))
    refused(path, "another way than NumPy")


def test_a_flipped_byte_is_noticed(tmp_path):
    path = tmp_path / "a.npz"
    np.savez(path, A=np.ones((3, 3)))
    data = bytearray(path.read_bytes())
    data[200] ^= 1
    path.write_bytes(data)
    refused(path, "its part A is damaged: Bad CRC-32")


def test_a_part_that_is_not_there(bomb):
    refused(bomb, "it has no 'B'", "B")


def stored(path, data, method=zipfile.ZIP_STORED):
    """An archive whose member A consists of these bytes."""
    with zipfile.ZipFile(path, "w", method) as archive:
        archive.writestr("A.npy", data)
    return path


def test_a_member_that_goes_on(tmp_path):
    """Behind the entries that its header declares."""
    file = io.BytesIO()
    np.save(file, np.eye(3))
    with open_archive(stored(tmp_path / "a.npz", file.getvalue())) as archive:
        np.testing.assert_array_equal(archive.read("A"), np.eye(3))
    refused(stored(tmp_path / "b.npz", file.getvalue() + b"x"), "is longer than its header declares")
    refused(stored(tmp_path / "c.npz", file.getvalue()[:-1]), "its header declares shape|ends after")


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_entries_that_were_changed(tmp_path, method):
    """The checksum of the archive is compared, whichever of the entries it is."""
    file = io.BytesIO()
    np.save(file, np.arange(4.0))
    for at in (1, 9, 32):
        changed = bytearray(file.getvalue())
        changed[-at] ^= 1
        path = stored(tmp_path / "a.npz", bytes(changed), method)
        right = stored(tmp_path / "b.npz", file.getvalue(), method).read_bytes()
        # the entries of one and the checksum of the other
        data, place = bytearray(path.read_bytes()), right.find(b"PK\x03\x04") + 14
        data[place : place + 4] = right[place : place + 4]
        directory = (bytes(data).find(b"PK\x01\x02") + 16, right.find(b"PK\x01\x02") + 16)
        data[directory[0] : directory[0] + 4] = right[directory[1] : directory[1] + 4]
        path.write_bytes(data)
        refused(path, "its part A is damaged: Bad CRC-32")
