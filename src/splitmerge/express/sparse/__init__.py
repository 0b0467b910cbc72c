"""The short way for sparse pairs of everyday size: shift-invert Lanczos in one basis, certified by inertia counts.

At n = 400 the factorisations and solves of such a search take 1 ms, and the stages of the pipeline several.
"""
