"""Rows on disk are read in blocks: memory that is a tenth of the file suffices."""

import subprocess
import sys
import tracemalloc

import numpy as np
import pytest

from splitmerge.learn import PrincipalHessianDirections, SlicedAverageVariance, SlicedInverseRegression

ALL = [SlicedInverseRegression, SlicedAverageVariance, PrincipalHessianDirections]
ROWS, COLUMNS = 2**17, 128


@pytest.fixture(scope="module")
def on_disk(tmp_path_factory):
    """128 MiB of rows, the same ones again and again."""
    path = tmp_path_factory.mktemp("rows") / "X.npy"
    few = np.random.default_rng(0).standard_normal((1024, COLUMNS))
    X = np.lib.format.open_memmap(path, "w+", np.float64, (ROWS, COLUMNS))
    X.reshape(-1, 1024, COLUMNS)[:] = few
    X.flush()
    return path, few


@pytest.mark.parametrize("kind", ALL)
def test_memory_mapped_rows_are_not_copied(kind, on_disk):
    path, few = on_disk
    X, y = np.load(path, mmap_mode="r"), few[:, 0] + few[:, 1] ** 2
    tracemalloc.start()
    model = kind(2).fit(X, np.tile(y, ROWS // 1024))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.75 * X.nbytes
    expected = kind(2).fit(few, y, np.full(1024, ROWS // 1024))
    np.testing.assert_allclose(model.eigenvalues_, expected.eigenvalues_, rtol=1e-9)
    np.testing.assert_allclose(np.abs(model.directions_), np.abs(expected.directions_), atol=1e-6)


LIMITED = """
import resource, sys
from pathlib import Path
import numpy as np
import splitmerge.learn

few = np.random.default_rng(0).standard_normal((1024, 256))
X = np.lib.format.open_memmap(sys.argv[2], "w+", np.float64, (2**19, 256))
X.reshape(-1, 1024, 256)[:] = few
X.flush()
X = np.load(sys.argv[2], mmap_mode="r")
y = np.tile(few[:, 0] + few[:, 1] ** 2, 2**9)
kind = getattr(splitmerge.learn, sys.argv[1])
# libraries are loaded and buffers made before the limit
kind(2).fit(few, y[:1024])
taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (taken + 100 * 2**20,) * 2)
print(kind(2).fit(X, y).eigenvalues_[0])
"""


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the address space is limited on Linux only")
@pytest.mark.parametrize("kind", ALL)
def test_a_gibibyte_of_rows_in_100_mebibytes(kind, tmp_path):
    """In the proportion of 10 GB to 1 GiB."""
    command = [sys.executable, "-c", LIMITED, kind.__name__, str(tmp_path / "X.npy")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    (tmp_path / "X.npy").unlink()
    assert done.returncode == 0, done.stderr
    assert np.isfinite(float(done.stdout))
