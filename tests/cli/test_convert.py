"""`splitmerge convert`: from every format to every other, one line, and refusals in a sentence."""

import os

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

from boeing import boeing
from commands import mikota, refused, shell, solved
from splitmerge.cli import main
from splitmerge.io.matrices import read_matrix

SUFFIXES = (".petsc", ".mtx", ".npz", ".npy")
K = mikota(30)[0]
# 30 on the diagonal and 29 on either side
ENTRIES = {".petsc": "88 stored entries", ".mtx": "59 stored entries of the lower triangle (symmetric)"}
ENTRIES |= {".npz": "88 stored entries", ".npy": "900 stored entries"}


def converted(capsys, source, target):
    """What is said, in one line."""
    assert main(["convert", str(source), str(target)]) == 0
    said = capsys.readouterr()
    assert said.err == ""
    assert said.out.count("\n") == 1
    return said.out


def dense(path):
    found = read_matrix(path)
    return found.toarray() if sp.issparse(found) else found


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_says_what_was_written(here, capsys, suffix):
    said = converted(capsys, "K.mtx", f"out{suffix}")
    size = os.path.getsize(f"out{suffix}")
    assert said == f"out{suffix}: n = 30, {ENTRIES[suffix]}, {size} bytes\n"
    np.testing.assert_array_equal(dense(f"out{suffix}"), K.toarray())


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("source", ["A.hb", "A.mat#K", "pair.npz#K", "A.npy", "A.petsc", "A.mtx.gz"])
def test_from_every_format(here, capsys, source, suffix):
    if source == "A.hb":
        boeing(here, K, "RUA", name="A.hb")
    elif source == "A.mat#K":
        scipy.io.savemat("A.mat", {"K": sp.csc_matrix(K), "M": np.eye(30)})
    elif source == "A.mtx.gz":
        import gzip

        with gzip.open("A.mtx.gz", "wb") as file:
            scipy.io.mmwrite(file, K)
    elif source != "pair.npz#K":
        converted(capsys, "K.mtx", source)
    converted(capsys, source, f"out{suffix}")
    np.testing.assert_array_equal(dense(f"out{suffix}"), K.toarray())


def test_a_solve_of_what_was_written(here, capsys):
    for name in "KM":
        converted(capsys, f"{name}.mtx", f"{name}.petsc")
    assert solved(capsys, "K.petsc", "M.petsc", "-k", 3)["eigenvalues"] == pytest.approx([900, 841, 784])


def test_an_old_file_is_replaced(here, capsys):
    (here / "out.npy").write_bytes(b"old")
    converted(capsys, "K.mtx", "out.npy")
    np.testing.assert_array_equal(np.load("out.npy"), K.toarray())


class TestMistakes:
    def test_of_the_arguments(self, here, capsys):
        assert "the following arguments are required: OUT" in refused(capsys, "convert", "K.mtx")
        assert "OUT K.csv: give a name that ends in .petsc, .mtx" in refused(capsys, "convert", "K.mtx", "K.csv")
        assert "absent.mtx: no such file" in refused(capsys, "convert", "absent.mtx", "out.npy")
        assert "there is no folder absent" in refused(capsys, "convert", "K.mtx", "absent/out.npy")
        assert "contains K, M; select one, as in pair.npz#K" in refused(capsys, "convert", "pair.npz", "out.npy")
        assert not (here / "out.npy").exists()

    @pytest.mark.parametrize("source", ["K.mtx", "pair.npz#K"])
    def test_the_input_file(self, here, capsys, source):
        file = source.partition("#")[0]
        before = (here / file).read_bytes()
        assert f"OUT {file}: this is an input file" in refused(capsys, "convert", source, file)
        assert (here / file).read_bytes() == before

    def test_a_folder(self, here, capsys):
        (here / "out.petsc").mkdir()
        assert "OUT out.petsc: this is a folder, which is not replaced" in refused(
            capsys, "convert", "K.mtx", "out.petsc"
        )

    def test_a_damaged_file(self, here, capsys):
        converted(capsys, "K.mtx", "A.petsc")
        (here / "A.petsc").write_bytes((here / "A.petsc").read_bytes()[:-1])
        assert "A.petsc: its header declares 30 rows" in refused(capsys, "convert", "A.petsc", "out.npy")
        assert not (here / "out.npy").exists()

    def test_a_process_of_its_own(self, here):
        done = shell("convert", "K.mtx", "out.petsc", cwd=here)
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.startswith("out.petsc: n = 30, 88 stored entries, ")
        done = shell("convert", "M.mtx", "K.mtx/out.petsc", cwd=here)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.count("\n") == 1
