"""Solutions in files: equal after a round trip, usable in a new process, refused when broken."""

import dataclasses
import io
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

import splitmerge as sm
from checking import check, exhaustive, operator_of
from resuming import dense_pair, differences, laplacian, sparse_pair
from splitmerge.problem.products import Counts, Tally
from splitmerge.solution.solution import Seconds


def stopped(*arguments, **options):
    with pytest.raises(sm.NotConverged) as caught:
        sm.solve(*arguments, **options)
    return caught.value.solution


SOLUTIONS = {
    "dense": lambda: sm.solve(*dense_pair(), 3, rng=0),
    "standard": lambda: sm.solve(dense_pair()[0], None, 3, rng=0),
    "all pairs": lambda: sm.solve(np.diag(np.arange(5.0)), None, 5),
    "the only pair": lambda: sm.solve([[2.0]]),
    "lists": lambda: sm.solve([[2.0, 1.0], [1.0, 2.0]], [[1, 0], [0, 2]]),
    "whole numbers": lambda: sm.solve(np.diag(np.arange(9)), None, 2, max_steps=500),
    "float32": lambda: sm.solve(*dense_pair(np.float32), 3, rng=0),
    "complex": lambda: sm.solve(*dense_pair(complex), 3, rng=0),
    "complex64": lambda: sm.solve(*dense_pair(np.complex64), 3, rng=0),
    "sparse": lambda: sm.solve(*sparse_pair(), 3, rng=0),
    "coo": lambda: sm.solve(sparse_pair()[0].tocoo(), sparse_pair()[1], 3, rng=0),
    "smallest": lambda: sm.solve(*sparse_pair(), 3, which="smallest", rng=0),
    "sigma": lambda: sm.solve(*sparse_pair(), 3, sigma=np.float64(2.0), rng=0),
    "ends, certified": lambda: sm.solve(*sparse_pair(), 3, which="ends", certify=True, rng=0),
    "restrict": lambda: sm.solve(laplacian(60), np.diag(np.r_[0, np.ones(59)]), 3, b_policy="restrict", rng=0),
    "ridge": lambda: sm.solve(laplacian(60), np.diag(np.r_[0, np.ones(59)]), 3, b_policy="ridge", rng=0),
    "LAPACK": lambda: sm.solve(*sm.gallery.synthetic_pair(40, kappa_B=10, rng=0), 3),
    "stopped": lambda: stopped(*sparse_pair(), 3, max_steps=np.int64(2), rng=0),
    "rule": lambda: stopped(
        *sparse_pair(), 3, stop=(sm.Residual(1e-9) & sm.Stagnation(50)) | sm.MaxSteps(2) | sm.MaxSeconds(1e9), rng=0
    ),
    "method": lambda: sm.solve(
        *sparse_pair(),
        method=sm.SplitMerge(inner=sm.ConjugateGradient(40, sm.IncompleteCholesky(drop_tol=1e-4))),
        tol=1e-6,
        rng=0,
    ),
    "options": lambda: stopped(
        *sparse_pair(), method=sm.MirrorDescent(sm.Diagonal(), sm.Sampled(0.8, 0.9)), max_steps=3, rng=0
    ),
    "Accelerated": lambda: sm.solve(*sparse_pair(), 2, method=sm.Accelerated(max_basis=30), rng=0),
}
each_solution = pytest.mark.parametrize("name", SOLUTIONS)


