"""Wide views (more columns than rows) in the coordinates of their row space.

For the weighted rows X̃ = USQᵀ: directions orthogonal to Q have zero covariance with everything, so that the canonical
vectors are Q times those of the view US. Q is orthonormal, so that lengths and ridges do not change.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import qr, svd

from ...typing import Array
from ..covariance.choice import wide_views
from ..data.joint import Joint
from ..data.view import View


@dataclass(frozen=True, eq=False)
class Coordinates:
    """The views in reduced coordinates, and for each its basis Q, or None if it is not reduced."""

    joint: Joint
    bases: list[Array | None]

    def expand(self, vectors: list[Array]) -> list[Array]:
        """Map the vectors of each view from coordinates to columns."""
        return [V if Q is None else Q @ V for Q, V in zip(self.bases, vectors, strict=True)]


def reduce_wide(joint: Joint) -> Coordinates:
    """Replace the wide views by their coordinates."""
    made = [_reduce(view) if wide else (view, None) for view, wide in zip(joint.views, wide_views(joint), strict=True)]
    return Coordinates(Joint([view for view, _ in made]), [Q for _, Q in made])


def _reduce(view: View) -> tuple[View, Array]:
    w = np.ones(view.rows) if view.weights is None else view.weights
    Z = view.centred(slice(0, view.rows))
    positive = w > 0
    Q, R = qr(Z[positive].T, mode="economic", check_finite=False, overwrite_a=True)
    U, lengths, Vt = svd(R, check_finite=False)
    keep = lengths > max(Z.shape) * np.finfo(np.float64).eps * lengths[0]
    data = np.zeros((view.rows, int(keep.sum())))
    data[positive] = Vt[keep].T * lengths[keep] / np.sqrt(w[positive])[:, None]
    # the coordinates are centred already; subtracting their means would only add rounding errors
    return View(data, view.weights, center=False), np.asarray(Q @ U[:, keep])
