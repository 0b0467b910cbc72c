"""Programs in which little memory is free, as `programs.py` has them."""

import sys

import numpy as np
from petsc4py import PETSc
from programs import COMM, RANK, cube, report, say

import splitmerge as sm
from splitmerge.distributed import factor


def _free(megabytes):
    """Let so much be free on process 0, and more on others."""
    factor.free_memory = lambda: (megabytes + 100 * RANK) * 1e6


def _told(function):
    """What each process is told by an error."""
    try:
        function()
        text = None
    except MemoryError as error:
        text = str(error)
    return COMM.tompi4py().allgather(text)


def refused(megabytes, options, N=16):
    """The message where the factors do not fit."""
    K, M = cube(N)
    _free(megabytes)
    say({"texts": _told(lambda: sm.solve(K, M, **options))})


def retried(status):
    """The message where MUMPS asks for more workspace each time."""
    attempt, made = factor._attempt, []

    class Failed:
        def __init__(self, pc):
            self.factor = pc.getFactorMatrix()

        def getFactorMatrix(self):
            return self

        def getMumpsInfog(self, number):
            return status if number == 1 else self.factor.getMumpsInfog(number)

        def destroy(self):
            made.append("destroyed")

    def failing(K, percentage, share):
        failed = Failed(attempt(K, percentage, share))
        made.append(factor._gib(failed.getMumpsInfog(17) * factor.MEGABYTE))
        return failed

    factor._attempt = failing
    K, M = cube(14)
    say({"texts": _told(lambda: sm.solve(K, M, k=2, sigma=50.0)), "made": made})


def in_a_solve():
    """The message where memory is short in a solve, after the factors are made."""
    factorised = factor._factorised

    class Short:
        def __init__(self, pc):
            self.getInertia = pc.getFactorMatrix().getInertia

        def apply(self, b, x):
            raise PETSc.Error(76)

        def getFactorMatrix(self):
            return self

        def getMumpsInfog(self, number):
            return -13

    def short(K, share):
        pc, estimate = factorised(K, share)
        return Short(pc), estimate

    factor._factorised = short
    K, M = cube(9)
    say({"texts": _told(lambda: sm.solve(K, M, k=2, sigma=50.0))})


def uncounted(megabytes, options):
    """A count that was asked for and does not fit, and how often it was tried."""
    K, M = cube(16)
    attempt, made = factor._attempt, []

    def noted(*given):
        made.append(1)
        return attempt(*given)

    factor._attempt = noted
    _free(megabytes)
    report(sm.solve(K, M, **options), K, M, attempts=len(made))


if __name__ == "__main__":
    globals()[sys.argv[1]](**eval(sys.argv[2], {"sm": sm, "np": np}))
