"""Saved solutions that were tampered with: every part is checked before anything is made of it."""

import io
import json
import zipfile

import numpy as np
import pytest

import splitmerge as sm
from splitmerge.solution.store.guard import UnreadableFile
from splitmerge.solution.store.options import PLAIN, _types

N, K = 12, 1


@pytest.fixture(scope="module")
def parts(tmp_path_factory):
    """Header and arrays of a valid file."""
    path = tmp_path_factory.mktemp("parts") / "sol"
    A, B = sm.gallery.synthetic_pair(N, kappa_B=10, rng=0)
    method = sm.MirrorDescent(sm.Diagonal(), sm.Sampled(0.8, 0.9))
    with pytest.raises(sm.NotConverged) as caught:
        sm.solve(A, B, K, method=method, stop=sm.Residual() | sm.MaxSteps(3), rng=0)
    caught.value.solution.save(path)
    with np.load(path) as file:
        arrays = dict(file)
    return json.loads(arrays.pop("header").tobytes()), arrays


def written(path, header, arrays, **options):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    with zipfile.ZipFile(path, "w", **options) as archive:
        for name, array in {"header": np.frombuffer(text, np.uint8), **arrays}.items():
            data = io.BytesIO()
            np.save(data, array, allow_pickle=True)
            archive.writestr(f"{name}.npy", data.getvalue())
    return path


def refused(path, pattern="cannot be loaded|is broken"):
    with pytest.raises(UnreadableFile, match=pattern) as caught:
        sm.load(path)
    said = str(caught.value)
    assert said.startswith(str(path))
    assert said.isprintable()
    assert len(said) < 1000
    return said


def test_untouched(tmp_path, parts):
    assert sm.load(written(tmp_path / "sol", *parts)).eigenvalues.shape == (K,)


HEADER = {
    "shift": ["1", None, True, [1.0], float("nan"), float("inf"), {}],
    "converged": ["yes", 1, None],
    "steps": [1.5, -1, True, "3", 10**30, None],
    "story": ["text", [1], None, {"0": "x"}],
    "reason": ["BOREDOM", 3, None, [], "__class__"],
    "verdict": [["sure", "x"], ["probed"], ["probed", 3], "probed", None],
    "seconds": [
        {"setup": "1", "iteration": 1.0},
        {"setup": -1.0, "iteration": 1.0},
        {"setup": float("nan"), "iteration": 0.0},
        3,
    ],
    "counts": [None, {}, 5, {"A_products": 1}],
    "b_report": [
        3,
        {},
        {"policy": "x", "ridge": 0.0, "rank": 1, "dropped": 0},
        {"policy": "ridge", "ridge": "a", "rank": 1, "dropped": 0},
    ],
    "method": [3, "Power", [], {"is": []}, {"is": "Residual", "tol": 1e-8}, {"is": "Power", "more": 1}, {"absent": 3}],
    "problem": [7, "x", [], {}],
    "version": [2, "1", None, True, 1.5, [1]],
    "format": [None, [], "other"],
}


@pytest.mark.parametrize(
    ("name", "value"), [(name, value) for name, values in HEADER.items() for value in values], ids=repr
)
def test_entry_of_a_wrong_type_or_range(tmp_path, parts, name, value):
    refused(written(tmp_path / "sol", {**parts[0], name: value}, parts[1]))


PROBLEM = {
    "k": [0, -1, 1.5, "2", N + 1, None],
    "which": ["middle", 3, None, []],
    "sigma": ["1", float("nan"), True],
    "tol": [0, -1e-8, "small", None, float("inf")],
    "max_steps": [0, 1.5, "many"],
    "b_policy": ["none", 3, None],
    "certify": [1, "yes", None],
    "stop": [1, {"is": "Power"}, {"is": "_Either", "left": 1, "right": 2}, {"is": "MaxSteps", "steps": "x"}],
    "preconditioner": ["Exact", {"is": "Residual"}, {"is": "MultiGrid", "near_null": {"is": "Exact"}}],
    "A": [None, "sparse", {"sparse": [N, N]}, {"sparse": "ab"}, {"sparse": [N, -N]}, {"absent": 3}, 3],
    "B": ["none", {"sparse": [10**30, 1]}, {"absent": None}],
}


@pytest.mark.parametrize(
    ("name", "value"), [(name, value) for name, values in PROBLEM.items() for value in values], ids=repr
)
def test_problem_of_a_wrong_type_or_range(tmp_path, parts, name, value):
    header = {**parts[0], "problem": {**parts[0]["problem"], name: value}}
    refused(written(tmp_path / "sol", header, parts[1]))


