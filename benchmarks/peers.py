"""`sm.solve` against other solvers at equal accuracy, as time ratios in one run; and its products and memory.

Environment: PEERS=quick uses four cells instead of 34, PEERS=tiny one small cell as a smoke test; THREADS=1 skips the
runs with all threads. `make bench PEERS=quick THREADS=1` passes them on.
"""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_info, threadpool_limits

import splitmerge as sm
from splitmerge.bench.external import TOLERANCE_LADDER

from .rivals import PAIR_COUNT, PEERS, Problem, Side, lanczos_products, limit, ours, peers, primme
from .workspace import memory

OUT = Path("out/peers.json")
# Factor by which an error may exceed its tolerance, to allow for rounding.
ERROR_SLACK_FACTOR = 1.01
# A solver slower than ours by the first ratio is timed only once; one that misses the accuracy is abandoned at the
# second. Both apply only to runs longer than BRIEF_SECONDS.
SLOW_TIME_RATIO, HOPELESS_TIME_RATIO, BRIEF_SECONDS = 10, 20, 0.5
# Largest acceptable ratio of our time to the limit.
MAX_LIMIT_RATIO = 1.5
JOBS = {"angle": "k = 1, stop=SineAngle", "tol": "k = 1, tol only", "ten": f"k = {PAIR_COUNT}, tol=1e-8"}

Row = dict[str, Any]


def cells(mode: str) -> list[tuple[int, int]]:
    """(n, κ_B) of every cell."""
    if mode == "tiny":
        return [(160, 3)]
    if mode == "quick":
        return [(n, kappa) for n in (256, 1024) for kappa in (3, 50)]
    paper = [(n, kappa) for n in sm.gallery.SIZES for kappa in sm.gallery.KAPPA_B]
    return paper + [(n, kappa) for n in (2048, 4096) for kappa in (3, 50)]


def rounds(n: int) -> int:
    return 5 if n <= 512 else 3 if n <= 1024 else 2


def clock(side: Side, problem: Problem, k: int, tol: float) -> tuple[float, float]:
    """Seconds of one run, and its error relative to the tolerance."""
    begin = time.perf_counter()
    pairs = side.attempt(tol)
    seconds = time.perf_counter() - begin
    return seconds, np.inf if pairs is None else problem.error(pairs, k)


def settle(side: Side, problem: Problem, k: int, patience: float) -> None:
    """Find the loosest sufficient tolerance before the timed runs; this is also the warm-up.

    The search starts from the tolerance found with other thread counts, if any. A solver that exceeds `patience`
    seconds without reaching the accuracy is abandoned; `seconds` is then a lower bound.
    """
    known = side.tol is not None
    index = TOLERANCE_LADDER.index(side.tol or (1e-5 if k == 1 else 1e-8))
    while not try_step(side, problem, k, index):
        if not side.by_tol or index == len(TOLERANCE_LADDER) - 1:
            side.state, side.seconds = "failed", np.inf
            return
        if side.seconds > patience:
            side.state = "slow"
            return
        # the error is roughly proportional to the tolerance
        ahead = 4 if side.error == np.inf else round(2 * np.log10(side.error))
        index = min(index + max(1, ahead), len(TOLERANCE_LADDER) - 1)
    if known or not side.by_tol:
        return
    for stride in (2, 1):
        while index >= stride and try_step(side, problem, k, index - stride):
            index -= stride


def try_step(side: Side, problem: Problem, k: int, index: int) -> bool:
    """Does the solver reach the accuracy with this tolerance? If so, record it; a failure keeps an earlier success."""
    seconds, error = clock(side, problem, k, TOLERANCE_LADDER[index])
    good = error <= ERROR_SLACK_FACTOR
    if good:
        side.tol, side.state = TOLERANCE_LADDER[index], "good"
    if good or side.state != "good":
        side.seconds, side.error = seconds, error
    return good


