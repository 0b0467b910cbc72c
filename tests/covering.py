"""A few of many combinations, so that whatever two parameters do to each other is still seen: all pairs of values."""

import itertools

import pytest


def pairs_of(combination):
    """Every two of the values, each with its parameter's name."""
    return set(itertools.combinations(combination.items(), 2))


def cover(combinations, features=pairs_of):
    """The indices of a few combinations that together have all features: one by one the first that adds most."""
    features = [frozenset(features(combination)) for combination in combinations]
    missing = set().union(*features)
    chosen = []
    while missing:
        chosen.append(max(range(len(features)), key=lambda i: len(features[i] & missing)))
        missing -= features[chosen[-1]]
    return sorted(chosen)


def named(values):
    """The values of a parameter by the names that they have in a test's id."""
    if isinstance(values, dict):
        return dict(values)
    names = {str(getattr(value, "__name__", value)): value for value in values}
    assert len(names) == len(values)
    return names


def parametrise(features=pairs_of, /, **parameters):
    """As `parametrize` with every combination, of which those that add no pair of values are slow.

    A parameter is a list of values, or a dictionary of them by name. `features` gives what else than pairs is to occur,
    for a combination of names.
    """
    choices = {parameter: named(values) for parameter, values in parameters.items()}
    combinations = [dict(zip(choices, names, strict=True)) for names in itertools.product(*choices.values())]
    chosen = set(cover(combinations, features))
    return pytest.mark.parametrize(
        list(choices),
        [
            pytest.param(
                *(choices[parameter][name] for parameter, name in combination.items()),
                id="-".join(combination.values()),
                marks=() if i in chosen else pytest.mark.slow,
            )
            for i, combination in enumerate(combinations)
        ],
    )
