"""Solutions in files: one npz without pickles, a JSON header inside it, written in one go."""

from __future__ import annotations

import json
import os
import zipfile
from dataclasses import asdict, fields, is_dataclass
from os import PathLike
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..methods.first_order.gradient_descent import GradientDescent
from ..methods.first_order.mirror_descent import MirrorDescent
from ..methods.first_order.power import Power
from ..methods.first_order.split_merge import SplitMerge
from ..methods.first_order.stepsize import Adaptive, Fixed, Sampled
from ..methods.krylov.accelerated import Accelerated
from ..methods.krylov.lanczos import Lanczos
from ..methods.lobpcg.locally_optimal import LocallyOptimal
from ..objective.curvature import LanczosBound, TraceBound
from ..preconditioners import Diagonal, Exact, IncompleteCholesky, LowRank, MultiGrid, SquareRoot
from ..problem.b_policy import BReport
from ..problem.problem import Problem
from ..problem.products import Counts, Tally
from ..run.history import History
from ..run.reason import Reason
from ..run.rules import MaxSeconds, MaxSteps, Residual, Stagnation, _Both, _Either
from ..solvers.cholesky import Cholesky
from ..solvers.conjugate_gradient import ConjugateGradient
from ..system.atomic_file import whole_file
from ..typing import Array
from ..verification.verdict import Verdict
from .solution import Absent, Seconds, Solution

FORMAT = "splitmerge solution"
VERSION = 1
# the options objects that a file can hold: their options are numbers, words, and each other
PLAIN: dict[str, Any] = {
    kind.__name__: kind
    for kind in (
        *(Accelerated, GradientDescent, Lanczos, LocallyOptimal, MirrorDescent, Power, SplitMerge),
        *(Cholesky, ConjugateGradient),
        *(Diagonal, Exact, IncompleteCholesky, LowRank, MultiGrid, SquareRoot),
        *(Adaptive, Fixed, Sampled, LanczosBound, TraceBound),
        *(MaxSeconds, MaxSteps, Residual, Stagnation, _Both, _Either),
    )
}
ARRAYS = ("eigenvalues", "eigenvectors", "residuals", "error_bounds", "angle_bounds", "clusters")
SCALARS = ("converged", "steps", "shift", "story")
OPTIONS = ("method", "stop", "preconditioner")
WORDS = ("k", "which", "sigma", "tol", "max_steps", "b_policy", "certify")


def save(solution: Solution, path: str | PathLike[str]) -> None:
    """What `Solution.save` does."""
    arrays: dict[str, Array] = {name: getattr(solution, name) for name in ARRAYS}
    if solution.spare is not None:
        arrays["spare"] = solution.spare
    arrays |= {f"history.{name}": column for name, column in solution.history.to_dict().items()}
    header = {"format": FORMAT, "version": VERSION} | {name: getattr(solution, name) for name in SCALARS}
    header |= {
        "reason": solution.reason.name,
        "verdict": [str(solution.verdict), solution.verdict.why],
        "counts": asdict(solution.counts),
        "seconds": asdict(solution.seconds),
        "method": _encoded(solution.method),
        "b_report": None if solution.b_report is None else asdict(solution.b_report),
        "problem": None if solution.problem is None else _taken_down(solution.problem, arrays),
    }
    text = json.dumps(header, default=_plain_number).encode()
    with whole_file(path) as file:
        np.savez(file, allow_pickle=False, header=np.frombuffer(text, np.uint8), **arrays)


