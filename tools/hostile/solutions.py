"""Hostile saved solutions: tampered headers, arrays and members."""

from __future__ import annotations

import functools
import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

import splitmerge as sm

from .draw import Rng, damaged, number, pick
from .numpy_files import N, dense, hostile_array, npy_bytes, npz_bytes

VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 1.5, float("nan"), float("inf"), "", "word", [], {}, [[]], {"is": "Magic"}),
    *(
        {"absent": 3},
        {"absent": "x"},
        {"is": "Accelerated", "max_basis": "many"},
        {"is": "MultiGrid", "near_null": {"is": "Exact"}},
    ),
    *(
        {"is": "_Either", "left": 1, "right": 2},
        {"sparse": [3, 3]},
        {"sparse": "ab"},
        "dense",
        "x" * 100_000,
        10**30,
        1e308,
    ),
    *({"is": "Lanczos", "reorthogonalise": 3}, {"is": ["Power"]}, {"is": "SplitMerge", "inner": {"is": "Power"}}),
)


@functools.cache
def _saved(which: int) -> tuple[str, dict[str, np.ndarray]]:
    """Header and arrays of a valid solution."""
    A, B = sm.gallery.synthetic_pair(N, kappa_B=10, rng=0)
    if which == 0:
        solution = sm.solve(A, B, 2, rng=0)
    elif which == 1:
        method = sm.SplitMerge(inner=sm.ConjugateGradient(40, sm.Diagonal()))
        rule = (sm.Residual(1e-6) & sm.Stagnation(50)) | sm.MaxSteps(2000)
        solution = sm.solve(A, B, method=method, stop=rule, rng=0)
    else:
        solution = sm.solve(sp.csr_array(A), sp.csr_array(B), 3, which="smallest", method=sm.Accelerated(), rng=0)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "solution"
        solution.save(path)
        with np.load(path) as loaded:
            arrays = dict(loaded)
    return arrays.pop("header").tobytes().decode(), arrays


def solution(rng: Rng) -> tuple[str, bytes]:
    """A saved solution with something wrong, or sometimes nothing."""
    text, arrays = _saved(int(rng.integers(3)))
    header, arrays = json.loads(text), dict(arrays)
    way = int(rng.integers(8))
    if way <= 3:
        for _ in range(int(rng.integers(1, 3))):
            _tamper(rng, header)
    if way in (3, 4, 5):
        name = pick(rng, tuple(arrays))
        arrays[name] = hostile_array(rng, arrays[name])
    if way == 5:
        arrays.pop(pick(rng, tuple(arrays)))
    written = json.dumps(header)
    if way == 6:
        written = pick(
            rng,
            (
                "[" * 100_000,
                '{"a":' * 100_000,
                "[]",
                "{}",
                "1" * 10_000,
                written[:-1],
                written + "x",
                "\x00",
                _deep(header),
            ),
        )
    members = {f"{name}.npy": npy_bytes(array, allow_pickle=True) for name, array in arrays.items()}
    members["header.npy"] = npy_bytes(np.frombuffer(written.encode(), np.uint8))
    if rng.random() < 0.05:
        members[pick(rng, ("more.npy", "more.txt", "A.npy", "__class__.npy"))] = npy_bytes(np.eye(3))
    data = npz_bytes(members, compress=rng.random() < 0.05)
    if rng.random() < 0.05:
        return "solution", dense(rng)[1]
    return "solution", damaged(rng, data) if way == 7 else data


def _deep(header: dict[str, Any]) -> str:
    rule: Any = {"is": "Residual", "tol": 1e-8}
    for _ in range(200):
        rule = {"is": "_Either", "left": rule, "right": {"is": "MaxSteps", "steps": 3}}
    header["problem"]["stop"] = rule
    return json.dumps(header)


def _tamper(rng: Rng, header: dict[str, Any]) -> None:
    """Change, remove or add an entry anywhere in the header."""
    place: Any = header
    while True:
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        if not keys:
            return
        key = pick(rng, keys)
        if isinstance(place[key], (dict, list)) and rng.random() < 0.7:
            place = place[key]
            continue
        break
    way = int(rng.integers(5))
    if way == 0:
        del place[key]
    elif way == 1 and isinstance(place, dict):
        place[pick(rng, ("more", "", "is", "absent", "x" * 5000))] = pick(rng, VALUES)
    else:
        place[key] = number(rng) if rng.random() < 0.2 else pick(rng, VALUES)
