"""Hostile matrix files: each ends in an answer or in one sentence that names the file."""

import gzip
import os
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp

from commands import ROOT, environment
from splitmerge.io.matrices import read_matrix
from splitmerge.solution.store.guard import UnreadableFile

BANNER = "%%MatrixMarket matrix coordinate real general\n"


def refused(path, pattern=None):
    with pytest.raises(UnreadableFile, match=pattern) as caught:
        read_matrix(path)
    said = str(caught.value)
    assert said.startswith(str(path))
    assert said.isprintable()
    assert len(said) < 1000


def test_a_sample_of_generated_files():
    """`make hostile` runs thousands of them."""
    command = [sys.executable, "-m", "tools.hostile", "--count", "30", "--seed", "7"]
    done = subprocess.run(command, cwd=ROOT, env=environment(), capture_output=True, text=True, errors="replace")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 bad outcomes" in done.stdout


REFUSED_TEXTS = {
    "NUL": (BANNER + "2 2 1\n1 1 \0\n", "not a text file|byte 0x00"),
    "NUL at the end": (BANNER + "2 2 1\n1 1 1.0\n\0", "byte 0x00"),
    "huge dimension": (BANNER + f"{10**30} {10**30} 1\n1 1 1.0\n", "should be 3 sizes"),
    "huge count": (BANNER + f"2 2 {10**30}\n1 1 1.0\n", "should be 3 sizes"),
    "count beyond memory": (BANNER + f"2 2 {10**17}\n1 1 1.0\n", "available"),
    "many empty rows": (BANNER + f"{10**12} {10**12} 1\n1 1 1.0\n", "leave out the empty rows"),
    "negative": (BANNER + "-2 -2 1\n1 1 1.0\n", "should be 3 sizes"),
    "rectangular": (BANNER + "2 3 1\n1 1 1.0\n", "square"),
    "huge index": (BANNER + f"2 2 1\n{10**30} 1 1.0\n", "(?i)line 3"),
    "zero index": (BANNER + "2 2 1\n0 1 1.0\n", "(?i)line 3"),
    "mark": (b"\xef\xbb\xbf" + BANNER.encode() + b"2 2 1\n1 1 1.0\n", "byte order mark"),
    "comma": (BANNER + "2 2 1\n1 1 2,5\n", "line 3: only numbers"),
    "two points": (BANNER + "2 2 1\n1 1 2.5.5\n", "two points"),
    "trailing word": (BANNER + "2 2 1\n1 1 2.5 x", "line 3: only numbers"),
    "complex in a real matrix": (BANNER + "2 2 1\n1 1 2.5 1.0\n", "more follows than 1 entries"),
    "too many": (BANNER + "2 2 1\n1 1 2.5\n2 2 1.0\n", "more follows than 1 entries"),
    "too few": (BANNER + "2 2 2\n1 1 2.5\n", "truncated: line 2 asks for 2 entries"),
    "fraction as integer": (BANNER.replace("real", "integer") + "2 2 1\n1 1 2.5\n", "only whole numbers"),
    "skew": (BANNER.replace("general", "skew-symmetric") + "2 2 1\n2 1 2.5\n", "skew-symmetric"),
    "long line": (BANNER + "%" + "x" * 200_000 + "\n2 2 1\n1 1 1.0\n", "more than 65536 characters"),
    "only comments": (BANNER + "%\n" * 1_000_000, "remove comments"),
    "no size": (BANNER, "truncated"),
    "array of patterns": (BANNER.replace("coordinate real", "array pattern") + "1 1\n1\n", "not read"),
    "empty": ("", "truncated|line 1"),
}

READ_TEXTS = {
    "CRLF": BANNER + "2 2 2\n1 1 1.0\n2 1 200\n",
    "D exponents": BANNER + "2 2 2\n1 1 1.0\n2 1 2.0D+02\n",
    "d exponents": BANNER + "2 2 2\n1 1 1.0\n2 1 2.0d02\n",
    "no newline at the end": BANNER + "2 2 2\n1 1 1.0\n2 1 200",
    "blank lines": BANNER + "\n2 2 2\n\n1 1 1.0\n   \n2 1 200\n\n",
    "Latin-1": BANNER + "% by M\xfcller\n2 2 2\n1 1 1.0\n2 1 200\n",
    "duplicates": BANNER + "2 2 3\n1 1 1.0\n2 1 50\n2 1 150\n",
    "integer": BANNER.replace("real", "integer") + "2 2 2\n1 1 1\n2 1 200\n",
    "array": BANNER.replace("coordinate", "array") + "2 2\n1\n200\n0\n0\n",
    "complex": BANNER.replace("real", "complex") + "2 2 2\n1 1 1 0\n2 1 200 0\n",
}

