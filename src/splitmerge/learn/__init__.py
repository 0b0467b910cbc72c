"""Estimators whose mathematics is a pair (A, B) of covariances: with scikit-learn's conventions, and without forming them.

They need scikit-learn: `pip install 'splitmerge[learn]'`.
"""