class TestRoundTrip:
    @each_solution
    def test_equal(self, name, tmp_path):
        sol = SOLUTIONS[name]()
        path = tmp_path / "a file without an ending"
        sol.save(path)
        assert os.listdir(tmp_path) == [path.name]
        again = sm.load(path)
        dense = [M for M in ("A", "B") if not isinstance(getattr(sol.problem, M), (list, tuple))]
        for M in {"A", "B"} - set(dense):
            np.testing.assert_array_equal(getattr(again.problem, M), getattr(sol.problem, M))
        # a file holds the words of explain, not the decisions behind them
        expected = dataclasses.replace(
            sol, decisions=(), told=sol.story, problem=dataclasses.replace(sol.problem, A=None, B=None)
        )
        actual = dataclasses.replace(again, problem=dataclasses.replace(again.problem, A=None, B=None))
        different = differences(expected, actual)
        # NumPy's numbers come back as Python's
        assert {place for place in different if place != "solution.problem.max_steps"} == set()
        assert again.problem.max_steps == sol.problem.max_steps
        assert all(differences(getattr(sol.problem, M), getattr(again.problem, M)) == [] for M in dense)
        assert again.explain() == sol.explain()
        assert repr(again.counts) == repr(sol.counts)
        twice = tmp_path / "twice"
        again.save(str(twice))
        assert differences(again, sm.load(str(twice))) == []

    def test_numbers_that_are_mostly_zero(self, tmp_path):
        """A shift, counts and seconds that no default would replace by the same."""
        numbers = iter(range(3, 99))
        tallies = [Tally(*(next(numbers) for _ in range(5))) for _ in range(3)]
        counts = Counts(*dataclasses.astuple(tallies[0]), setup=tallies[1], monitoring=tallies[2])
        sol = dataclasses.replace(
            sm.solve(*dense_pair(), 3, rng=0), shift=2.5, steps=17, seconds=Seconds(0.125, 0.75), counts=counts
        )
        sol.save(tmp_path / "sol.npz")
        again = sm.load(tmp_path / "sol.npz")
        assert (again.shift, again.steps, again.seconds, again.counts) == (2.5, 17, sol.seconds, counts)

    @each_solution
    def test_resumed_alike(self, name, tmp_path):
        sol = SOLUTIONS[name]()
        sol.save(tmp_path / "sol")
        options = {"stop": None, "max_steps": 20_000, "rng": 0}
        one, two = sol.resume(**options), sm.load(tmp_path / "sol").resume(**options)
        np.testing.assert_array_equal(one.eigenvalues, two.eigenvalues)
        np.testing.assert_array_equal(one.eigenvectors, two.eigenvectors)

    def test_operators(self, tmp_path):
        A, B = dense_pair()
        sol = sm.solve(operator_of(A), operator_of(B), 2, rng=0)
        sol.save(tmp_path / "sol")
        again = sm.load(tmp_path / "sol")
        np.testing.assert_array_equal(again.eigenvectors, sol.eigenvectors)
        assert again.explain() == sol.explain()
        with pytest.raises(ValueError, match=r"A was a .*Operator.* of shape \(600, 600\).*load\(path, A=…\)"):
            again.resume(k=3)
        with pytest.raises(ValueError, match="B was a"):
            sm.load(tmp_path / "sol", A=A).resume(k=3)
        check(sm.load(tmp_path / "sol", A=A, B=operator_of(B)).resume(k=3, rng=0), A, B, 3)
        check(again.resume(k=3, A=operator_of(A), B=B, rng=0), A, B, 3)
        again.save(tmp_path / "again")
        with pytest.raises(ValueError, match="A was a"):
            sm.load(tmp_path / "again").resume()

    def test_operator_beside_a_matrix(self, tmp_path):
        A, B = dense_pair()
        sm.solve(operator_of(A), B, 2, rng=0).save(tmp_path / "sol")
        again = sm.load(tmp_path / "sol", A=operator_of(A))
        np.testing.assert_array_equal(again.problem.B, B)
        check(again.resume(k=3, rng=0), A, B, 3)

    def test_what_is_more_than_options(self, tmp_path):
        A, B = sparse_pair()
        factor = sp.linalg.splu(sp.csc_array(B))
        method = sm.Lanczos(inner=sm.UserSolve(factor.solve))
        sm.solve(A, B, 2, method=method, rng=0).save(tmp_path / "sol")
        again = sm.load(tmp_path / "sol")
        assert "UserSolve" in again.method.what
        with pytest.raises(ValueError, match=r"method was Lanczos\(.*give resume\(method=…\)"):
            again.resume()
        check(again.resume(method=method, rng=0), A, B, 2)
        rule = sm.SineAngle(again.eigenvectors[:, :1], 1e-4)
        sm.solve(A, B, method=sm.Lanczos(), stop=rule, rng=0).save(tmp_path / "rule")
        with pytest.raises(ValueError, match="stop was SineAngle"):
            sm.load(tmp_path / "rule").resume()
        check(sm.load(tmp_path / "rule").resume(tol=1e-8, rng=0), A, B, 1)

    def test_an_own_method_of_the_same_name(self, tmp_path):
        class Power(sm.Power):
            pass

        sm.solve(np.diag([2.0, 1.0]), method=Power(), rng=0).save(tmp_path / "sol")
        with pytest.raises(ValueError, match="method was"):
            sm.load(tmp_path / "sol").resume()

    def test_link_stays(self, tmp_path):
        sol = SOLUTIONS["LAPACK"]()
        (tmp_path / "link").symlink_to(tmp_path / "sol")
        sol.save(tmp_path / "link")
        assert (tmp_path / "link").is_symlink()
        assert differences(sol.verdict, sm.load(tmp_path / "sol").verdict) == []


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "sol"
    sm.solve(*sparse_pair(), 3, rng=0).save(path)
    return path


