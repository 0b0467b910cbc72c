"""What the short way for sparse pairs takes."""

import sys

import pytest


@pytest.fixture
def recorded(monkeypatch):
    """Record what a function of the short way returns, solve by solve: `recorded(name)` is the list of its results."""

    def record(name):
        shortcut, results = sys.modules["splitmerge.express.shortcut"], []
        function = getattr(shortcut, name)

        def watched(*arguments):
            results.append(function(*arguments))
            return results[-1]

        monkeypatch.setattr(shortcut, name, watched)
        return results

    return record
