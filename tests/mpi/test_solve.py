"""The same answers on one, two and three processes, as good as on one process without MPI."""

import numpy as np
import pytest
import scipy.linalg as sl

import splitmerge as sm
from data import path_of
from pairs_of_rows import BRICK, body, exact_cube, tridiagonal

RANKS = (1, 2, 3)


def sound(told, truth, tol=1e-8):
    """Right values within the bounds, residuals as PETSc computes them, one answer on all processes."""
    assert told["converged"]
    assert told["agree"]
    assert told["rows"]
    values, bounds = np.array(told["values"]), np.array(told["bounds"])
    scale = np.abs(truth).max()
    assert np.abs(values - truth).max() <= 1e-8 * scale
    assert (np.abs(values - truth) <= bounds + 1e-11 * scale).all()
    assert np.allclose(told["lengths"], 1, atol=1e-10)
    wanted = np.abs(truth) > 1e-6 * scale
    assert (np.array(told["recomputed"])[wanted] <= 1.1 * tol).all()


def on_all(program, name="solve", apart=1, **options):
    """What 1, 2 and 3 processes say; their steps may be `apart`.

    A Krylov space shows further copies of a multiple eigenvalue once rounding, which depends on the number of
    processes, has brought them in.
    """
    every = [program(ranks, name, **options) for ranks in RANKS]
    steps = [told["steps"] for told in every]
    assert max(steps) - min(steps) <= apart
    assert len({told["verdict"] for told in every}) == 1
    return every


def test_the_largest(program):
    truth = exact_cube(11, sides=BRICK)[::-1][:10]
    for told in on_all(program, pair=("brick", 11), options={"k": 10, "rng": 0}):
        sound(told, truth)
        assert told["verdict"] == "probed"


@pytest.mark.parametrize("which", ["magnitude", "ends"])
def test_other_ends(program, which):
    K, M = tridiagonal(700, 3e6)
    every = np.sort(sl.eigh(K.toarray(), M.toarray(), eigvals_only=True))
    told = program(2, "solve", pair=("line", 700, 3e6), options={"k": 4, "rng": 0, "which": which})
    order = np.argsort(-np.abs(every))[:4] if which == "magnitude" else [-1, 0, -2, 1]
    sound(told, every[order])


def test_the_smallest_by_a_factorisation(program):
    truth = exact_cube(12, sides=BRICK)[:10]
    for told in on_all(program, pair=("brick", 12), options={"k": 10, "which": "smallest", "rng": 0}):
        sound(told, truth)
        assert any("SHIFT_INVERT" in choice and "MUMPS" in choice for choice in told["choices"])


def test_the_smallest_by_multigrid(program):
    truth = exact_cube(12)[:6]
    options = {"k": 6, "which": "smallest", "rng": 0, "preconditioner": MULTIGRID}
    for told in on_all(program, pair=("cube", 12), options=options):
        sound(told, truth)
        assert any("MATRIX_FREE" in choice and "MultiGrid" in choice for choice in told["choices"])


class _Named:
    """An expression for the program, which has the library under the name sm."""

    def __init__(self, text):
        self.text = text

    def __repr__(self):
        return self.text


MULTIGRID, SPLIT_MERGE, LOBPCG = (_Named(f"sm.{name}()") for name in ("MultiGrid", "SplitMerge", "LocallyOptimal"))


def test_next_to_a_shift_with_a_count(program):
    every = exact_cube(10, sides=BRICK)
    for told in on_all(program, pair=("brick", 10), options={"k": 5, "sigma": 200.0, "certify": True, "rng": 0}):
        assert told["verdict"] == "certified"
        sound(told, nearest_to(200, told, every))


def nearest_to(sigma, told, every):
    """The eigenvalue next to each value; these must be the k nearest to σ."""
    values = np.array(told["values"])
    nearest = np.sort(np.abs(every - sigma))[: values.size]
    assert np.allclose(np.sort(np.abs(values - sigma)), nearest, atol=1e-8 * np.abs(values).max())
    return np.array([every[np.argmin(np.abs(every - value))] for value in values])


def test_certified_smallest_of_lobpcg(program):
    options = {"k": 4, "which": "smallest", "certify": True, "method": LOBPCG, "rng": 0}
    for ranks in (1, 2):
        told = program(ranks, "solve", pair=("cube", 9), options=options)
        sound(told, exact_cube(9)[:4])
        assert told["verdict"] == "certified"


def test_split_merge_takes_the_steps_of_one_process(program):
    K, M = tridiagonal(600)
    options = {"k": 2, "rng": 0, "tol": 1e-6, "method": SPLIT_MERGE}
    serial = sm.solve(K, M, k=2, rng=0, tol=1e-6, method=sm.SplitMerge())
    for told in on_all(program, pair=("line", 600), options=options):
        sound(told, serial.eigenvalues, tol=1e-6)
        assert abs(told["steps"] - serial.steps) <= 1


