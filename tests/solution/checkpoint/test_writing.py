"""A checkpoint is written as a whole or not at all; a failure is refused at the start, and told at the end."""

import errno
import os
import sys

import numpy as np
import pytest

import splitmerge as sm
from checking import figures_of
from checkpoints import left_behind
from resuming import laplacian, sparse_pair
from splitmerge.solution.checkpoint import taking, writing

A, B = sparse_pair()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.ckpt"


def failing(error, pieces=0):
    """`write_rows` that writes some rows, then fails."""
    real = writing.write_rows

    def write_rows(file, layout, first, X, crc):
        real(file, layout, first, X[:pieces], crc)
        raise error

    return write_rows


FULL = OSError(errno.ENOSPC, "No space left on device")


class TestWhole:
    @pytest.mark.parametrize("error", [FULL, MemoryError(), ValueError("bad")], ids=lambda e: type(e).__name__)
    def test_half_written(self, path, monkeypatch, error):
        left_behind(path, A, B, k=3)
        before = path.read_bytes()
        monkeypatch.setattr(writing, "write_rows", failing(error, 300))
        sol = sm.solve(A, B, 3, rng=0, checkpoint=sm.Checkpoint(path, 0))
        assert sol.converged
        assert path.read_bytes() == before
        assert os.listdir(path.parent) == [path.name], "no temporary file is left"
        told = figures_of(sol, "CHECKPOINT")
        assert told["written"] == 0
        assert told["failure"] in sol.explain()

    def test_a_failure_after_others(self, path, monkeypatch):
        writes, real = 0, taking.write

        def write(*given):
            nonlocal writes
            writes += 1
            if writes > 2:
                raise FULL
            real(*given)

        monkeypatch.setattr(taking, "write", write)
        sol = sm.solve(A, B, 3, rng=0, checkpoint=sm.Checkpoint(path, 0))
        assert f"The checkpoint {path} was written 2 times, the last time after" in sol.explain()
        assert "Writing it then failed: No space left on device." in sol.explain()
        assert sm.load(path).resume(A, B).converged

    def test_a_success_after_a_failure(self, path, monkeypatch):
        writes, real = 0, taking.write

        def write(*given):
            nonlocal writes
            writes += 1
            if writes == 1:
                raise FULL
            real(*given)

        monkeypatch.setattr(taking, "write", write)
        sol = sm.solve(A, B, 3, rng=0, checkpoint=sm.Checkpoint(path, 0))
        assert figures_of(sol, "CHECKPOINT")["failure"] is None

    def test_an_interrupt(self, path, monkeypatch):
        """Ctrl-C while it is written is one of the solve, and the file stays as it was."""
        left_behind(path, A, B, k=3)
        before = path.read_bytes()
        monkeypatch.setattr(writing, "write_rows", failing(KeyboardInterrupt(), 300))
        sol = sm.solve(A, B, 3, rng=0, checkpoint=sm.Checkpoint(path, 0))
        assert sol.reason is sm.Reason.INTERRUPTED
        assert path.read_bytes() == before
        assert os.listdir(path.parent) == [path.name]

    def test_interrupted_solve_is_up_to_date(self, path):
        def stop(state):
            if state.step == 3:
                raise KeyboardInterrupt

        sol = sm.solve(A, B, 4, rng=0, callback=stop, checkpoint=path)
        assert sol.reason is sm.Reason.INTERRUPTED
        assert sm.load(path).steps == sol.steps
        assert sm.load(path).resume(A, B).converged

    def test_out_of_steps(self, path):
        with pytest.raises(sm.NotConverged):
            sm.solve(A, B, 4, rng=0, max_steps=2, checkpoint=path)
        assert sm.load(path).resume(A, B, max_steps=None).converged

    def test_numbers_beyond_all_bounds_do_not_replace_a_start(self, path, monkeypatch):
        left_behind(path, A, B, k=3)
        before = path.read_bytes()
        monkeypatch.setattr(
            sm.methods.krylov.thick_restart.ThickRestart, "checkpoint", lambda _: np.full((600, 1), np.inf)
        )
        sm.solve(A, B, 3, rng=0, checkpoint=sm.Checkpoint(path, 0))
        assert path.read_bytes() == before

    def test_permissions_and_links_stay(self, path):
        target = path.with_name("target")
        target.write_bytes(b"old")
        target.chmod(0o640)
        path.symlink_to(target)
        sm.solve(A, B, 2, rng=0, checkpoint=path)
        assert path.is_symlink()
        assert target.stat().st_mode & 0o777 == 0o640
        assert sm.load(path).vectors.shape[0] == 600


class TestRefusedAtOnce:
    """Before any product, even where LAPACK would be done at once."""

    @pytest.fixture(params=["small", "large"])
    def pair(self, request):
        return (np.eye(3), None) if request.param == "small" else (laplacian(700), None)

    def refused(self, pair, checkpoint, pattern):
        with pytest.raises(ValueError, match=f"^checkpoint is .*{pattern}"):
            sm.solve(*pair, checkpoint=checkpoint)

    def test_no_folder(self, pair, tmp_path):
        self.refused(pair, tmp_path / "none" / "x.ckpt", "there is no folder .*none; create it first")

    def test_a_folder(self, pair, tmp_path):
        self.refused(pair, tmp_path, "a folder")

    @pytest.mark.skipif(sys.platform == "win32", reason="no pipes there")
    def test_a_pipe(self, pair, tmp_path):
        os.mkfifo(tmp_path / "pipe")
        self.refused(pair, tmp_path / "pipe", "a device, a pipe or a socket")

    @pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="no folder that nobody may write to")
    def test_not_writable(self, pair):
        self.refused(pair, "/proc/x.ckpt", "give another path")

    @pytest.mark.parametrize("checkpoint", ["a\0b", 3, b"x", True, object()])
    def test_no_path(self, pair, checkpoint):
        self.refused(pair, checkpoint, "give")

    def test_options(self):
        for seconds in (-1, np.nan, np.inf, "1", True, None):
            with pytest.raises(ValueError, match=r"^seconds is"):
                sm.Checkpoint("x", seconds)
        for path in (3, None, b"x"):
            with pytest.raises(ValueError, match=r"^path is"):
                sm.Checkpoint(path)

    def test_nothing_is_left_behind(self, tmp_path):
        with pytest.raises(ValueError, match=r"^k is"):
            sm.solve(np.eye(3), k=5, checkpoint=tmp_path / "x")
        assert os.listdir(tmp_path) == []
