"""Rounding: what finite precision lets a computation reach."""

from __future__ import annotations

import math
from typing import Any

import numpy as np


def rounding(n: int, dtype: np.dtype[Any]) -> float:
    """A pivot of less than this part of its entry of the diagonal is nothing but rounding."""
    return 10 * math.sqrt(n) * float(np.finfo(dtype).eps)
