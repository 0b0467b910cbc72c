"""Every notebook runs from its first cell to its last, and is stored without outputs."""

import importlib.util
import json
from pathlib import Path

import matplotlib
import pytest

from commands import environment

NOTEBOOKS = sorted((Path(__file__).resolve().parents[2] / "examples").glob("*.ipynb"))
# Starting a kernel on a busy machine takes several seconds.
CELL_SECONDS = 120


def code_cells(notebook):
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    return [cell for cell in cells if cell["cell_type"] == "code"]


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_has_no_outputs(notebook):
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in code_cells(notebook))


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_code(notebook, monkeypatch, tmp_path, capsys):
    """All code cells, one after the other, in this process."""
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    monkeypatch.setattr(plt, "show", lambda: None)
    monkeypatch.chdir(tmp_path)
    names = {}
    for cell in code_cells(notebook):
        exec("".join(cell["source"]), names)
    assert plt.get_fignums()
    plt.close("all")
    assert str(names["sol"].verdict) in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("nbclient") is None, reason="nbclient is not installed")
@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::RuntimeWarning", "ignore::ResourceWarning")
def test_in_a_kernel(notebook, monkeypatch, tmp_path):
    """As Jupyter runs it: the last expression of a cell is shown, and the figure is a picture."""
    import nbclient
    import nbformat

    book = nbformat.read(notebook, as_version=4)
    for name, value in environment().items():
        monkeypatch.setenv(name, value)
    # neither the user's settings nor a display
    monkeypatch.setenv("JUPYTER_PREFER_ENV_PATH", "1")
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    monkeypatch.delenv("MPLBACKEND", raising=False)
    nbclient.NotebookClient(book, timeout=CELL_SECONDS, resources={"metadata": {"path": str(tmp_path)}}).execute()
    outputs = [output for cell in book.cells for output in cell.get("outputs", [])]
    assert not any(output.output_type == "error" or output.get("name") == "stderr" for output in outputs)
    assert any("image/png" in output.get("data", {}) for output in outputs)
