"""Estimators that are pairs (A, B) of covariances underneath: scikit-learn's conventions, without forming the matrices.

They need scikit-learn: `pip install 'splitmerge[learn]'`.
"""
