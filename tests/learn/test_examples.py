"""The examples of `splitmerge.learn` run, say what they always said, and draw."""

import runpy
from pathlib import Path

import numpy as np

from data import path_of, root

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def run(name, folder, *options):
    """What `main` of examples/learn_<name>.py returns; it must have drawn a picture."""
    script = runpy.run_path(str(EXAMPLES / f"learn_{name}.py"))
    picture = folder / "new" / f"{name}.png"
    found = script["main"](["--out", str(picture), *options])
    assert picture.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    return found


def test_csp_sees_which_hand_area_fell_silent(tmp_path, capsys):
    found = run("csp", tmp_path)
    assert found["rank"] == 30
    np.testing.assert_allclose(found["eigenvalues"], [0.6532, 0.3491], atol=1e-4)
    np.testing.assert_allclose([found["by_csp"], found["by_channels"]], [0.87, 0.67], atol=0.021)
    assert "accuracy on new trials: 87% with CSP" in capsys.readouterr().out


def test_two_close_sinusoids_in_coloured_noise(tmp_path, capsys):
    found = run("harmonic", tmp_path, "--records", "15")
    np.testing.assert_allclose(found["frequencies"], [300.04, 303.88], atol=0.01)
    assert (found["known"], found["guessed"]) == (1.0, 0.0)
    assert "both found in 100% of 15 records with the noise known, in 0% without" in capsys.readouterr().out


def test_cca_of_two_views_of_digits(tmp_path, monkeypatch):
    path_of("stats", "uci_mfeat.npz")
    monkeypatch.setenv("SPLITMERGE_DATA", str(root()))
    found = run("cca", tmp_path)
    np.testing.assert_allclose(found["correlations"][:3], [0.94918, 0.88535, 0.83836], atol=1e-5)
    np.testing.assert_allclose(found["kept"][:3], [0.937, 0.848, 0.803], atol=1e-3)


def test_cca_of_generated_views(tmp_path, monkeypatch):
    monkeypatch.setenv("SPLITMERGE_DATA", str(tmp_path))
    found = run("cca", tmp_path)
    np.testing.assert_allclose(found["correlations"][:5], [0.8949, 0.8292, 0.6612, 0.6098, 0.2708], atol=1e-4)
    # four directions were put there; the others are seen in no new row
    assert (found["kept"][:4] > 0.5).all()
    assert (np.abs(found["kept"][4:]) < 0.1).all()


def test_lda_of_digits(tmp_path):
    found = run("lda", tmp_path)
    np.testing.assert_allclose(found["score"], 0.949, atol=2e-3)
    np.testing.assert_allclose(found["share"][:2], [0.30, 0.18], atol=0.01)


def test_sir_of_athletes(tmp_path, monkeypatch):
    path_of("stats", "sliced_athletes.csv")
    monkeypatch.setenv("SPLITMERGE_DATA", str(root()))
    found = run("sir", tmp_path)
    np.testing.assert_allclose(found["eigenvalues"], [0.9465, 0.2078], atol=1e-4)
    np.testing.assert_allclose(found["explained"], 0.9877, atol=1e-4)
    np.testing.assert_allclose(found["effects"][:2], [-0.390, 1.0], atol=1e-3)


def test_sir_of_generated_rows(tmp_path, monkeypatch):
    monkeypatch.setenv("SPLITMERGE_DATA", str(tmp_path))
    found = run("sir", tmp_path)
    np.testing.assert_allclose(found["eigenvalues"], [0.9719, 0.1117], atol=1e-4)
    np.testing.assert_allclose(found["effects"][:2], [-0.2115, 1.0], atol=1e-3)
