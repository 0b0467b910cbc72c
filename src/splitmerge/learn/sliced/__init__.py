"""Sliced inverse regression and sliced average variance estimation."""