def race(sides: list[Side], problem: Problem, k: int) -> None:
    """The best time of every solver over interleaved rounds; the first one is ours and determines the time limits."""
    pace = sides[0]
    for side in sides:
        side.reset()
    for side in sides:
        settle(side, problem, k, max(HOPELESS_TIME_RATIO * pace.seconds, BRIEF_SECONDS))
    racing = [side for side in sides if side.state == "good"]
    for turn in range(rounds(problem.n)):
        # rotate the order, so that each solver runs after different ones
        for side in racing[turn % len(racing) :] + racing[: turn % len(racing)]:
            if side.seconds > max(SLOW_TIME_RATIO * pace.seconds, BRIEF_SECONDS):
                continue
            seconds, error = clock(side, problem, k, side.tol or 0.0)
            if error <= ERROR_SLACK_FACTOR:
                side.seconds, side.error = min(side.seconds, seconds), error
            else:
                side.misses += 1


def fastest(sides: list[Side], name: str) -> Side | None:
    """The fastest variant of a solver, preferring those that reach the accuracy."""
    own = [side for side in sides if side.name == name]
    return min(own, key=lambda side: (side.state != "good", side.seconds), default=None)


def row(problem: Problem, threads: int, job: str, mine: Side, sides: list[Side], needed: int) -> Row:
    """The results of one job of one cell."""
    counts = None if mine.solution is None else mine.solution.counts
    bound = fastest(sides, "limit")
    return {
        "threads": threads,
        "n": problem.n,
        "kappa_B": problem.kappa,
        "job": job,
        "ours": describe(mine, mine),
        "peers": {name: describe(fastest(sides, name), mine) for name in PEERS},
        "variants": [{"name": side.name, "variant": side.variant, **describe(side, mine)} for side in sides],
        "over_limit": None if bound is None or mine.state != "good" else mine.seconds / bound.seconds,
        "products": None if counts is None else counts.A_products,
        "monitoring": None if counts is None else counts.monitoring.A_products,
        "setup": None if counts is None else counts.setup.A_products,
        "lanczos_products": needed if bound is not None else None,
    }


def describe(side: Side | None, mine: Side) -> Row:
    if side is None:
        return {"state": "absent"}
    finite = np.isfinite(side.seconds)
    return {
        "state": side.state,
        "variant": side.variant,
        "ms": 1e3 * side.seconds if finite else None,
        "ratio": side.seconds / mine.seconds if finite and mine.state == "good" else None,
        "tol": side.tol if side.by_tol else None,
        "error_over_goal": side.error if np.isfinite(side.error) else None,
        "misses": side.misses,
    }


def measure(problem: Problem, settings: list[int]) -> list[Row]:
    """All rows of a cell; a tolerance found with one thread is the first guess for the other thread counts."""
    needed = lanczos_products(problem)
    single = [*ours(problem, 1), *peers(problem, 1), limit(problem, needed)]
    block = [*ours(problem, PAIR_COUNT), *peers(problem, PAIR_COUNT)]
    rows = []
    for threads in settings:
        with threadpool_limits(threads):
            race(single, problem, 1)
            rows.append(row(problem, threads, "angle", single[0], single[2:], needed))
            rows.append(row(problem, threads, "tol", single[1], single[2:], needed))
            race(block, problem, PAIR_COUNT)
            rows.append(row(problem, threads, "ten", block[0], block[1:], needed))
    return rows


def shown(peer: Row) -> str:
    if peer.get("ratio") is None:
        return peer["state"]
    return f">{peer['ratio']:.0f}" if peer["state"] == "slow" else f"{peer['ratio']:.2f}{'*' * bool(peer['misses'])}"


def line(r: Row) -> str:
    mine = f"{r['ours']['ms']:.2f}" if r["ours"]["state"] == "good" else "MISSED"
    text = f"{r['n']:>5}{r['kappa_B']:>5}  {JOBS[r['job']]:<22}{mine:>9}"
    text += "".join(f"{shown(r['peers'][name]):>16}" for name in PEERS)
    text += f"{'' if r['over_limit'] is None else format(r['over_limit'], '.2f'):>12}"
    if r["products"] is None:
        return text
    if r["lanczos_products"] is None:
        return f"{text}   {r['products']} + {r['monitoring']}"
    return f"{text}   {r['products']} / {r['lanczos_products']} = {r['products'] / r['lanczos_products']:.2f}"


