"""Several slices: why the sweep over them ended."""

import numpy as np
import pytest
import scipy.sparse as sp

import splitmerge as sm
from splitmerge import Reason
from splitmerge.slicing.sweep import Sweep

A = sp.diags_array(np.arange(1.0, 801)).tocsr()
ENDS = {
    (Reason.RESIDUAL, Reason.RESIDUAL): Reason.RESIDUAL,
    (Reason.PRECISION, Reason.RESIDUAL): Reason.PRECISION,
    (Reason.RESIDUAL, Reason.PRECISION): Reason.PRECISION,
    (Reason.PRECISION, Reason.UNCONFIRMED): Reason.UNCONFIRMED,
    (Reason.RESIDUAL, Reason.MAX_STEPS): Reason.MAX_STEPS,
}


@pytest.mark.parametrize("reasons", ENDS, ids=lambda reasons: " ".join(reason.name for reason in reasons))
def test_the_worst_slice_tells_the_reason(reasons, monkeypatch):
    run, ended = Sweep._run, []

    def told(self, setup, part):
        """The pairs of a slice, with another reason for the end; a slice that failed is tried from other shifts."""
        reason, pairs = run(self, setup, part)
        assert reason is Reason.RESIDUAL
        ended.append(len(self.found))
        return reasons[len(self.found)], pairs

    monkeypatch.setattr(Sweep, "_run", told)
    try:
        sol = sm.solve(A, interval=(0.5, 100.5), method=sm.Accelerated(), rng=0)
    except sm.NotConverged as error:
        sol = error.solution
    assert set(ended) == {0, 1}
    assert sol.reason is ENDS[reasons]
    assert sol.converged == ENDS[reasons].converged


def test_no_slice_is_begun_once_the_time_is_over(monkeypatch):
    """The pairs of the slices so far are kept, even though each of them has met its tolerance."""
    solve, begun = Sweep._solve, []

    def slow(self, part):
        """An hour passes in every slice."""
        begun.append(part.count)
        solve(self, part)
        self.workspace.budget.clock -= 3600

    monkeypatch.setattr(Sweep, "_solve", slow)
    limit = sm.Residual(1e-9) | sm.MaxSeconds(60)
    with pytest.raises(sm.NotConverged) as caught:
        sm.solve(A, interval=(0.5, 100.5), method=sm.Accelerated(), stop=limit, rng=0)
    sol = caught.value.solution
    assert sol.reason is Reason.MAX_SECONDS
    assert len(begun) == 1
    np.testing.assert_allclose(sol.eigenvalues, np.arange(1.0, begun[0] + 1), rtol=1e-10)
