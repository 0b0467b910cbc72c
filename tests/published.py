"""Measurements for the claims of the paper: its own numbers, as if they had been measured here."""

from splitmerge.bench.reproduce import claims, lapla, table1
from splitmerge.bench.reproduce.paper import LANCZOS_SHARES, TABLE1
from splitmerge.bench.summary import Stat


def stat(seconds, share=1.0, products=101.0, deviation=0.0, setup=0.0):
    return Stat(100, round(100 * share), seconds, deviation, setup, 50.0, products, 1.0, 100.0, 0.0)


def as_published():
    """The paper's own table, as if it had been measured here."""
    cells = {}
    for key, row in TABLE1.items():
        stats = {name: stat(row[place]) for name, place in table1.RANKED.items()}
        stats["Lanczos"] = stat(row.lanczos, LANCZOS_SHARES.get(key, 1.0))
        stats["Power"] = stat(row.power, products=101.0 * row.speedup / 100)
        stats |= {name: stat(row.PMD) for name in ("PMD adaptive", "Lanczos reorthogonalised", "splitmerge")}
        cells[key] = {**stats, "eigsh": stat(row.eigs)}
    return cells


def clustered(gains):
    """Two pairs on which Split-Merge is best and PCG brings the given gains."""
    pairs, factors, curves = {}, {}, {}
    for name, n, gain in (("three", 5795, gains[0]), ("four", 10_891, gains[1])):
        sides = {}
        for method, kinds in lapla.SIDES.items():
            for inner in kinds:
                seconds = (1.0 if method == "Split-Merge" else 2.0) / (gain if inner == lapla.PCG else 1.0)
                wide = 0.5 if method == "Lanczos" else 0.1
                share = 0.5 if method == "Lanczos" else 1.0
                sides[lapla.label(method, inner)] = stat(seconds, share, deviation=wide * seconds)
        pairs[name] = sides
        factors[name] = {"n": n, lapla.CHOLESKY: 50.0, lapla.PCG: 3.0, "full": 50.0}
        curves[name] = {"curves": {side: {"sine": [1.0, 1e-3]} for side in sides}}
    return pairs, factors, curves


def judged(results):
    return {claim.statement: claim.judged(results) for claim in claims.CLAIMS}
