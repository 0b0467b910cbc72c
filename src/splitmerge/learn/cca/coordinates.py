"""Views with more columns than rows, in as many coordinates as there are rows.

X̃ = USQᵀ for the weighted rows: whatever is orthogonal to Q has no covariance with anything, so canonical vectors are Q
times those of the view US. Lengths stay what they are, and with them the ridge.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import qr, svd

from ...typing import Array
from ..data.joint import Joint
from ..data.view import View

# Made narrower are views of which that leaves at most this part, when all have more columns than this together.
WORTH, MANY = 0.8, 1000


@dataclass(frozen=True, eq=False)
class Narrower:
    """The views in fewer coordinates, and for each the basis Q of what it is in, or None where it is as it was."""

    joint: Joint
    bases: list[Array | None]

    def back(self, vectors: list[Array]) -> list[Array]:
        """From the coordinates to the columns."""
        return [V if Q is None else Q @ V for Q, V in zip(self.bases, vectors, strict=True)]


def wide(joint: Joint) -> list[bool]:
    """Which views have clearly fewer rows than columns, and are in this memory?"""
    here = not joint.overhead and joint.columns > MANY
    return [here and joint.samples <= WORTH * view.columns for view in joint.views]


def narrower(joint: Joint) -> Narrower:
    """Views that are wide replaced by narrow ones."""
    made = [_narrowed(view) if turn else (view, None) for view, turn in zip(joint.views, wide(joint), strict=True)]
    return Narrower(Joint([view for view, _ in made]), [Q for _, Q in made])


def _narrowed(view: View) -> tuple[View, Array]:
    w = np.ones(view.rows) if view.weights is None else view.weights
    Z = view.centred(slice(0, view.rows))
    counting = w > 0
    Q, R = qr(Z[counting].T, mode="economic", check_finite=False, overwrite_a=True)
    U, lengths, Vt = svd(R, check_finite=False)
    keep = lengths > max(Z.shape) * np.finfo(np.float64).eps * lengths[0]
    data = np.zeros((view.rows, int(keep.sum())))
    data[counting] = Vt[keep].T * lengths[keep] / np.sqrt(w[counting])[:, None]
    # centred as it is: a second time would only add rounding
    return View(data, view.weights, center=False), np.asarray(Q @ U[:, keep])
