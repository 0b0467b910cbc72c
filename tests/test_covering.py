"""The few combinations that stand for all: they hold every pair, are few, and are always the same ones."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from covering import cover, named, pairs_of, parametrise


def product(sizes):
    """Every combination of parameters with so many values."""
    names = [f"p{i}" for i in range(len(sizes))]
    return [dict(zip(names, values, strict=True)) for values in itertools.product(*map(range, sizes))]


@given(st.lists(st.integers(1, 5), min_size=2, max_size=4))
def test_every_pair_of_values_occurs(sizes):
    combinations = product(sizes)
    chosen = [combinations[i] for i in cover(combinations)]
    for (i, one), (j, two) in itertools.combinations(enumerate(sizes), 2):
        seen = {(combination[f"p{i}"], combination[f"p{j}"]) for combination in chosen}
        assert seen == set(itertools.product(range(one), range(two)))


@pytest.mark.parametrize("sizes", [(15, 4, 2, 3, 4), (5, 3, 3, 2, 4), (2, 2, 2, 7, 2, 2), (15, 5, 3)])
def test_few_are_enough(sizes):
    """No fewer than the two largest make; a greedy choice takes little more, and no combination twice."""
    combinations = product(sizes)
    chosen = cover(combinations)
    least = int(np.prod(sorted(sizes)[-2:]))
    assert least <= len(chosen) <= 1.3 * least
    assert chosen == sorted(set(chosen)) == cover(combinations)


def test_combinations_that_do_not_exist_are_not_needed():
    combinations = [c for c in product((3, 3, 3)) if c["p0"] <= c["p1"]]
    chosen = cover(combinations)
    assert set().union(*map(pairs_of, combinations)) == set().union(*(pairs_of(combinations[i]) for i in chosen))


def test_other_features():
    chosen = cover(product((6, 6)), lambda c: {("p0", c["p0"]), ("p1", c["p1"])})
    assert len(chosen) == 6


def test_every_combination_is_there_and_those_that_add_nothing_are_slow():
    mark = parametrise(size=[(1, 1), (2, 1)], which=["largest", "smallest"], kind={"dense": np.asarray, "list": list})
    names, items = mark.args
    assert names == ["size", "which", "kind"]
    assert [item.values for item in items] == list(
        itertools.product([(1, 1), (2, 1)], ["largest", "smallest"], [np.asarray, list])
    )
    assert items[0].id == "(1, 1)-largest-dense"
    quick = [item.values for item in items if not item.marks]
    assert all(mark.name == "slow" for item in items for mark in item.marks)
    assert len(quick) == 4
    assert {values[:2] for values in quick} == set(itertools.product([(1, 1), (2, 1)], ["largest", "smallest"]))


def test_values_without_names_of_their_own_are_refused():
    assert list(named([None, 1.5, list])) == ["None", "1.5", "list"]
    with pytest.raises(AssertionError):
        named([1, "1"])