def load(path: str | PathLike[str], A: Any = None, B: Any = None) -> Solution:
    """The solution that `Solution.save` wrote to `path`; A and B replace, or stand in for, the matrices in the file.

    Operators have no entries to be saved: to resume their solution, give them here. A file that is broken, or none of
    ours, is refused with a ValueError.

    >>> import os, tempfile
    >>> import splitmerge as sm
    >>> sol = sm.solve(*sm.gallery.synthetic_pair(64, kappa_B=10, rng=0), k=2)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "pairs.sol")
    ...     sol.save(path)
    ...     again = sm.load(path)
    >>> bool((again.eigenvectors == sol.eigenvectors).all()), again.reason.name
    (True, 'RESIDUAL')
    >>> again.resume(k=4).eigenvalues.shape
    (4,)
    """
    arrays = _read(path)
    try:
        header = json.loads(arrays.pop("header").tobytes())
        if not isinstance(header, dict) or header.get("format") != FORMAT:
            raise ValueError("it is not a solution of splitmerge")
        if header["version"] != VERSION:
            raise ValueError(f"it is of version {header['version']!r}, and this library reads version {VERSION}")
        solution = _built(header, arrays, A, B)
    except KeyError as error:
        raise ValueError(f"{os.fspath(path)} cannot be loaded: it has no {error.args[0]!r}") from error
    except (ValueError, TypeError, AttributeError) as error:
        raise ValueError(f"{os.fspath(path)} cannot be loaded: {error}") from error
    return solution


def _taken_down(problem: Problem, arrays: dict[str, Array]) -> dict[str, Any]:
    """The problem for the header; the entries of A and B go to `arrays`."""
    said = {name: getattr(problem, name) for name in (*WORDS, "interval")}
    said |= {name: _encoded(getattr(problem, name)) for name in OPTIONS}
    return said | {name: _entries(getattr(problem, name), name, arrays) for name in ("A", "B")}


def _entries(M: Any, name: str, arrays: dict[str, Array]) -> Any:
    if M is None or isinstance(M, Absent):
        return None if M is None else {"absent": M.what}
    if sp.issparse(M):
        rows = sp.csr_array(M)  # type: ignore[call-overload]
        arrays |= {f"{name}.{part}": getattr(rows, part) for part in ("data", "indices", "indptr")}
        return {"sparse": rows.shape}
    if isinstance(M, (np.ndarray, list, tuple)) or hasattr(M, "__array__"):
        arrays[name] = np.asarray(M)
        return "dense"
    return {"absent": f"a {type(M).__name__} of shape {tuple(M.shape)} without entries"}


def _encoded(value: Any) -> Any:
    """An options object as its name and options, or a note that it was there."""
    try:
        return _plain(value)
    except TypeError:
        return {"absent": value.what if isinstance(value, Absent) else repr(value)}


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, np.generic):
        return value.item()
    if is_dataclass(value) and PLAIN.get(type(value).__name__) is type(value):
        return {"is": type(value).__name__} | {f.name: _plain(getattr(value, f.name)) for f in fields(value)}
    raise TypeError(f"{value!r} is more than numbers and words")


def _plain_number(value: Any) -> Any:
    """For json: NumPy's numbers as Python's."""
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{value!r} cannot be written to a file")


def _read(path: str | PathLike[str]) -> dict[str, Array]:
    shown = os.fspath(path)
    if os.path.isdir(path):
        raise ValueError(f"{shown} is a directory; give the file that Solution.save wrote")
    with open(path, "rb") as file:
        try:
            with zipfile.ZipFile(file) as members:
                broken = members.testzip()
            if broken is not None:
                raise ValueError(f"its part {broken} is damaged")
            file.seek(0)
            with np.load(file, allow_pickle=False) as loaded:
                arrays = dict(loaded)
        except (zipfile.BadZipFile, NotImplementedError, EOFError, ValueError) as error:
            raise ValueError(f"{shown} is broken, or not a file that Solution.save wrote: {error}") from error
    if "header" not in arrays:
        raise ValueError(f"{shown} is not a file that Solution.save wrote: it has no header")
    return arrays


