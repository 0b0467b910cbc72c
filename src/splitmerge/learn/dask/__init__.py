"""Dask arrays: sums over rows are computed where the rows are."""
