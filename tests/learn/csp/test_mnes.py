"""MNE's own tests of CSP and SPoC, with ours in place of them.

They are not part of MNE's wheel: install MNE from its repository (`pip install -e`) to run them.
"""

from __future__ import annotations

import importlib.util
import logging
from pathlib import Path

import pytest

from splitmerge.learn import CSP, SPoC

mne = pytest.importorskip("mne", reason="MNE is not installed")
SOURCE = Path(mne.__file__).parent / "decoding" / "tests" / "test_csp.py"
if not SOURCE.is_file():
    pytest.skip("MNE is installed without its tests", allow_module_level=True)

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("default")]
# Tests of what is neither CSP nor SPoC: files for MNE's read_csp, and a function for joint diagonalisation.
NOT_TAKEN = {"test_io_roundtrip", "test_ajd"}


def _mnes_tests():
    """The module, in which CSP and SPoC are ours from the start, as its parametrisation has instances of them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mne.decoding, "CSP", CSP)
        patch.setattr(mne.decoding, "SPoC", SPoC)
        spec = importlib.util.spec_from_file_location("mnes_test_csp", SOURCE)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    assert module.CSP is CSP
    assert module.SPoC is SPoC
    return module


mnes = _mnes_tests()
TAKEN = {name: test for name, test in vars(mnes).items() if name.startswith("test_") and name not in NOT_TAKEN}
# collected with MNE's parameters
globals().update(TAKEN)


@pytest.fixture(autouse=True)
def log_of_mne():
    """MNE's tests read its log: what ours says is written to it."""
    ours, theirs = logging.getLogger("splitmerge.learn.csp"), logging.getLogger("mne")

    class Forward(logging.Handler):
        def emit(self, record):
            theirs.handle(record)

    forward, level = Forward(), ours.level
    ours.addHandler(forward)
    ours.setLevel(logging.INFO)
    yield
    ours.removeHandler(forward)
    ours.setLevel(level)


def test_mnes_tests_are_complete():
    names = {name for name in vars(mnes) if name.startswith("test_")}
    assert names >= NOT_TAKEN
    assert TAKEN.keys() >= {"test_csp", "test_regularized_csp", "test_spoc", "test_csp_component_ordering"}
