"""Failing asserts of the shared checks show their values, as those of the tests do; a folder with files of a pair."""

import pytest

pytest.register_assert_rewrite("checking", "commands")


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder with K.mtx, M.mtx and pair.npz, to be in."""
    from commands import write_mikota

    write_mikota(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path
