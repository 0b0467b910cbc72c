"""A solve that is killed goes on from its last checkpoint, on another number of processes if need be."""

import numpy as np
import pytest

import splitmerge as sm
from pairs_of_rows import exact_cube

TRUTH = exact_cube(14)[:4]


@pytest.fixture(scope="module")
def whole(program, tmp_path_factory):
    """The solve that nothing disturbs."""
    return program(2, "interrupted", path=str(tmp_path_factory.mktemp("whole") / "run.ckpt"))


@pytest.mark.parametrize("kill", [0, 1])
def test_killed_and_resumed_on_other_numbers_of_processes(program, tmp_path, whole, kill):
    path = tmp_path / "run.ckpt"
    done = program(2, "interrupted", path=str(path), kill=kill, check=False)
    assert done.returncode != 0
    assert path.exists()
    kept = path.read_bytes()
    for ranks in (1, 2, 3):
        told = program(ranks, "resumed", path=str(path))
        assert np.allclose(told["values"], TRUTH, rtol=1e-9)
        assert told["converged"]
        assert told["products"] < whole["products"]
        assert told["before"] > 0
        assert told["kind"] == ("ndarray" if ranks == 1 else "StoredVectors")
    assert path.read_bytes() == kept


def test_the_file_is_that_of_one_process(program, tmp_path, whole):
    path = tmp_path / "run.ckpt"
    told = program(3, "interrupted", path=str(path))
    loaded = sm.load(path)
    assert loaded.vectors.shape[0] == 14**3
    assert told["verdict"] == whole["verdict"]
    assert np.isfinite(loaded.vectors).all()


@pytest.mark.parametrize("place", [20, -2000, -3])
def test_a_damaged_file_is_refused_on_all_processes(program, tmp_path, place):
    path = tmp_path / "run.ckpt"
    program(2, "interrupted", path=str(path))
    content = bytearray(path.read_bytes())
    content[place] ^= 0xFF
    path.write_bytes(content)
    done = program(2, "resumed", path=str(path), check=False)
    assert done.returncode != 0
    assert done.stderr.count("damaged") >= 1


def test_a_checkpoint_that_cannot_be_written_is_refused(program, tmp_path):
    options = {"checkpoint": str(tmp_path / "no" / "run.ckpt")}
    told = program(2, "refused", pair=("cube", 9), options=options)
    assert any("there is no folder" in said for said in told["texts"] if said)
