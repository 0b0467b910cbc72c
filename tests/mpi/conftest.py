"""Programs on several processes, each with a time limit."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

collect_ignore = ["programs.py", "programs_complex.py", "programs_memory.py", "programs_parts.py"]
HERE = Path(__file__).parent
# Seconds that a program may take before all its processes are ended.
LIMIT = 240


@pytest.fixture(scope="session")
def launch():
    """Run a program of `programs.py` on so many processes and return what it says, or the finished process."""
    pytest.importorskip("petsc4py", reason="petsc4py is not installed; see make mpi")
    mpiexec = shutil.which("mpiexec")
    if mpiexec is None:
        pytest.skip("mpiexec is not installed; see make mpi")

    def run(ranks, *words, limit=LIMIT, check=True, module=HERE / "programs.py"):
        command = [mpiexec, "--allow-run-as-root", "--oversubscribe", "-n", str(ranks), sys.executable, str(module)]
        done = subprocess.run([*command, *words], capture_output=True, text=True, timeout=limit, env=environment())
        if not check:
            return done
        assert done.returncode == 0, done.stderr[-3000:]
        return json.loads(done.stdout.splitlines()[-1])

    return run


@pytest.fixture(scope="session")
def program(launch):
    """Run a program by its name and options."""
    return lambda ranks, name, limit=LIMIT, check=True, **options: launch(
        ranks, name, repr(options), limit=limit, check=check
    )


def environment():
    paths = [str(HERE), str(HERE.parent), os.environ.get("PYTHONPATH", "")]
    # processes that wait leave the core to others: there may be more of them than cores
    more = {"OMP_NUM_THREADS": "1", "OMPI_MCA_mpi_yield_when_idle": "1", "PYTHONWARNINGS": "error"}
    return os.environ | more | {"PYTHONPATH": os.pathsep.join(paths)}
