"""The sparse finite element example finds the modes of an L-shaped membrane."""

import runpy
from pathlib import Path

import numpy as np

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "sparse_fem.py"


def test_modes_of_an_l_shaped_membrane(tmp_path, capsys):
    script, picture = runpy.run_path(str(EXAMPLE)), tmp_path / "new" / "modes.png"
    found = script["main"](["--out", str(picture), "--refinements", "4"])
    # modes 1 and 3 are known; the others come from a mesh with 197,195 unknowns
    known = [script["FIRST"], 15.19725, script["THIRD"], 29.52148, 31.91264, 41.47451]
    np.testing.assert_allclose(found["eigenvalues"], known, rtol=1e-4)
    assert found["verdict"] == "certified"
    assert "verdict: certified" in capsys.readouterr().out
    assert picture.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
