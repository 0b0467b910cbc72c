"""Whether covariances are formed: by cost and by memory."""

import pytest
import scipy.sparse as sp

from splitmerge.learn.covariance.choice import choose_forming, choose_route
from splitmerge.learn.dask.dispatch import joint_of
from two_views import RNG, X, Y


def test_the_choice_is_by_cost_and_memory(monkeypatch):
    joint = joint_of([X, Y])
    assert choose_forming(joint, 1).formed
    assert "were formed: " in choose_forming(joint, 1).reason
    wide = joint_of([sp.random_array((300, 4000), density=0.001, format="csr", rng=0) for _ in range(2)])
    assert not choose_forming(wide, 2).formed
    monkeypatch.setattr("splitmerge.learn.covariance.choice.free_memory", lambda: 100.0)
    assert "memory" in choose_forming(joint, 1).reason
    assert not choose_forming(joint, 1).formed
    with pytest.raises(ValueError, match="give a ridge"):
        choose_forming(joint, 1, policy="restrict")


def test_wide_views_are_turned_only_where_coordinates_will_do():
    joint = joint_of([RNG.standard_normal((50, 1500)), RNG.standard_normal((50, 3))])
    assert choose_forming(joint, 1).reduced
    assert "coordinates" in choose_forming(joint, 1).reason
    assert not choose_forming(joint, 1, may_reduce=False).reduced


def test_what_cannot_be_held_is_refused(monkeypatch):
    monkeypatch.setattr("splitmerge.learn.covariance.choice.free_memory", lambda: 1e6)
    size = {"rows": 10**5, "columns": 10**5, "entries": 10**10, "classes": 3, "sparse": False, "keep": False}
    assert choose_route(**size, shrunk=True, automatic=False).name == "products"
    with pytest.raises(ValueError, match="as shrinkage"):
        choose_route(**size, shrunk=True, automatic=True)
    with pytest.raises(ValueError, match="as shrinkage"):
        choose_route(**size, shrunk=False, automatic=False)