def test_missing_and_extra_entries(tmp_path, parts):
    header, arrays = parts
    for name in header:
        refused(written(tmp_path / "sol", {key: value for key, value in header.items() if key != name}, arrays))
    refused(written(tmp_path / "sol", {**header, "more": 1}, arrays), "unknown entry 'more'")
    refused(written(tmp_path / "sol", header, {**arrays, "more": np.eye(2)}), "unknown part 'more'")
    refused(written(tmp_path / "sol", header, {**arrays, "A.data": np.eye(2)}), "belongs to none of its matrices")


@pytest.mark.parametrize("text", [b"[" * 100_000, b'{"a":' * 100_000, b"1" * 10_000, b"\xff", b"", b"null"])
def test_header_that_is_nested_or_not_json(tmp_path, parts, text):
    refused(written(tmp_path / "sol", text, parts[1]))


def test_rule_nested_too_deeply(tmp_path, parts):
    rule = {"is": "Residual", "tol": 1e-8}
    for _ in range(200):
        rule = {"is": "_Either", "left": rule, "right": {"is": "MaxSteps", "steps": 3}}
    header = {**parts[0], "problem": {**parts[0]["problem"], "stop": rule}}
    refused(written(tmp_path / "sol", header, parts[1]), "nested more than 50 deep")


def test_huge_strings(tmp_path, parts):
    header = {**parts[0], "story": ["x" * 3_000_000]}
    refused(written(tmp_path / "sol", header, parts[1]), "at most 2 MB of JSON")
    refused(written(tmp_path / "sol", {**parts[0], "reason": "x" * 100_000}, parts[1]))


ARRAYS = [
    ("eigenvalues", np.array(["a", "b"])),
    ("eigenvalues", np.array([1, {}], dtype=object)),
    ("eigenvalues", np.ones(K, complex)),
    ("clusters", np.ones(K)),
    ("eigenvectors", np.ones((N, K, 1))),
    ("spare", np.full((N, 2), b"x")),
    ("history.step", np.full(3, 0.5)),
    ("A", np.ones((N, N), dtype="S1")),
    ("A", np.ones((N, N + 1))),
    ("A", np.ones(N)),
]


@pytest.mark.parametrize(("name", "value"), ARRAYS, ids=lambda value: getattr(value, "dtype", value))
def test_array_of_a_wrong_type_or_shape(tmp_path, parts, name, value):
    refused(written(tmp_path / "sol", parts[0], {**parts[1], name: value}))


@pytest.mark.parametrize("name", ["eigenvalues", "eigenvectors", "residuals"])
def test_not_finite_though_converged(tmp_path, parts, name):
    header, arrays = parts
    spoilt = np.array(arrays[name])
    spoilt.flat[0] = np.nan
    path = written(tmp_path / "sol", {**header, "converged": True}, {**arrays, name: spoilt})
    refused(path, "not all finite")
    # a run that diverged is saved as it is
    assert not sm.load(written(tmp_path / "sol", header, {**arrays, name: spoilt})).converged


SPARSE = {
    "negative": {"indices": [-1, 1]},
    "out of range": {"indices": [0, 5]},
    "decreasing": {"indptr": [0, 2, 1, 2]},
    "not from zero": {"indptr": [1, 1, 2, 2]},
    "beyond the end": {"indptr": [0, 1, 2, 9]},
    "wrong length": {"indptr": [0, 1, 2]},
    "floats": {"indices": [0.0, 1.0]},
    "objects": {"indptr": np.array([0, 1, 2, 2], dtype=object)},
}


@pytest.mark.parametrize("case", SPARSE)
def test_sparse_indices(tmp_path, case):
    import scipy.sparse as sp

    path = tmp_path / "sol"
    sm.solve(sp.diags_array([2.0, 1.0, 0.0]).tocsr(), rng=0).save(path)
    with np.load(path) as file:
        arrays = dict(file)
    header = arrays.pop("header").tobytes()
    for part, value in SPARSE[case].items():
        arrays |= {"A.data": np.ones(2), "A.indices": np.arange(2), "A.indptr": np.array([0, 1, 2, 2])}
        arrays[f"A.{part}"] = np.asarray(value)
    refused(written(path, header, arrays))


def test_compressed_parts_are_not_ours(tmp_path, parts):
    """Otherwise a small file could take any amount of memory."""
    refused(
        written(tmp_path / "sol", *parts, compression=zipfile.ZIP_DEFLATED), "compressed, which Solution.save never"
    )


@pytest.mark.parametrize("name", PLAIN)
def test_the_types_of_all_options_are_known(name):
    assert all(wanted for wanted in _types(PLAIN[name]).values())
