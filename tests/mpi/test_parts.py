"""Parts of a distributed solve, on one, two and three processes."""

from pathlib import Path

import pytest

PARTS = Path(__file__).parent / "programs_parts.py"


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_blocks_are_solved_as_their_columns_are(launch, ranks):
    told = launch(ranks, "blocks", repr({"counts": (1, 2, 8, 9, 19)}), module=PARTS)
    assert told["worst"] < 1e-10
    # the last blocks had 8 and 3 columns
    assert told["kept"] == 2


@pytest.mark.parametrize("ranks", [1, 3])
def test_grids_in_the_plane_are_told_from_those_in_space(launch, ranks):
    """The smallest of the former are found by a factorisation; next to a boundary, fewer rows are near."""
    plane, space = [(50, 60), (5000,), (20, 400)], [(16, 16, 16), (24, 24, 24), (12, 20, 30)]
    told = launch(ranks, "plane", repr({"shapes": [*plane, *space]}), module=PARTS)
    assert told["plane"] == [True] * len(plane) + [False] * len(space)


def test_the_smallest_of_a_mesh_in_the_plane_are_found_by_a_factorisation(program):
    options = {"k": 4, "which": "smallest", "rng": 0}
    for ranks in (1, 2):
        told = program(ranks, "solve", pair=("square", 60), options=options)
        assert told["converged"]
        assert any("SHIFT_INVERT" in choice and "MUMPS" in choice for choice in told["choices"])
