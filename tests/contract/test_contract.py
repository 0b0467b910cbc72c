"""What holds for everything public: documented, immutable, printable, picklable; and the README runs."""

from __future__ import annotations

import dataclasses
import inspect
import pickle
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from tools.package.readme import blocks

import splitmerge as sm

ROOT = Path(__file__).resolve().parents[2]
OPTIONS = [
    getattr(sm, name)
    for name in sm.__all__
    if dataclasses.is_dataclass(getattr(sm, name)) and not inspect.isabstract(getattr(sm, name))
    if name not in ("Method", "Solution", "Objective", "TransformDomain")
]
ARGUMENTS = {"Fixed": (0.5,), "SineAngle": (np.ones(3),), "MaxSeconds": (1.0,), "UserSolve": (np.sqrt,)}
ARGUMENTS["Checkpoint"] = ("run.ckpt",)
ARGUMENTS["UserPreconditioner"] = (np.sqrt,)


def make(cls):
    return cls(*ARGUMENTS.get(cls.__name__, ()))


@pytest.mark.parametrize("name", sm.__all__)
def test_public_names_exist_and_say_what_they_are(name):
    thing = getattr(sm, name)
    assert inspect.getdoc(thing), name
    assert inspect.getdoc(thing) != inspect.getdoc(object)


def test_all_is_complete():
    names = [name for name in (*vars(sm), *sm._LATER) if not name.startswith("_")]
    public = {name for name in names if not inspect.ismodule(getattr(sm, name))}
    assert public | {"gallery"} == set(sm.__all__)


@pytest.mark.parametrize("cls", OPTIONS, ids=lambda cls: cls.__name__)
def test_options_are_immutable_printable_and_picklable(cls):
    thing = make(cls)
    assert cls.__name__ in repr(thing)
    assert repr(pickle.loads(pickle.dumps(thing))) == repr(thing)
    for field in dataclasses.fields(thing):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(thing, field.name, None)


@pytest.mark.parametrize(
    "method",
    [cls for cls in OPTIONS if issubclass(cls, sm.Method)],
    ids=lambda cls: cls.__name__,
)
def test_every_method_solves_with_nothing_else_said(method):
    A, B = sm.gallery.synthetic_pair(40, 5, rng=3)
    sol = sm.solve(A, B, k=2, method=method(), rng=0)
    exact = np.linalg.eigvals(np.linalg.solve(B, A)).real
    np.testing.assert_allclose(sol.eigenvalues, np.sort(exact)[::-1][:2], rtol=1e-8)


def test_readme_examples_run(capsys, tmp_path, monkeypatch):
    # they save a file
    monkeypatch.chdir(tmp_path)
    found = blocks((ROOT / "README.md").read_text(encoding="utf-8"), "python")
    assert len(found) >= 2
    exec("\n".join(block.text for block in found), {})
    assert "Cholesky" in capsys.readouterr().out


def test_demo_prints_a_table_and_writes_a_picture(tmp_path):
    picture = tmp_path / "demo.png"
    command = [sys.executable, str(ROOT / "examples" / "demo.py"), "--n", "64", "--out", str(picture)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    rows = [line for line in done.stdout.splitlines() if re.search(r"\d\.\de-\d\d.*\d\.\de-\d\d", line)]
    assert len(rows) == 10
    assert all(float(line.split()[-3]) <= 1e-5 for line in rows)
    assert picture.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"


def test_import_is_light():
    """No plotting, no progress bar, no test tools at import."""
    code = "import sys, splitmerge; print([m for m in ('matplotlib', 'tqdm', 'hypothesis') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
