"""Files that are broken, foreign, of another version, or do not fit: refused by name, and never half loaded."""

import json

import numpy as np
import pytest

import splitmerge as sm
from checking import operator_of
from resuming import N, dense_pair, differences, sparse_pair


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "sol"
    sm.solve(*sparse_pair(), 3, rng=0).save(path)
    return path


def rewritten(path, change):
    """The file with `change(header, arrays)` made to it."""
    with np.load(path) as file:
        arrays = dict(file)
    header = json.loads(arrays["header"].tobytes())
    change(header, arrays)
    arrays["header"] = np.frombuffer(json.dumps(header).encode(), np.uint8)
    with open(path, "wb") as file:
        np.savez(file, **arrays)


def refused(path, pattern):
    with pytest.raises(ValueError, match=pattern) as caught:
        sm.load(path)
    assert str(path) in str(caught.value)


class TestRefused:
    @pytest.mark.parametrize("share", [0.0, 0.01, 0.3, 0.5, 0.9, 0.99, 0.999])
    def test_truncated(self, saved, share):
        data = saved.read_bytes()
        saved.write_bytes(data[: int(share * len(data))])
        refused(saved, "broken, or not a file")

    def test_any_byte_flipped(self, saved):
        """Never anything but a refusal, or the solution itself where the byte means nothing."""
        good, data = sm.load(saved), saved.read_bytes()
        for place in np.random.default_rng(0).integers(0, len(data), 150):
            flipped = bytearray(data)
            flipped[place] ^= 0x55
            saved.write_bytes(flipped)
            try:
                again = sm.load(saved)
            except ValueError:
                continue
            assert differences(good, again) == []

    def test_foreign(self, tmp_path):
        path = tmp_path / "foreign"
        path.write_text("eigenvalues: 1, 2, 3")
        refused(path, "broken, or not a file")
        with open(path, "wb") as file:
            np.save(file, np.eye(3))
        refused(path, "broken, or not a file")
        with open(path, "wb") as file:
            np.savez(file, eigenvalues=np.ones(3))
        refused(path, "no header")
        for header in (b"{", b"[]", b"{}", b"\xff\xfe"):
            with open(path, "wb") as file:
                np.savez(file, header=np.frombuffer(header, np.uint8))
            refused(path, "cannot be loaded")
        with open(path, "wb") as file:
            np.savez(file, header=np.array({"a": 1}, dtype=object))
        refused(path, "broken, or not a file")

    def test_directory_and_missing(self, tmp_path):
        refused(tmp_path, "this is a folder")
        with pytest.raises(FileNotFoundError, match="nowhere"):
            sm.load(tmp_path / "nowhere")
        with pytest.raises(FileNotFoundError):
            sm.load(tmp_path / "no" / "where")

    def test_version(self, saved):
        rewritten(saved, lambda header, arrays: header.update(version=2))
        refused(saved, "version 2.*reads version 1")
        rewritten(saved, lambda header, arrays: header.update(format="other"))
        refused(saved, "not a solution of splitmerge")

    @pytest.mark.parametrize("name", ["eigenvalues", "residuals", "error_bounds", "angle_bounds", "clusters"])
    def test_shapes(self, saved, name):
        rewritten(saved, lambda header, arrays: arrays.update({name: np.ones(2)}))
        refused(saved, f"its {name} have shape")

    @pytest.mark.parametrize(
        ("name", "bad"),
        [
            ("eigenvectors", np.ones(3)),
            ("eigenvectors", np.ones((N - 1, 3))),
            ("eigenvectors", np.ones((N, 4))),
            ("eigenvectors", np.full((N, 3), "x")),
            ("spare", np.ones((N + 1, 2))),
            ("history.step", np.arange(3)),
            ("history.step", np.ones((3, 3))),
            ("A.indices", np.full(5, N)),
            ("A.indptr", np.zeros(3, int)),
        ],
    )
    def test_parts_that_do_not_fit(self, saved, name, bad):
        rewritten(saved, lambda header, arrays: arrays.update({name: bad}))
        refused(saved, "cannot be loaded")

    @pytest.mark.parametrize("name", ["eigenvectors", "residuals", "history.f", "A.data"])
    def test_missing_array(self, saved, name):
        rewritten(saved, lambda header, arrays: arrays.pop(name))
        refused(saved, f"no '{name}'")

    @pytest.mark.parametrize(
        "change",
        [
            {"reason": "BOREDOM"},
            {"verdict": ["probed"]},
            {"counts": {"A_products": 1}},
            {"method": {"is": "Magic"}},
            {"method": {"is": "Accelerated", "max_basis": -1}},
            {"problem": 7},
            {"seconds": {"hours": 1}},
            {"steps": "many"},
        ],
        ids=str,
    )
    def test_header(self, saved, change):
        rewritten(saved, lambda header, arrays: header.update(change))
        refused(saved, "cannot be loaded")

    def test_matrices_that_do_not_fit(self, saved, tmp_path):
        with pytest.raises(ValueError, match=r"A has shape \(4, 4\)"):
            sm.load(saved, A=np.eye(4))
        with pytest.raises(ValueError, match=r"B has shape \(4, 4\)"):
            sm.load(saved, B=operator_of(np.eye(4)))
        sm.solve(dense_pair()[0], None, 2, rng=0).save(tmp_path / "standard")
        with pytest.raises(ValueError, match="no B"):
            sm.load(tmp_path / "standard", B=np.eye(N))