def _built(header: dict[str, Any], arrays: dict[str, Array], A: Any, B: Any) -> Solution:
    n = _check_arrays(arrays)
    counts = dict(header["counts"])
    counts |= {phase: Tally(**counts[phase]) for phase in ("setup", "monitoring")}
    if header["problem"] is None and (A is not None or B is not None):
        raise ValueError("it does not say which problem it solves, so A and B have no place in it")
    parts: dict[str, Any] = {name: arrays[name] for name in ARRAYS}
    return Solution(
        **parts,
        converged=bool(header["converged"]),
        reason=Reason[header["reason"]],
        steps=int(header["steps"]),
        counts=Counts(**counts),
        seconds=Seconds(**header["seconds"]),
        history=_history(arrays),
        verdict=Verdict(*header["verdict"]),
        shift=float(header["shift"]),
        method=_decoded(header["method"]),
        b_report=None if header["b_report"] is None else BReport(**header["b_report"]),
        told=tuple(header["story"]),
        problem=None if header["problem"] is None else _problem(header["problem"], arrays, n, A, B),
        spare=arrays.get("spare"),
    )


def _check_arrays(arrays: dict[str, Array]) -> int:
    """Refuse arrays whose shapes do not fit together; the length of the eigenvectors."""
    vectors = arrays["eigenvectors"]
    if vectors.ndim != 2 or vectors.dtype.kind not in "fc":
        raise ValueError(f"its eigenvectors have shape {vectors.shape} and dtype {vectors.dtype}")
    n, k = vectors.shape
    for name in ARRAYS:
        if name != "eigenvectors" and (arrays[name].shape != (k,) or arrays[name].dtype.kind not in "fiu"):
            raise ValueError(f"its {name} have shape {arrays[name].shape}, beside {k} eigenvectors")
    spare = arrays.get("spare")
    if spare is not None and (spare.ndim != 2 or spare.shape[0] != n):
        raise ValueError(f"its spare vectors have shape {spare.shape}, beside eigenvectors of length {n}")
    return int(n)


def _history(arrays: dict[str, Array]) -> History:
    columns = [arrays[f"history.{name}"] for name in History.columns]
    if any(column.ndim != 1 for column in columns) or len({column.size for column in columns}) > 1:
        raise ValueError(f"the columns of its history have shapes {[column.shape for column in columns]}")
    return History.of(columns)


def _problem(said: dict[str, Any], arrays: dict[str, Array], n: int, A: Any, B: Any) -> Problem:
    if said["B"] is None and B is not None:
        raise ValueError("its problem has no B (the identity), and one was given")
    matrices = {
        name: _matrix(said[name], name, arrays, n) if given is None else given for name, given in (("A", A), ("B", B))
    }
    for name, M in matrices.items():
        shape = (n, n) if M is None or isinstance(M, Absent) else np.shape(M)
        if shape != (n, n):
            raise ValueError(f"{name} has shape {shape}, and the eigenvectors are of length {n}")
    words = {name: said[name] for name in WORDS}
    # a file of an earlier version has neither preconditioner nor interval
    interval = None if said.get("interval") is None else (float(said["interval"][0]), float(said["interval"][1]))
    options = {name: _decoded(said.get(name)) for name in OPTIONS}
    return Problem(**matrices, **words, **options, interval=interval)


def _matrix(said: Any, name: str, arrays: dict[str, Array], n: int) -> Any:
    if said is None:
        return None
    if said == "dense":
        return arrays[name]
    if "absent" in said:
        return Absent(said["absent"])
    parts = tuple(arrays[f"{name}.{part}"] for part in ("data", "indices", "indptr"))
    matrix = sp.csr_array(parts, shape=tuple(said["sparse"]))
    matrix.check_format()
    return matrix


def _decoded(said: Any) -> Any:
    """The options object of that name, or what stands for one that could not be stored."""
    if not isinstance(said, dict):
        return said
    if "absent" in said:
        return Absent(said["absent"])
    options = dict(said)
    name = options.pop("is")
    if name not in PLAIN:
        raise ValueError(f"it names {name!r}, which this library does not have")
    return PLAIN[name](**{option: _decoded(value) for option, value in options.items()})
