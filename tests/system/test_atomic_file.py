"""A file is written as a whole, or what was there stays."""

import os

import pytest

from splitmerge.system.atomic_file import whole_file, write_text


def entries(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("before", [None, b"old"])
def test_appears_at_the_end(tmp_path, before):
    path = tmp_path / "file"
    if before is not None:
        path.write_bytes(before)
    with whole_file(path) as file:
        file.write(b"new")
        file.flush()
        assert (path.read_bytes() if path.exists() else None) == before
    assert path.read_bytes() == b"new"
    assert entries(tmp_path) == ["file"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
@pytest.mark.parametrize("before", [None, b"old"])
def test_a_failure_leaves_what_was_there(tmp_path, before, error):
    path = tmp_path / "file"
    if before is not None:
        path.write_bytes(before)

    def fail():
        with whole_file(path) as file:
            file.write(b"half")
            raise error

    with pytest.raises(error):
        fail()
    assert entries(tmp_path) == ([] if before is None else ["file"])
    assert before is None or path.read_bytes() == before


def test_a_failure_to_replace_leaves_no_part(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "inside").touch()
    with pytest.raises(OSError, match="folder"), whole_file(tmp_path / "folder") as file:
        file.write(b"new")
    assert entries(tmp_path) == ["folder"]


def test_no_folder(tmp_path):
    with pytest.raises(FileNotFoundError), whole_file(tmp_path / "absent" / "file"):
        pytest.fail("there is nothing to write to")
    assert entries(tmp_path) == []


def test_a_link_stays_one(tmp_path):
    (tmp_path / "target").write_bytes(b"old")
    (tmp_path / "link").symlink_to("target")
    with whole_file(tmp_path / "link") as file:
        file.write(b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "target").read_bytes() == b"new"


def test_the_folder_is_that_of_the_beginning(tmp_path, monkeypatch):
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    with whole_file("file") as file:
        os.chdir("elsewhere")
        file.write(b"new")
    assert (tmp_path / "file").read_bytes() == b"new"


def test_two_at_once(tmp_path):
    """Each has a part of its own; the last to end is what stays."""
    with whole_file(tmp_path / "file") as one, whole_file(str(tmp_path / "file")) as two:
        one.write(b"one")
        two.write(b"two")
    assert (tmp_path / "file").read_bytes() == b"one"
    assert entries(tmp_path) == ["file"]


def test_text(tmp_path):
    write_text(tmp_path / "file", "λ\nthe name \udcff of a file")
    assert (tmp_path / "file").read_bytes() == "λ\nthe name ? of a file".encode()