def test_three_identical_cubes(program):
    """Every eigenvalue threefold, and those of a cube threefold again."""
    truth = exact_cube(9, copies=3)
    for told in on_all(program, apart=10, pair=("cube", 9, 3), options={"k": 12, "rng": 0}):
        sound(told, truth[::-1][:12])
    told = program(2, "solve", pair=("cube", 9, 3), options={"k": 12, "which": "smallest", "rng": 0, "certify": True})
    sound(told, truth[:12])
    assert told["verdict"] == "certified"


def test_a_free_body_has_six_zero_modes(program):
    K, M = body(5)
    every = sl.eigh(K.toarray(), M.toarray(), eigvals_only=True)
    for told in on_all(program, pair=("body", 5), options={"k": 9, "which": "smallest", "rng": 0}):
        values = np.array(told["values"])
        assert told["converged"]
        assert np.abs(values[:6]).max() < 1e-7 * every[-1]
        assert np.allclose(values[6:], every[6:9], rtol=1e-7)


def test_a_shell_matrix(program):
    for told in on_all(program, pair=("brick", 9), options={"k": 3, "rng": 0}, shell=True):
        sound(told, exact_cube(9, sides=BRICK)[::-1][:3])


def test_a_small_pair_is_gathered(program):
    for told in on_all(program, pair=("line", 40), options={"k": 3, "which": "smallest", "rng": 0}):
        K, M = tridiagonal(40)
        sound(told, sl.eigh(K.toarray(), M.toarray(), eigvals_only=True)[:3])


def test_more_processes_than_rows(program):
    told = program(3, "solve", pair=("line", 2), options={"k": 1, "rng": 0})
    K, M = tridiagonal(2)
    sound(told, sl.eigh(K.toarray(), M.toarray(), eigvals_only=True)[1:])


def test_an_indefinite_A(program):
    K, M = tridiagonal(800, 50.0)
    every = sl.eigh(K.toarray(), M.toarray(), eigvals_only=True)
    for options in ({"preconditioner": MULTIGRID}, {}):
        told = program(2, "solve", pair=("line", 800, 50.0), options={"k": 4, "which": "smallest", "rng": 0} | options)
        sound(told, every[:4])


def test_matrices_of_process_0(program):
    K, M = tridiagonal(700)
    told = program(3, "scattered", options={"k": 3, "which": "smallest", "rng": 0})
    assert np.allclose(told["values"], sl.eigh(K.toarray(), M.toarray(), eigvals_only=True)[:3], rtol=1e-8)
    assert told["rows"] == [234, 233, 233]


def test_random_vectors_do_not_depend_on_the_processes(program):
    one, two, three = (program(ranks, "random_rows", n=40_000, seeds=5)["vectors"] for ranks in RANKS)
    assert one == two == three
    assert len(set(one[0])) == 40_000
    assert np.std(one[0]) == pytest.approx(1, abs=0.02)


def test_one_file_of_all_processes(program, tmp_path):
    path = tmp_path / "modes.npz"
    told = program(3, "kept", path=str(path))
    sound(told, exact_cube(10)[:4], tol=1e-10)
    loaded = sm.load(path)
    assert loaded.eigenvectors.shape == (1000, 4)
    assert np.allclose(loaded.eigenvalues, told["first"])


@pytest.mark.parametrize(
    ("paths", "shift"),
    [(("hb/bcsstk07.mtx", "hb/bcsstm07.mtx"), 1e4), (("hb/lund_a.mtx", "hb/lund_b.mtx"), 500.0)],
    ids=["bcsst07", "lund"],
)
def test_real_pairs_next_to_a_shift(program, paths, shift):
    files = tuple(str(path_of(*path.split("/"))) for path in paths)
    K, M = sm.read_pair(*files)
    every = sl.eigh(K.toarray(), M.toarray(), eigvals_only=True)
    for told in on_all(program, pair=("file", files), options={"k": 5, "sigma": shift, "certify": True, "rng": 0}):
        assert told["verdict"] == "certified"
        sound(told, nearest_to(shift, told, every))


def test_the_largest_of_Lapla3(program):
    files = tuple(str(path_of("lapla", f"Lapla3_{name}.mtx")) for name in "AB")
    serial = sm.solve(*sm.read_pair(*files), k=10, rng=0)
    for told in on_all(program, pair=("file", files), options={"k": 10, "rng": 0}):
        sound(told, serial.eigenvalues)


@pytest.mark.slow
def test_a_large_cube_by_multigrid(program):
    truth = exact_cube(47)[:10]
    for told in on_all(program, pair=("cube", 47), options={"k": 10, "which": "smallest", "rng": 0}, limit=900):
        sound(told, truth)
