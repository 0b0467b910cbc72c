"""Functions applied to pairs by the cases, and the namespace of the cases."""

from __future__ import annotations

import gzip
import io
import runpy
import shlex
import sys
import tempfile
from collections.abc import Iterable
from contextlib import redirect_stderr, redirect_stdout
from itertools import islice
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import scipy.io
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, splu

import splitmerge as sm

from . import problems
from .problems import Pair, entries
from .record import printed


def inverse(M: Any) -> LinearOperator:
    """The inverse of a matrix as an operator."""
    solve = splu(sp.csc_array(M)).solve
    return LinearOperator(M.shape, matvec=solve, dtype=M.dtype)


def shifted_inverse(pair: Pair, sigma: float) -> LinearOperator:
    """The inverse of A − σB as an operator."""
    return inverse(pair[0] - sigma * (sp.eye_array(pair[0].shape[0]) if pair[1] is None else pair[1]))


def eigsh(pair: Pair, k: int = 6, **options: Any) -> Any:
    """`sm.eigsh` of a pair."""
    return sm.eigsh(pair[0], k, pair[1], **{"rng": 0, **options})


def first(states: Iterable[Any], count: int) -> list[Any]:
    """The first `count` iterates."""
    return list(islice(states, count))


def watched(pair: Pair, stop_at: int, **options: Any) -> Any:
    """The solution, and the values seen by a callback that stops at a given step."""
    seen: list[tuple[int, float, float]] = []

    def look(state: Any) -> bool:
        seen.append((state.step, state.eigenvalue, state.residual))
        return state.step >= stop_at

    try:
        return sm.solve(*pair, callback=look, rng=0, **options), np.array(seen)
    except sm.NotConverged as error:
        return error.solution, np.array(seen)


def partial(pair: Pair, **options: Any) -> Any:
    """The solution of a `NotConverged` exception."""
    try:
        sm.solve(*pair, rng=0, **options)
    except sm.NotConverged as error:
        return error.solution
    raise AssertionError("it converged")


def through_file(solution: Any) -> Any:
    """The solution after saving and loading."""
    with tempfile.TemporaryDirectory() as folder:
        solution.save(Path(folder) / "modes.npz")
        return sm.load(Path(folder) / "modes.npz")


def command(pair: Pair, line: str) -> dict[str, Any]:
    """Run `splitmerge` on the files K.mtx and M.mtx of the pair, and record its exit code and output."""
    out, err = io.StringIO(), io.StringIO()
    with tempfile.TemporaryDirectory() as folder:
        for name, M in zip(("K.mtx", "M.mtx"), pair, strict=True):
            if M is not None:
                scipy.io.mmwrite(Path(folder) / name, sp.coo_array(M))
        words = [
            str(Path(folder, word)) if "." in word and not word[0].isdigit() else word for word in shlex.split(line)
        ]
        with mock.patch.object(sys, "argv", ["splitmerge", *words]), redirect_stdout(out), redirect_stderr(err):
            try:
                runpy.run_module("splitmerge", run_name="__main__")
                code = 0
            except SystemExit as done:
                code = int(done.code or 0)
        made = sorted(path.name for path in Path(folder).iterdir())
    return {"code": code, "out": printed(out.getvalue()), "complained": bool(err.getvalue()), "files": made}


def read(pair: Pair, *names: str) -> Any:
    """The result of `read_pair` for files with one matrix each, in the formats of their suffixes."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / name for name in names]
        for path, M in zip(paths, pair, strict=False):
            _write(path, M)
        return sm.read_pair(*paths)


def from_file(pair: Pair, name: str) -> Any:
    """The result of `read_pair` for one file, which contains K and M if its name is "pair"."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name.partition("#")[0]
        both = dict(zip("KM", pair, strict=True))
        if path.name == "pair.npz":
            np.savez(path, **{letter: entries(M) for letter, M in both.items()})
        elif path.name == "pair.mat":
            scipy.io.savemat(path, {letter: sp.csc_matrix(M) for letter, M in both.items()})
        else:
            _write(path, pair[0])
        return sm.read_pair(Path(folder) / name)


def _write(path: Path, M: Any) -> None:
    if path.suffix == ".npy":
        np.save(path, entries(M))
    elif path.suffix == ".npz":
        sp.save_npz(path, sp.csr_matrix(M))
    elif path.suffix == ".hb":
        scipy.io.hb_write(path, sp.csc_matrix(M))
    elif path.suffix == ".gz":
        plain = io.BytesIO()
        scipy.io.mmwrite(plain, sp.coo_array(M))
        path.write_bytes(gzip.compress(plain.getvalue()))
    else:
        scipy.io.mmwrite(path, sp.coo_array(M))


def domain(A: Any, B: Any, preconditioner: Any, x: np.ndarray) -> list[np.ndarray]:
    """A vector transformed to the variables of a preconditioner and back, and the products in these variables."""
    pencil = sm.Pencil(A, B)
    P = preconditioner.prepare(pencil)
    there = sm.TransformDomain(pencil, P)
    y = there.to_domain(x)
    return [y, there.from_domain(y), there.A @ y, there.B @ y]


def splitting(n: int, length: float) -> list[np.ndarray]:
    """The splitting matrix of the paper and its step, for a v of the given length."""
    A, B = problems.synthetic(n)
    F, x = np.linalg.cholesky(A).T, problems.vectors(n)
    v, Fx = problems.vectors(n, seed=6), F @ x
    v = v - Fx * (Fx @ v) / (Fx @ Fx)
    v *= length / np.linalg.norm(v)
    objective = sm.Objective(sm.Pencil(A, B))
    return [objective.splitting_matrix(x, v, F), objective.splitting_update(x, v, F)]


def namespace() -> dict[str, Any]:
    """The names available to the cases."""
    from splitmerge import learn

    public = {name: getattr(sm, name) for name in sm.__all__}
    estimators = {name: getattr(learn, name) for name in learn.__all__}
    # `eigsh` of this module, which takes a pair, overrides the public one
    return {**estimators, **public, **vars(problems), **globals()}
