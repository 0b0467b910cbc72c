"""The same solves by the source of a base commit and by that of the working tree, compared number by number.

`python -m tools.goldens --base COMMIT` after a change that is meant to change no result.
"""
