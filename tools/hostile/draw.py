"""Random choices that all kinds of files have in common, and damage to bytes of any format."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np

T = TypeVar("T")
Rng = np.random.Generator

# Whole numbers at the limits of the types that a parser may use.
NUMBERS = (
    0,
    1,
    2,
    3,
    7,
    8,
    255,
    256,
    65_535,
    10**6,
    2**31 - 1,
    2**31,
    2**32 - 1,
    2**32,
    2**53,
    2**63 - 1,
    2**63,
    2**64,
)


def pick(rng: Rng, choices: Sequence[T]) -> T:
    """One of the choices."""
    return choices[int(rng.integers(len(choices)))]


def number(rng: Rng) -> int:
    """A hostile whole number."""
    drawn = pick(rng, (*NUMBERS, 10**18, 10**30, int(rng.integers(0, 50))))
    return -drawn if rng.random() < 0.2 else drawn


def damaged(rng: Rng, data: bytes) -> bytes:
    """The bytes, cut, flipped, moved, repeated or overwritten."""
    if not data:
        return data
    way = int(rng.integers(7))
    a, b = sorted(int(i) for i in rng.integers(0, len(data) + 1, 2))
    if way == 0:
        return data[: len(data) * int(rng.integers(0, 10)) // 10]
    if way == 1:
        return flipped(rng, data, int(rng.integers(1, 20)))
    if way == 2:
        return data[:a] + data[b:]
    if way == 3:
        return data[:b] + data[a:b] + data[b:]
    if way == 4:
        return data[:a] + bytes(b - a) + data[b:]
    if way == 5:
        return data[:a] + rng.bytes(min(b - a, 64)) + data[a:]
    return flipped(rng, data[: min(len(data), 512)], int(rng.integers(1, 6))) + data[512:]


def flipped(rng: Rng, data: bytes, count: int) -> bytes:
    """The bytes with some of them changed."""
    changed = bytearray(data)
    for place in rng.integers(0, len(data), count):
        changed[place] = int(rng.integers(256)) if rng.random() < 0.5 else changed[place] ^ (1 << int(rng.integers(8)))
    return bytes(changed)
