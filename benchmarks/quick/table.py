"""The table as text and all numbers as JSON."""

from __future__ import annotations

import argparse
import json
import os
import platform
import time
from pathlib import Path
from typing import Any

import numpy as np
import scipy

from .record import Record

LEGEND = """\
Ratios are other solver's time / ours, so above 1 we are faster. Times are the best of interleaved rounds in ms, with
all set-up. plain: eigsh as its documentation calls it (tiny: LAPACK's eigh and a residual; random and near start: our
solve without x0; import: SciPy). best: the fastest correct peer. res: max ‖Au − λBu‖ / (|λ|‖Bu‖), recomputed alike
for all; ours has tol=1e-8, a peer the largest tolerance that suffices. ver: the share of verification in our time.
A solver that is wrong (misses an eigenvalue), coarse (misses the accuracy) or failed is not counted; if we are slow
(stopped at a time limit), the ratio is an upper bound."""
WIDTHS = {"section": -26, "pair": -23, "target": -13, "n": 7, "ours": 9, "plain": 8, "best": 8, "by": -14}
WIDTHS |= {"res ours": 9, "res plain": 10, "res best": 9, "verdict": -10, "ver": 5, "peers": 0}


def conditions(args: argparse.Namespace, seconds: float) -> dict[str, Any]:
    """What the numbers depend on."""
    return {
        "date": time.strftime("%Y-%m-%d %H:%M"),
        "seconds": round(seconds, 1),
        "threads": args.threads,
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[0], 2),
        "long": args.long,
        "machine": platform.machine(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
    }


def loses(r: Record) -> bool:
    return r["state"] not in ("good", "absent") or (r["ratio"] is not None and r["ratio"] < 1)


def ordered(records: list[Record]) -> list[Record]:
    """First those that we do not solve, then those that we lose, the worst first; then the others as measured."""
    lost = sorted((r for r in records if loses(r)), key=lambda r: r["ratio"] or 0.0)
    return lost + [r for r in records if not loses(r)]


def number(value: float | None, form: str = ".2f") -> str:
    return "–" if value is None else format(value, form)


def milliseconds(seconds: float | None) -> str:
    return "–" if seconds is None else f"{1e3 * seconds:.{max(0, 2 - int(np.log10(max(1e3 * seconds, 1))))}f}"


def peer_text(name: str, peer: Record) -> str:
    if peer["state"] in ("absent", "failed"):
        return f"{name} {peer['state']}"
    mark = "" if peer["state"] == "good" else f" {peer['state'].upper()}"
    if peer["state"] == "good" and peer["note"]:
        mark = f" ({peer['note']})"
    if peer["state"] == "coarse":
        mark += f" {number(peer['residual'], '.0e')}"
    return f"{name} {milliseconds(peer['seconds'])}{mark}"


def fields(r: Record) -> dict[str, str]:
    """The texts of one row."""
    texts = {"section": r["section"], "pair": r["name"], "target": r["target"]}
    if r["state"] == "absent":
        return {**texts, "peers": f"absent: {r['note']}"}
    plain, best = r["peers"].get(r["plain"], {}), r["peers"].get(r["best"], {})
    less = "<" * (r["state"] == "slow")
    seconds = r["ours"]["seconds"] if r["state"] in ("good", "slow") else None
    share = r["verification_share"]
    notes = [f"OURS IS {r['state'].upper()} {r['note']}".strip()] if r["state"] != "good" else []
    notes += [peer_text(name, peer) for name, peer in r["peers"].items()]
    return {
        **texts,
        "n": number(r["n"], "d"),
        "ours": ">" * bool(less) + milliseconds(seconds),
        "plain": less + number(r["plain_ratio"]),
        "best": less + number(r["ratio"]),
        "by": r["best"] or "–",
        "res ours": number(r["ours"]["residual"], ".0e"),
        "res plain": number(plain.get("residual"), ".0e"),
        "res best": number(best.get("residual"), ".0e"),
        "verdict": r["verdict"] or "–",
        "ver": "–" if share is None else f"{share:.0%}",
        "peers": ", ".join(notes),
    }


def line(texts: dict[str, str]) -> str:
    cells = []
    for name, width in WIDTHS.items():
        cell = texts.get(name, "")
        cells.append(f"{cell:<{-width}}" if width <= 0 else f"{cell:>{width}}")
    return " ".join(cells).rstrip()


def mean(ratios: list[float]) -> float | None:
    return float(np.exp(np.mean(np.log(ratios)))) if ratios else None


def means(records: list[Record]) -> list[str]:
    """Geometric means of the ratios for every section and target, with the smallest."""
    found = [f"{'geometric means':<41}{'rows':>6}{'lost':>6}{'plain':>8}{'min':>8}{'best':>8}{'min':>8}  least"]
    for section, target in dict.fromkeys((r["section"], r["target"]) for r in records):
        own = [r for r in records if (r["section"], r["target"]) == (section, target) and r["state"] != "absent"]
        plain = [r["plain_ratio"] for r in own if r["plain_ratio"] is not None]
        solved = [r for r in own if r["ratio"] is not None]
        best = [r["ratio"] for r in solved]
        worst = min(solved, key=lambda r: r["ratio"], default=None)
        columns = [mean(plain), min(plain, default=None), mean(best), min(best, default=None)]
        texts = "".join(f"{number(value):>8}" for value in columns)
        name = "" if worst is None else f"  {worst['name']}, {worst['best']}"
        found.append(f"{section:<27}{target:<14}{len(own):>6}{sum(map(loses, own)):>6}{texts}{name}")
    return found


def text(records: list[Record], facts: dict[str, Any]) -> str:
    """The whole table."""
    head = ", ".join(f"{name} {value}" for name, value in facts.items())
    lines = [f"sm.solve against other solvers ({head})", LEGEND, "", line({name: name for name in WIDTHS})]
    lines += [line(fields(r)) for r in ordered(records)]
    return "\n".join([*lines, "", *means(records)])


def save(stem: Path, records: list[Record], facts: dict[str, Any], table: str) -> None:
    stem.parent.mkdir(parents=True, exist_ok=True)
    stem.with_name(stem.name + ".txt").write_text(table + "\n")
    stem.with_name(stem.name + ".json").write_text(json.dumps({"conditions": facts, "rows": records}, indent=1) + "\n")
