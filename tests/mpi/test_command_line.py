"""`mpiexec -n 2 splitmerge solve`: one table, one JSON object, one file."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.io
import scipy.linalg as sl

import splitmerge as sm
from pairs_of_rows import tridiagonal
from splitmerge.cli import main

TRUTH = sl.eigh(*(M.toarray() for M in tridiagonal(700)), eigvals_only=True)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("pair")
    for name, matrix in zip("KM", tridiagonal(700), strict=True):
        scipy.io.mmwrite(place / f"{name}.mtx", matrix, symmetry="symmetric")
        assert main(["convert", str(place / f"{name}.mtx"), str(place / f"{name}.petsc")]) == 0
    return place


@pytest.fixture
def command(launch, folder):
    """The finished processes of a command."""
    script = Path(sys.executable).with_name("splitmerge")

    def run(ranks, *words):
        return launch(
            ranks,
            *(str(folder / word) if "." in word and word[0] in "KM" else word for word in words),
            check=False,
            module=script,
        )

    return run


@pytest.mark.parametrize("suffix", ["petsc", "mtx"])
@pytest.mark.parametrize("ranks", [2, 3])
def test_one_json_object(command, suffix, ranks):
    done = command(ranks, "solve", f"K.{suffix}", f"M.{suffix}", "-k", "3", "--which", "smallest", "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert np.allclose(told["eigenvalues"], TRUTH[:3], rtol=1e-8)
    assert told["n"] == 700


def test_one_table_and_one_file(command, tmp_path):
    path, values = tmp_path / "modes.npz", tmp_path / "values.csv"
    done = command(2, "solve", "K.petsc", "M.petsc", "-k", "2", "-o", str(path))
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("eigenvalue  ") == 1
    loaded = sm.load(path)
    assert loaded.eigenvectors.shape == (700, 2)
    K, M = tridiagonal(700)
    R = K @ loaded.eigenvectors - M @ loaded.eigenvectors * loaded.eigenvalues
    assert np.linalg.norm(R) < 1e-6 * np.linalg.norm(K @ loaded.eigenvectors)
    assert command(2, "solve", "K.petsc", "M.petsc", "-k", "2", "-o", str(values)).returncode == 0
    assert len(values.read_text().splitlines()) == 3


def test_checkpoint_and_resume(command, tmp_path):
    path = tmp_path / "run.ckpt"
    words = ("solve", "K.petsc", "M.petsc", "-k", "3", "--method", "accelerated")
    done = command(2, *words, "--max-steps", "2", "--checkpoint", str(path))
    assert done.returncode != 0
    done = command(3, "solve", "K.petsc", "M.petsc", "--resume", str(path), "--max-steps", "1000", "--json")
    assert done.returncode == 0, done.stderr
    assert np.allclose(json.loads(done.stdout)["eigenvalues"], TRUTH[::-1][:3], rtol=1e-8)


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (("K.petsc", "none.petsc"), "no such file"),
        (("K.mtx", "none.mtx"), "no such file"),
        (("K.petsc", "--which", "smalest"), "invalid choice"),
        (("K.petsc", "M.petsc", "--interval", "0", "1"), "interval is for one process"),
    ],
)
def test_one_message(command, words, text):
    done = command(2, "solve", *words)
    assert done.returncode == 2
    assert done.stderr.count("splitmerge: error") == 1
    assert text in done.stderr
