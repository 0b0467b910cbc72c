#!/usr/bin/env bash
# Run the Python of a virtual environment (its path is the first argument) with the variables by which petsc4py finds PETSc.
set -euo pipefail
venv=$1
shift
set -a
. "$venv/petsc.env"
set +a
# one thread for each process, or they compete for the cores
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
exec "$venv/bin/python" "$@"