HOSTILE_PARTS = {
    "negative": {"indices": np.array([-1, 1, 2])},
    "out of range": {"indices": np.array([0, 1, 10**9])},
    "decreasing": {"indptr": np.array([0, 2, 1, 3])},
    "beyond the end": {"indptr": np.array([0, 1, 2, 10**9])},
    "wrong length": {"indptr": np.array([0, 3])},
    "floats": {"indices": np.array([0.0, 1.0, 2.0])},
    "objects": {"indptr": np.array([0, 1, 2, 3], dtype=object)},
    "fewer values": {"data": np.ones(2)},
    "text": {"data": np.array(["a", "b", "c"])},
    "shape": {"shape": np.array([3, 3, 3])},
    "huge shape": {"shape": np.array([2**62, 2**62])},
    "format": {"format": np.array(b"xyz")},
    "object format": {"format": np.array({}, dtype=object)},
}


class TestMatrixMarket:
    def text(self, tmp_path, text, name="A.mtx"):
        path = tmp_path / name
        data = text if isinstance(text, bytes) else text.encode("latin1")
        path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        return path

    @pytest.mark.parametrize("name", REFUSED_TEXTS)
    @pytest.mark.parametrize("file", ["A.mtx", "A.mtx.gz"])
    def test_refused(self, tmp_path, name, file):
        text, pattern = REFUSED_TEXTS[name]
        refused(self.text(tmp_path, text, file), pattern)

    @pytest.mark.parametrize("name", READ_TEXTS)
    @pytest.mark.parametrize("file", ["A.mtx", "A.mtx.gz"])
    def test_read(self, tmp_path, name, file):
        text = READ_TEXTS[name].replace("\n", "\r\n") if name == "CRLF" else READ_TEXTS[name]
        found = read_matrix(self.text(tmp_path, text, file))
        np.testing.assert_array_equal(found.toarray() if sp.issparse(found) else found, [[1, 0], [200, 0]])

    def test_pattern_and_hermitian(self, tmp_path):
        text = "%%MatrixMarket matrix coordinate pattern symmetric\n2 2 2\n1 1\n2 1\n"
        np.testing.assert_array_equal(read_matrix(self.text(tmp_path, text)).toarray(), [[1, 1], [1, 0]])
        text = "%%MatrixMarket matrix coordinate complex hermitian\n2 2 1\n2 1 1.0 2.0\n"
        np.testing.assert_array_equal(read_matrix(self.text(tmp_path, text)).toarray(), [[0, 1 - 2j], [1 + 2j, 0]])

    @pytest.mark.parametrize("filler", [b"\n", b"%\n", b"\0", b" ", b"1 1 1.0\n"])
    def test_gzip_bomb(self, tmp_path, filler):
        content = BANNER.encode() + b"3 3 3\n" + filler * (50_000_000 // len(filler))
        path = self.text(tmp_path, content, "A.mtx.gz")
        assert path.stat().st_size < 400_000
        refused(path)


class TestNumpy:
    @pytest.mark.parametrize("name", HOSTILE_PARTS)
    @pytest.mark.parametrize("form", ["csr", "csc"])
    def test_sparse_indices(self, tmp_path, name, form):
        parts = {"indices": np.arange(3), "indptr": np.arange(4), "data": np.ones(3), "shape": np.array([3, 3])}
        np.savez(tmp_path / "A.npz", **({"format": np.array(form.encode())} | parts | HOSTILE_PARTS[name]))
        refused(tmp_path / "A.npz")

    @pytest.mark.parametrize("form", ["csr", "csc", "bsr", "coo", "dia"])
    @pytest.mark.parametrize("dtype", [float, np.float32, complex])
    def test_every_format_is_read(self, tmp_path, form, dtype):
        M = np.diag([1.0, 2.0, 3.0, 4.0]) + np.diag([1.0, 0.0, 2.0], 1)
        saved = sp.csr_array(M).asformat(form) if form != "bsr" else sp.csr_array(M).tobsr((2, 2))
        sp.save_npz(tmp_path / "A.npz", saved.astype(dtype))
        np.testing.assert_array_equal(read_matrix(tmp_path / "A.npz").toarray(), M)

    @pytest.mark.parametrize("form", ["csr", "csc", "bsr", "coo", "dia"])
    def test_every_place_of_a_matrix_is_read(self, tmp_path, form):
        """Also entries in the corners, far from the diagonal."""
        M = np.arange(1.0, 37.0).reshape(6, 6)
        for some in (M, np.tril(M), np.triu(M), M * (np.add.outer(np.arange(6), np.arange(6)) == 5)):
            saved = sp.csr_array(some).asformat(form) if form != "bsr" else sp.csr_array(some).tobsr((2, 3))
            sp.save_npz(tmp_path / "A.npz", saved)
            np.testing.assert_array_equal(read_matrix(tmp_path / "A.npz").toarray(), some)

    def test_names_that_do_not_match_the_content(self, tmp_path):
        np.save(tmp_path / "x.npy", np.eye(2))
        np.savez(tmp_path / "x.npz", A=np.eye(2))
        (tmp_path / "A.npz").write_bytes((tmp_path / "x.npy").read_bytes())
        (tmp_path / "A.npy").write_bytes((tmp_path / "x.npz").read_bytes())
        refused(tmp_path / "A.npz", "not an .npz file")
        refused(tmp_path / "A.npy", "does not begin like a NumPy array")

    def test_parts_that_are_not_arrays(self, tmp_path):
        import zipfile

        np.savez(tmp_path / "A.npz", A=np.eye(2))
        with zipfile.ZipFile(tmp_path / "A.npz", "a") as archive:
            archive.writestr("notes.txt", "words")
            archive.writestr("bad.npy", "no array")
        np.testing.assert_array_equal(read_matrix(tmp_path / "A.npz"), np.eye(2))

    def test_empty_and_other_byte_order(self, tmp_path):
        np.save(tmp_path / "A.npy", np.zeros((0, 0)))
        refused(tmp_path / "A.npy", "square matrix")
        np.save(tmp_path / "A.npy", np.eye(2).astype(">f8"))
        assert read_matrix(tmp_path / "A.npy").dtype.isnative
        parts = {"indices": np.arange(3), "indptr": np.arange(4), "data": np.ones(3), "shape": np.array([3, 3])}
        swapped = {name: part.astype(part.dtype.newbyteorder(">")) for name, part in parts.items()}
        np.savez(tmp_path / "A.npz", format=np.array(b"csr"), **swapped)
        np.testing.assert_array_equal(read_matrix(tmp_path / "A.npz").toarray(), np.eye(3))

    def test_memory_of_a_file_with_large_arrays_that_nobody_asked_for(self, tmp_path):
        zeros = {f"unasked{i}": np.zeros((2000, 5000)) for i in range(2)}
        np.savez_compressed(tmp_path / "A.npz", A=np.eye(2), **zeros)
        program = (
            "import resource, sys; from splitmerge.io.matrices import read_matrix\n"
            "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss; read_matrix(sys.argv[1])\n"
            "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)"
        )
        command = [sys.executable, "-c", program, f"{tmp_path / 'A.npz'}#A"]
        done = subprocess.run(command, env=environment(), capture_output=True, text=True, check=True)
        assert 1024 * int(done.stdout) < 50_000_000


class TestNotRegular:
    NAMES = ("A.npy", "A.npz", "A.mtx", "A.mtx.gz", "A.hb", "A.mat", "A.petsc")

    @pytest.mark.parametrize("name", NAMES)
    def test_pipe(self, tmp_path, name):
        os.mkfifo(tmp_path / name)
        refused(tmp_path / name, "a pipe, a socket or a device")

    @pytest.mark.parametrize("name", NAMES)
    def test_folder_device_loop_and_empty(self, tmp_path, name):
        path = tmp_path / name
        path.mkdir()
        refused(path, "this is a folder")
        path.rmdir()
        path.symlink_to("/dev/zero")
        refused(path, "a pipe, a socket or a device")
        path.unlink()
        path.symlink_to(path)
        refused(path, "symbolic links")
        path.unlink()
        path.write_bytes(b"")
        refused(path)

    @pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
    def test_no_permission(self, tmp_path):
        (tmp_path / "A.npy").touch(0)
        refused(tmp_path / "A.npy", "Permission denied")

    def test_name_with_a_nul(self):
        with pytest.raises(UnreadableFile, match="NUL"):
            read_matrix("A\0.npy")


class TestBoeing:
    @pytest.mark.parametrize("size", ["9" * 14, "-1", "x"])
    def test_sizes(self, tmp_path, size):
        lines = [
            "title",
            f"{4:14d}{1:14d}{1:14d}{1:14d}",
            f"{'RUA':14s}{size:>14s}{size:>14s}{1:14d}",
            "(8I10) (8I10) (3E25.16)",
        ]
        (tmp_path / "A.hb").write_text("\n".join(lines))
        refused(tmp_path / "A.hb", "line 3|leave out")

    def test_skew_symmetric_binary_and_long_lines(self, tmp_path):
        path = tmp_path / "A.hb"
        path.write_text(f"title\n{4:14d}{1:14d}{1:14d}{1:14d}\n{'RZA':14s}{1:14d}{1:14d}{1:14d}\n")
        refused(path, "skew-symmetric")
        path.write_bytes(b"title\0")
        refused(path, "NUL character")
        path.write_bytes(b"x" * 1_000_000)
        refused(path, "more than 10000 characters")

    @pytest.mark.parametrize("form", ["(0I10)", "(8I0)", "(9999I9999)", "(8I)", "((((((((", ""])
    def test_formats(self, tmp_path, form):
        path = tmp_path / "A.hb"
        path.write_text(f"title\n{4:14d}{1:14d}{1:14d}{1:14d}\n{'RUA':14s}{1:14d}{1:14d}{1:14d}\n{form:16s}\n")
        refused(path, "unknown Fortran format")
