"""Output files: regular ones are replaced whole and keep their permissions, and nothing else is replaced."""

import errno
import os
import socket
import stat

import numpy as np
import pytest

import splitmerge as sm
from splitmerge.solution.store.replacement import UnwritableFile, check_replaceable, replace_text, replaced

pytestmark = pytest.mark.skipif(os.name != "posix", reason="there are no device files")


def device(path):
    """A device of our own, so that a failure does not cost the machine its /dev/null."""
    try:
        os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, 3))
    except OSError:
        pytest.skip("making a device is not allowed")


def folder(path):
    path.mkdir()


def listener(path):
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))


NOT_REGULAR = {"device": device, "pipe": os.mkfifo, "folder": folder, "socket": listener}
each_kind = pytest.mark.parametrize("kind", NOT_REGULAR)


@pytest.fixture(scope="module")
def solution():
    return sm.solve(np.diag([1.0, 2.0, 3.0]), rng=0)


@each_kind
@pytest.mark.parametrize("linked", [False, True])
def test_save_does_not_replace_what_is_not_a_regular_file(tmp_path, monkeypatch, solution, kind, linked):
    # a socket's path must be short
    monkeypatch.chdir(tmp_path)
    target = path = tmp_path / "x"
    NOT_REGULAR[kind](target.relative_to(tmp_path) if kind == "socket" else target)
    if linked:
        path = tmp_path / "link"
        path.symlink_to(target)
    before = os.stat(target)
    with pytest.raises(UnwritableFile, match=r"give the name of a file") as caught:
        solution.save(path)
    assert str(path) in str(caught.value)
    assert os.stat(target).st_mode == before.st_mode
    assert os.stat(target).st_ino == before.st_ino
    assert sorted(os.listdir(tmp_path)) == (["link", "x"] if linked else ["x"])


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o755])
def test_permission_bits_stay(tmp_path, solution, mode):
    path = tmp_path / "sol"
    path.write_bytes(b"old")
    path.chmod(mode)
    solution.save(path)
    assert stat.S_IMODE(path.stat().st_mode) == mode
    assert sm.load(path).converged


def test_a_link_to_a_regular_file_stays_a_link(tmp_path):
    (tmp_path / "target").write_text("old")
    (tmp_path / "target").chmod(0o600)
    (tmp_path / "link").symlink_to("target")
    replace_text(tmp_path / "link", "new λ")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "target").read_text(encoding="utf-8") == "new λ"
    assert stat.S_IMODE((tmp_path / "target").stat().st_mode) == 0o600


def test_what_is_there(tmp_path):
    assert check_replaceable(tmp_path / "absent") is None
    (tmp_path / "file").touch(0o600)
    assert check_replaceable(tmp_path / "file") == 0o600
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(OSError, match="symbolic links"):
        check_replaceable(tmp_path / "loop")


@pytest.mark.parametrize("call", ["fsync", "replace"])
def test_a_full_disk_leaves_the_old_file(tmp_path, monkeypatch, solution, call):
    path = tmp_path / "sol"
    path.write_bytes(b"old")

    def full(*arguments):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, call, full)
    with pytest.raises(OSError, match="No space left"):
        solution.save(path)
    with pytest.raises(OSError, match="No space left"), replaced(path) as file:
        file.write(b"new")
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["sol"]
