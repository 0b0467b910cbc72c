"""What `import splitmerge` leaves for later, and that it is there when it is used."""

import subprocess
import sys

import pytest

import splitmerge as sm
from commands import environment

PROGRAM = "import sys; import splitmerge as sm; {}; print(sorted(set({!r}) & sys.modules.keys()))"
LATER = (
    *("scipy.io", "scipy.special", "pyamg", "tqdm", "zipfile"),
    *("splitmerge.gallery", "splitmerge.io.matrices", "splitmerge.solution.store", "splitmerge.slicing.interval"),
)


def imported(statement):
    program = PROGRAM.format(statement, LATER)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment())
    assert not done.stderr
    return done.stdout.strip()


def test_a_solve_needs_none_of_them():
    # SciPy and NumPy may import modules of the standard library for themselves
    found = imported("import numpy as np; sm.solve(np.diag([1.0, 2.0, 3.0]))")
    assert found in ("[]", "['zipfile']")


@pytest.mark.parametrize(
    ("statement", "module"),
    [
        ("sm.gallery", "splitmerge.gallery"),
        ("from splitmerge import gallery", "splitmerge.gallery"),
        ("sm.load", "splitmerge.solution.store"),
        ("sm.read_pair", "splitmerge.io.matrices"),
        ("import numpy as np; sm.solve(np.diag([1.0, 2.0, 3.0]), interval=(0, 2))", "splitmerge.slicing.interval"),
    ],
)
def test_when_it_is_used(statement, module):
    assert f"'{module}'" in imported(statement)


def test_every_public_name():
    for name in sm.__all__:
        assert getattr(sm, name) is getattr(sm, name)
    assert dir(sm) == sorted(sm.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        sm.nothing  # noqa: B018
