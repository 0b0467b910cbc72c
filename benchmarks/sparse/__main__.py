"""`python -m benchmarks.sparse`: all parts, or those named by SPARSE."""

from __future__ import annotations

from .parts import main

main()
