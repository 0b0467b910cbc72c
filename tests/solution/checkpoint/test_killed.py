"""kill -9 in the middle of a solve with a slow operator: what is left, and what it saves."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import splitmerge as sm
from checking import exhaustive
from checkpoints import count_of
from commands import environment

N, SECONDS, PRODUCT_SECONDS = 1200, 0.2, 0.004
# products between two states of the default method, at most half of its basis for each of two strides
STRIDE_PRODUCTS = 60
VALUES = np.sort(np.random.default_rng(0).standard_normal(N)) ** 3

PROGRAM = """
import os, sys, time
import numpy as np
import splitmerge as sm

log = os.open(sys.argv[2], os.O_WRONLY | os.O_CREAT | os.O_APPEND)

class Slow:
    values = np.sort(np.random.default_rng(0).standard_normal({n})) ** 3
    shape, dtype = ({n}, {n}), values.dtype

    def __matmul__(self, x):
        time.sleep({pause})
        os.write(log, b".")
        return (self.values * x.T).T

sm.solve(Slow(), rng=0, checkpoint=sm.Checkpoint(sys.argv[1], {seconds}), {options})
"""
METHODS = {
    "default": "k=6, which='ends', tol=1e-10",
    "split-merge": "k=3, method=sm.SplitMerge(), tol=1e-6",
    "lobpcg": "k=3, method=sm.LocallyOptimal(), tol=1e-6",
}


class Quick:
    shape, dtype = (N, N), VALUES.dtype

    def __matmul__(self, x):
        return (VALUES * x.T).T


def killed(tmp_path, options, products):
    """The checkpoint of a process that was killed after so many products at least, and how many it had made."""
    path, log = tmp_path / "run.ckpt", tmp_path / "log"
    program = PROGRAM.format(n=N, pause=PRODUCT_SECONDS, seconds=SECONDS, options=options)
    process = subprocess.Popen([sys.executable, "-c", program, path, log], env=environment())
    try:
        patience = time.monotonic() + 120
        while not (path.exists() and log.stat().st_size >= products):
            assert process.poll() is None, "it ended before it was killed"
            assert time.monotonic() < patience
            time.sleep(0.01)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    return path, log.stat().st_size


@pytest.mark.skipif(os.name != "posix", reason="SIGKILL")
@pytest.mark.parametrize("name", exhaustive(METHODS, quick=2))
def test_killed(tmp_path, name):
    A, options = Quick(), eval(f"dict({METHODS[name]})", {"sm": sm})
    whole = sm.solve(A, rng=0, **options)
    path, made = killed(tmp_path, METHODS[name], int(0.7 * count_of(whole)))
    loaded = sm.load(path)
    tally = loaded.counts
    kept = tally.A_products + tally.setup.A_products + tally.monitoring.A_products
    assert made - kept <= SECONDS / PRODUCT_SECONDS + STRIDE_PRODUCTS, "at most one interval is lost"
    sol = loaded.resume(A)
    assert sol.converged
    assert (np.abs(sol.eigenvalues - whole.eigenvalues) <= sol.error_bounds + whole.error_bounds).all()
    assert count_of(sol) < count_of(whole)
