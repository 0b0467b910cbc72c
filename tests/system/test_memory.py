"""How much memory is free: the least of what machine, process and group allow."""

import math
import os

import pytest

from splitmerge.system import memory

MACHINE = "/proc/meminfo"
LIMIT, TAKEN = "/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"


@pytest.fixture
def files(monkeypatch):
    """The files of the system, as the test fills them; a process without a limit."""
    resource = pytest.importorskip("resource")
    monkeypatch.setattr(resource, "getrlimit", lambda which: (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    contents = {}

    class Files:
        def __init__(self, path):
            self.path = path

        def read_text(self):
            try:
                return contents[self.path]
            except KeyError:
                raise FileNotFoundError(self.path) from None

    monkeypatch.setattr(memory, "Path", Files)
    return contents


@pytest.fixture
def no_machine(monkeypatch):
    def unknown(name):
        raise ValueError(name)

    monkeypatch.setattr(os, "sysconf", unknown)


def test_of_this_machine():
    assert 2**20 < memory.free_memory() < 2**60


def test_what_is_available_and_not_what_is_free(files):
    files[MACHINE] = "MemTotal:  9000 kB\nMemFree:  10 kB\nMemAvailable:  3000 kB\n"
    assert memory.free_memory() == 3000 * 1024


def test_all_of_it_where_nothing_says_what_is_available(files, monkeypatch):
    monkeypatch.setattr(os, "sysconf", {"SC_PHYS_PAGES": 1000, "SC_PAGE_SIZE": 4096}.__getitem__)
    assert memory.free_memory() == 4096000
    files[MACHINE] = "MemTotal:  9000 kB\n"
    assert memory.free_memory() == 4096000


def test_unknown(files, no_machine):
    assert memory.free_memory() == math.inf


@pytest.mark.parametrize(("taken", "left"), [("400", 600), ("1000", 0), ("1200", 0)])
def test_the_group(files, no_machine, taken, left):
    files.update({LIMIT: "1000\n", TAKEN: taken})
    assert memory.free_memory() == left


def test_a_group_without_a_limit(files, no_machine):
    files.update({LIMIT: "max\n", TAKEN: "400\n"})
    assert memory.free_memory() == math.inf


@pytest.mark.parametrize(("pages", "left"), [(1, 10**6), (10**9, 0)])
def test_the_process(files, no_machine, monkeypatch, pages, left):
    import resource

    size = resource.getpagesize()
    monkeypatch.setattr(resource, "getrlimit", lambda which: (size + 10**6, size + 10**6))
    assert memory.free_memory() == size + 10**6
    files["/proc/self/statm"] = f"{pages} 0 0"
    assert memory.free_memory() == left


def test_the_least_counts(files, monkeypatch):
    files.update({MACHINE: "MemAvailable: 5 kB", LIMIT: "4000", TAKEN: "1000"})
    assert memory.free_memory() == 3000
    files[LIMIT] = "9000"
    assert memory.free_memory() == 5 * 1024


@pytest.mark.parametrize("hard", [None, 10**9, 10**12], ids=["no hard limit", "equal", "higher"])
def test_the_soft_limit_of_the_process_binds(files, no_machine, monkeypatch, hard):
    """An allocation fails at the soft limit, however far the hard one is."""
    import resource

    hard = resource.RLIM_INFINITY if hard is None else hard
    monkeypatch.setattr(resource, "getrlimit", lambda which: (10**9, hard) if which == resource.RLIMIT_AS else None)
    assert memory.free_memory() == 10**9
    files["/proc/self/statm"] = "3 0 0"
    assert memory.free_memory() == 10**9 - 3 * resource.getpagesize()
