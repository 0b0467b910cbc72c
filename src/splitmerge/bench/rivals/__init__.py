"""Competing methods that the paper discusses, implemented from their publications.

They are used like the library's own methods: `sm.solve(A, B, method=rivals.JacobiDavidson())`.
"""

from .auchmuty import AuchmutyConjugateGradient, AuchmutyDescent, AuchmutyNewton
from .genelink import GenELinK
from .jacobi_davidson import JacobiDavidson
from .lazy_ev import LazyEV
from .rayleigh_quotient import RayleighQuotientIteration
from .riemannian import RiemannianConjugateGradient, RiemannianGradient

__all__ = [
    "AuchmutyConjugateGradient",
    "AuchmutyDescent",
    "AuchmutyNewton",
    "GenELinK",
    "JacobiDavidson",
    "LazyEV",
    "RayleighQuotientIteration",
    "RiemannianConjugateGradient",
    "RiemannianGradient",
]
