"""Dask arrays: sums over rows are computed by the workers that hold the rows."""
