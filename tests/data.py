"""Real pairs for the tests: at `$SPLITMERGE_DATA`, or at `shared/data` beside the repository; skipped when absent."""

import os
from pathlib import Path

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp


def root() -> Path:
    """Where the data are, if they are."""
    given = os.environ.get("SPLITMERGE_DATA")
    return Path(given) if given else Path(__file__).resolve().parents[2] / "shared" / "data"


def path_of(*parts: str) -> Path:
    path = root().joinpath(*parts)
    if not path.is_file():
        pytest.skip(f"real matrices are not here: no {path} (set SPLITMERGE_DATA to their folder)")
    return path


def _matrix(*parts: str) -> sp.csr_array:
    return sp.csr_array(scipy.io.mmread(path_of(*parts))).astype(np.float64)


def harwell_boeing(number: str) -> tuple[sp.csr_array, sp.csr_array]:
    """Stiffness and mass bcsstk/bcsstm; the masses of 01, 03, 04 are singular and that of 10 is indefinite."""
    return _matrix("hb", f"bcsstk{number}.mtx"), _matrix("hb", f"bcsstm{number}.mtx")


def lund() -> tuple[sp.csr_array, sp.csr_array]:
    """The Lund pair, n = 147."""
    return _matrix("hb", "lund_a.mtx"), _matrix("hb", "lund_b.mtx")


def scf(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Fock and overlap, dense: "h2o_ccpvdz" or "benzene_augccpvdz"."""
    with np.load(path_of("scf", f"{name}.npz")) as file:
        return file["A"], file["B"]


def lapla3() -> tuple[sp.csr_array, sp.csr_array]:
    """The paper's Lapla3, n = 5795."""
    return _matrix("lapla", "Lapla3_A.mtx"), _matrix("lapla", "Lapla3_B.mtx")
