"""The files that the command line writes: whole or not at all, and never in place of a device."""

import errno
import os
import resource
import stat
import subprocess

import pytest

from checking import exhaustive
from commands import command, environment, refused
from splitmerge.cli import main

pytestmark = pytest.mark.skipif(os.name != "posix", reason="limits and pipes of POSIX systems")

OUTPUTS = {
    "csv": ("solve", "K.mtx", "M.mtx", "-q", "-o", "x.csv"),
    "npz": ("solve", "K.mtx", "M.mtx", "-q", "-o", "x.npz"),
    "report": ("solve", "K.mtx", "M.mtx", "-q", "--report", "x.html"),
    "comparison": ("compare", "K.mtx", "M.mtx", "--only", "default", "--report", "x.html"),
    "plot": ("demo", "--n", "40", "--out", "x.png"),
    **{f"converted {suffix}": ("convert", "K.mtx", f"x.{suffix}") for suffix in ("petsc", "mtx", "npz", "npy")},
}


def argument(words):
    """What the file to write is called in errors."""
    return "OUT" if words[0] == "convert" else words[-2]


each_output = pytest.mark.parametrize("name", OUTPUTS)


@each_output
@pytest.mark.parametrize("linked", [False, True])
def test_a_pipe_is_refused_before_any_work(here, capsys, name, linked):
    words = OUTPUTS[name]
    target = "target" if linked else words[-1]
    os.mkfifo(target)
    if linked:
        os.symlink(target, words[-1])
    assert "which is not replaced; give the name of a file" in refused(capsys, *words)
    assert stat.S_ISFIFO(os.stat(words[-1]).st_mode)


def test_a_pipe_in_the_folder_of_a_reproduction(here, capsys):
    os.mkdir("out")
    os.mkfifo("out/results.json")
    assert "which is not replaced" in refused(capsys, "reproduce", "table1", "--out", "out")


@each_output
def test_a_full_disk_leaves_the_old_file(here, capsys, monkeypatch, name):
    words = OUTPUTS[name]
    (here / words[-1]).write_bytes(b"old")
    before = sorted(os.listdir(here))

    def full(descriptor):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    assert main(list(words)) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert f"{argument(words)} {words[-1]}: No space left on device" in said
    assert (here / words[-1]).read_bytes() == b"old"
    assert sorted(os.listdir(here)) == before


def small_files():
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))


# Matplotlib has files of its own to write, and says so when it cannot
@pytest.mark.parametrize("name", exhaustive(sorted(OUTPUTS.keys() - {"plot"}), quick=3))
def test_a_limit_of_the_file_size_leaves_the_old_file(here, name):
    words = OUTPUTS[name]
    (here / words[-1]).write_bytes(b"old")
    before = sorted(os.listdir(here))
    env = environment() | {"PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        command(*words), capture_output=True, text=True, env=env, cwd=here, preexec_fn=small_files, timeout=120
    )
    assert done.returncode == 2, done.stderr
    assert done.stderr.count("\n") == 1
    assert f"{argument(words)} {words[-1]}: File too large" in done.stderr
    assert (here / words[-1]).read_bytes() == b"old"
    assert sorted(os.listdir(here)) == before


@each_output
def test_permission_bits_stay(here, capsys, name):
    words = OUTPUTS[name]
    (here / words[-1]).write_bytes(b"old")
    (here / words[-1]).chmod(0o640)
    assert main(list(words)) == 0
    assert stat.S_IMODE((here / words[-1]).stat().st_mode) == 0o640
    assert (here / words[-1]).read_bytes() != b"old"
