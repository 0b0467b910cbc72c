"""Compressed storage that SciPy accepts is accepted."""

import numpy as np
import pytest

from splitmerge.solution.store.compressed import check_compressed
from splitmerge.solution.store.guard import UnreadableFile


def test_room_for_more_entries():
    """SciPy's arrays may be longer than the last pointer."""
    check_compressed(np.ones(5), np.array([0, 1, 2, 0, 0]), np.array([0, 1, 2, 3]), (3, 3))


def test_a_pointer_beyond_the_entries():
    with pytest.raises(UnreadableFile, match="there are 2 entries"):
        check_compressed(np.ones(2), np.array([0, 1]), np.array([0, 1, 2, 3]), (3, 3))