def table(rows: list[Row], threads: int) -> None:
    print(f"\n{threads} thread{'s' * (threads > 1)}: our time, and each solver's time / ours: above 1 we are faster.")
    print(f"'>': abandoned at {HOPELESS_TIME_RATIO} × our time; '*': some runs missed the accuracy and are excluded.")
    print("Products: for k = 1 ours / those of unrestarted Lanczos; otherwise of the iteration + of the monitoring.")
    heads = "".join(f"{name:>16}" for name in PEERS)
    print(f"{'n':>5}{'κ_B':>5}  {'job':<22}{'ours/ms':>9}{heads}{'ours/limit':>12}   products")
    for r in rows:
        print(line(r))


def means(rows: list[Row]) -> None:
    """Geometric means over the cells in which both solvers reach the accuracy."""
    for job, text in JOBS.items():
        own = [r for r in rows if r["job"] == job]
        parts = []
        for name in PEERS:
            ratios = [r["peers"][name]["ratio"] for r in own if r["peers"][name]["state"] == "good"]
            ratios = [ratio for ratio in ratios if ratio is not None]
            mean = f"{np.exp(np.mean(np.log(ratios))):.2f}" if ratios else "–"
            parts.append(f"{name} {mean}" + ("" if len(ratios) == len(own) else f" ({len(ratios)}/{len(own)} cells)"))
        print(f"geometric mean of time / ours, {text}: " + ", ".join(parts))


def complaints(rows: list[Row]) -> list[str]:
    """A sentence for every cell in which we are slower or inaccurate."""
    found = []
    for r in rows:
        where = f"n = {r['n']}, κ_B = {r['kappa_B']}, {JOBS[r['job']]}"
        if r["ours"]["state"] != "good" or r["ours"]["misses"]:
            found.append(f"{where}: OUR RESULT MISSES THE ACCURACY")
            continue
        ratios = {name: p["ratio"] for name, p in r["peers"].items() if p["state"] == "good"}
        best = min(ratios, key=lambda name: ratios[name], default=None)
        if best is not None and ratios[best] < 1:
            found.append(f"{where}: {best} takes {ratios[best]:.2f} of our time ({1 / ratios[best]:.2f} × as fast)")
        if r["over_limit"] is not None and r["over_limit"] > MAX_LIMIT_RATIO:
            found.append(f"{where}: {r['over_limit']:.2f} × the limit")
    return found


def verdict(rows: list[Row]) -> None:
    found = complaints(rows)
    if found:
        print(f"WE LOSE to the best solver, or exceed {MAX_LIMIT_RATIO} × the limit, {len(found)} times:")
        print("\n".join(f"  {complaint}" for complaint in found))
    else:
        print(f"Never slower than the best solver, never above {MAX_LIMIT_RATIO} × the limit.")


def save(results: dict[str, list[Row]]) -> None:
    OUT.parent.mkdir(exist_ok=True)
    OUT.write_text(json.dumps(results, indent=1))


def main() -> None:
    mode = os.environ.get("PEERS", "whole")
    if mode not in ("whole", "quick", "tiny"):
        raise SystemExit(f"PEERS is {mode!r}; give whole, quick or tiny")
    every = max(info["num_threads"] for info in threadpool_info())
    settings = sorted({1, int(os.environ.get("THREADS", every))})
    print(f"\nsm.solve and other solvers ({mode}), k = 1 to sin θ ≤ 1e-5 and k = {PAIR_COUNT} to residuals ≤ 1e-8,")
    print("including set-up")
    if primme is None:
        print("PRIMME is not installed, skipped.")
    rows: list[Row] = []
    for n, kappa in cells(mode):
        begin = time.perf_counter()
        rows += measure(Problem.cell(n, kappa), settings)
        print(f"  n = {n}, κ_B = {kappa} measured in {time.perf_counter() - begin:.0f} s", flush=True)
        save({"cells": rows})
    for threads in settings:
        own = [r for r in rows if r["threads"] == threads]
        table(own, threads)
        means(own)
        verdict(own)
    save({"cells": rows, "memory": memory(mode)})
    print(f"\nAll results, with every variant and its tolerance, are in {OUT}.")
