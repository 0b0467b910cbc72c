"""Every script of the gallery runs without a warning, draws, and finds what is known."""

import ast
import io
import runpy
from pathlib import Path

import matplotlib
import numpy as np
import pytest
from scipy.special import jn_zeros

GALLERY = Path(__file__).resolve().parents[2] / "examples" / "gallery"
SCRIPTS = sorted(path.stem.removeprefix("plot_") for path in GALLERY.glob("plot_*.py"))
SLOW = {"cca", "csp", "harmonics", "large", "lda", "plate", "sir"}
# A phone shows a figure of 4.8 inches at some 75 pixels per inch, where 8 points are 8 pixels.
MAX_WIDTH_INCHES, MIN_FONT_POINTS = 4.8, 8


@pytest.fixture
def plots(monkeypatch):
    """pyplot without a screen; the figures of a script stay open until the test ends."""
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    monkeypatch.setattr(plt, "show", lambda: None)
    plt.close("all")
    yield plt
    plt.close("all")


def plate(found):
    # Legendre–Ritz solutions of a completely free square plate with Poisson's ratio 0.3
    np.testing.assert_allclose(found["scaled"], [13.468, 19.596, 24.270, 34.801, 34.801, 61.093], rtol=1e-4)
    assert (found["frequencies"][:3] < 1e-2).all()


def drum(found):
    zeros = np.concatenate([jn_zeros(m, 3) for m in (0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5)])
    np.testing.assert_allclose(found["sol"].eigenvalues, np.sort(zeros)[:12] ** 2, rtol=2e-4)
    assert found["sol"].verdict == "certified"


def buckling(found):
    factors = np.array([0.25, 1, 1 / 0.699156**2, 4])
    euler = np.pi**2 * found["bending"] / found["length"] ** 2 * factors
    np.testing.assert_allclose([loads[0] for loads, _ in found["found"].values()], euler, rtol=1e-5)


def molecule(found):
    # Szabo and Ostlund, Modern Quantum Chemistry, section 3.5.2
    assert found["molecule"][0] == pytest.approx(-1.1167, abs=1e-4)
    assert np.unique(found["sol"].clusters, return_counts=True)[1].tolist() == [1, 2, 2, 1]


def bethe(spins):
    """The ground state energy per spin from Bethe's equations N arctan 2xⱼ = π Iⱼ + Σₖ arctan(xⱼ − xₖ)."""
    numbers = np.arange(spins // 2) - (spins // 2 - 1) / 2
    x = np.zeros(spins // 2)
    for _ in range(500):
        x = 0.5 * np.tan((np.pi * numbers + np.arctan(x[:, None] - x).sum(axis=1)) / spins)
    return 0.25 - np.sum(2 / (1 + 4 * x**2)) / spins


def spin_chain(found):
    energies = found["levels"][:, 0] / found["sizes"]
    assert energies[0] == pytest.approx(-0.5)
    np.testing.assert_allclose(energies, [bethe(spins) for spins in found["sizes"]], atol=1e-10)


def graph_partition(found):
    assert abs(found["sol"].eigenvalues[0]) < 1e-12
    assert found["sol"].eigenvalues[1] / 2 < found["conductance"][found["best"]] < 2e-3
    # the cut goes through the door
    door = found["points"][found["cut"]].mean(axis=(0, 1))
    np.testing.assert_allclose(door, [1.2, 0.35], atol=0.1)


def cca(found):
    np.testing.assert_allclose(found["sol"].eigenvalues, found["cca"].correlations_, rtol=1e-10)
    assert min(found["kept"][:4]) > 0.7


def lda(found):
    share = found["sol"].eigenvalues / found["sol"].eigenvalues.sum()
    np.testing.assert_allclose(found["lda"].explained_variance_ratio_, share, rtol=1e-10)
    assert found["accuracy"] > 0.95


def sir(found):
    np.testing.assert_allclose(found["sol"].eigenvalues, found["sir"].eigenvalues_, rtol=1e-10)
    assert np.corrcoef(found["X"] @ found["hidden"], found["X"] @ found["found"])[0, 1] > 0.999


def csp(found):
    np.testing.assert_allclose(found["sol"].eigenvalues, found["csp"].eigenvalues_[:2], rtol=1e-10)
    assert found["by_csp"] > found["by_power"]


def harmonics(found):
    np.testing.assert_allclose(found["found"].frequencies, [47, 50, 53], atol=0.25)
    np.testing.assert_allclose(found["sol"].eigenvalues, found["found"].eigenvalues[:10], rtol=1e-8)


def large(found):
    assert found["extrapolated"] == pytest.approx(3 * np.pi**2, rel=1e-6)
    assert found["sizes"][-1] == 205_379


KNOWN = {
    check.__name__: check
    for check in (plate, drum, buckling, molecule, spin_chain, graph_partition, cca, lda, sir, csp, harmonics, large)
}


def test_every_script_is_checked():
    assert sorted(KNOWN) == SCRIPTS


@pytest.mark.parametrize("name", [pytest.param(s, marks=[pytest.mark.slow] * (s in SLOW)) for s in SCRIPTS])
def test_script(name, plots, capsys):
    found = runpy.run_path(str(GALLERY / f"plot_{name}.py"), run_name="__main__")
    KNOWN[name](found)
    assert (found["sol"].residuals <= 1e-8).all()
    assert found["sol"].verdict in ("certified", "probed")
    said = capsys.readouterr().out
    assert "residual" in said
    assert str(found["sol"].verdict) in said
    figures = [plots.figure(number) for number in plots.get_fignums()]
    assert figures
    for figure in figures:
        figure.savefig(io.BytesIO(), dpi=50)
        assert figure.get_figwidth() <= MAX_WIDTH_INCHES
        texts = [text for text in figure.findobj(matplotlib.text.Text) if text.get_text() and text.get_visible()]
        assert min(text.get_fontsize() for text in texts) >= MIN_FONT_POINTS


@pytest.mark.parametrize("name", SCRIPTS)
def test_title(name):
    """sphinx-gallery takes the title and the text below it from the docstring."""
    lines = ast.get_docstring(ast.parse((GALLERY / f"plot_{name}.py").read_text(encoding="utf-8"))).splitlines()
    assert lines[1] == "=" * len(lines[0])
    assert lines[2] == ""
    assert len(" ".join(lines[3:])) > 200


@pytest.mark.parametrize("name", SCRIPTS)
def test_one_figure_in_a_block(name):
    """sphinx-gallery puts figures of one block beside each other, at half their size."""
    blocks = (GALLERY / f"plot_{name}.py").read_text(encoding="utf-8").split("\n# %%\n")
    drawn = [block for block in blocks if "plt.subplots(" in block]
    assert all(block.count("plt.subplots(") == 1 for block in drawn)
    # otherwise the page shows what the last call returned
    assert all(block.rstrip().endswith("plt.show()") for block in drawn)
