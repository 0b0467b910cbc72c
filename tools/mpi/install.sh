#!/usr/bin/env bash
# PETSc, petsc4py and mpi4py in a virtual environment (its path is the argument), on Debian 12 or 13 as root.
# Debian 12 has a petsc4py that was compiled for NumPy 1, so it is compiled again; that takes 5 to 15 minutes.
set -euo pipefail
venv=$1
python=${PYTHON:-python3}
command -v apt-get >/dev/null || { echo "make mpi needs apt-get (Debian 12 or 13)" >&2; exit 3; }
[ "$(id -u)" = 0 ] || { echo "make mpi installs Debian packages and must run as root" >&2; exit 3; }
. /etc/os-release
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
install() { apt-get install -y -qq --no-install-recommends "$@" >/dev/null; }
if [ "${VERSION_ID:-0}" -ge 13 ]; then
    install python3-petsc4py python3-mpi4py python3-venv openmpi-bin
    python3 -m venv --clear --system-site-packages "$venv"
else
    install libpetsc-real-dev openmpi-bin gcc libc6-dev
    "$python" -m venv --clear "$venv"
    "$venv/bin/python" -m pip install --quiet --upgrade pip "setuptools<75" wheel "cython<3" "numpy>=2"
fi
export PETSC_DIR
PETSC_DIR=$(find /usr/lib/petscdir -maxdepth 2 -name '*-real' | sort | tail -1)
if [ "${VERSION_ID:-0}" -lt 13 ]; then
    "$venv/bin/python" -m pip install --quiet --no-build-isolation --no-deps petsc4py==3.18.5
    "$venv/bin/python" -m pip install --quiet mpi4py
fi
# SLEPc is for the benchmarks only
if [ -n "${WITH_SLEPC:-}" ] && [ "${VERSION_ID:-0}" -lt 13 ]; then
    install libslepc-real-dev
    SLEPC_DIR=$(find /usr/lib/slepcdir -maxdepth 2 -name '*-real' | sort | tail -1) \
        "$venv/bin/python" -m pip install --quiet --no-build-isolation --no-deps slepc4py==3.18.2
fi
"$venv/bin/python" -m pip install --quiet --editable . pytest "setuptools>=77"
# petsc4py finds PETSc by these variables
printf 'PETSC_DIR=%s\n' "$PETSC_DIR" >"$venv/petsc.env"
"$venv/bin/python" -c 'from petsc4py import PETSc; print("PETSc", *PETSc.Sys.getVersion())'