class TestAtomic:
    def test_failed_write_leaves_the_old_file(self, saved, monkeypatch):
        before = saved.read_bytes()

        def full(file, **arrays):
            file.write(b"half of it")
            raise OSError("no space left on device")

        monkeypatch.setattr(np, "savez", full)
        with pytest.raises(OSError, match="no space"):
            sm.load(saved).save(saved)
        assert saved.read_bytes() == before
        assert os.listdir(saved.parent) == [saved.name]

    def test_folder_that_is_not_there(self, tmp_path):
        with pytest.raises(FileNotFoundError):
            SOLUTIONS["LAPACK"]().save(tmp_path / "no" / "where")

    @pytest.mark.slow
    def test_killed_while_saving(self, tmp_path):
        """Whenever it is killed, the file is whole: the old one or the new one."""
        path = tmp_path / "sol"
        program = f"""
import numpy as np, splitmerge as sm
sol = sm.solve(np.diag(np.arange(1.0, 401.0)), None, 2, rng=0)
sol.save({str(path)!r})
print("saving", flush=True)
while True:
    sol.save({str(path)!r})
"""
        for delay in (0.0, 0.003, 0.011, 0.02):
            with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as process:
                assert process.stdout.readline() == "saving\n"
                time.sleep(delay)
                process.send_signal(signal.SIGKILL)
            assert process.returncode == -signal.SIGKILL
            assert sm.load(path).eigenvalues.round(6).tolist() == [400.0, 399.0]


@pytest.mark.parametrize(
    ("which", "options"),
    exhaustive(
        [
            ("largest", "max_steps=1"),
            # a single step is enough for an inverse
            ("smallest", "stop=sm.Residual(1e-9) | sm.MaxSeconds(1e-6)"),
            ("largest", "stop=sm.Residual(1e-9) | sm.MaxSteps(1)"),
            ("largest", "stop=sm.Residual(1e-9) | sm.MaxSeconds(1e-6)"),
        ],
        quick=2,
    ),
)
def test_killed_after_saving(tmp_path, options, which):
    """A run that was stopped and saved, and whose process is then killed, goes on in another process."""
    path = tmp_path / "checkpoint"
    program = f"""
import sys, time
sys.path.insert(0, {str(Path(__file__).parents[1])!r})
import splitmerge as sm
from resuming import sparse_pair
try:
    sm.solve(*sparse_pair(), 4, which={which!r}, rng=0, {options})
except sm.NotConverged as error:
    error.solution.save({str(path)!r})
    print(error.solution.reason.name, flush=True)
    time.sleep(600)
"""
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as process:
        reason = process.stdout.readline().strip()
        process.send_signal(signal.SIGKILL)
    assert process.returncode == -signal.SIGKILL
    assert reason in ("MAX_STEPS", "MAX_SECONDS")
    checkpoint = sm.load(path)
    assert not checkpoint.converged
    assert checkpoint.reason.name == reason
    sol = checkpoint.resume(tol=1e-9, max_steps=None, rng=1)
    A, B = sparse_pair()
    check(sol, A, B, 4, which, tol=1e-9)
    reference = sm.solve(A, B, 4, which=which, tol=1e-9, rng=0)
    np.testing.assert_allclose(sol.eigenvalues, reference.eigenvalues, rtol=1e-8)


def test_no_pickle_inside(saved):
    with np.load(io.BytesIO(saved.read_bytes()), allow_pickle=False) as file:
        assert all(array.dtype != object for array in file.values())
