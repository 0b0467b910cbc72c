"""Regression test of results: the same cases run by a base commit and by the working tree, compared number by number.

Run `python -m tools.goldens --base COMMIT` after a change that should not change any result.
"""
