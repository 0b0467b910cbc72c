"""Which reasons are success, which let another search follow, and what each of them advises."""

import pytest

import splitmerge as sm
from splitmerge import Reason

SUCCESS = {"RESIDUAL", "PRECISION", "ANGLE"}
FAILURES = {"UNCONFIRMED", "EXHAUSTED", "STAGNATED", "DIVERGED", "MISSED", "MISCOUNTED"}
# what the user asked for himself
LIMITS = {"MAX_STEPS", "MAX_SECONDS", "CALLBACK", "INTERRUPTED"}
# arguments that the advice names, which `solve` or an option of a rule has
ADVICE = {
    "MAX_STEPS": ("max_steps", "tol", "method"),
    "MAX_SECONDS": ("seconds", "method"),
    "DIVERGED": ("step size",),
    "STAGNATED": ("tolerance", "precision"),
    "EXHAUSTED": ("tol", "rng", "x0"),
    "UNCONFIRMED": ("tol", "solve with B"),
    "MISSED": ("x0", "method"),
    "MISCOUNTED": ("tol", "interval"),
    "CALLBACK": ("callback",),
    "INTERRUPTED": ("keyboard",),
    "RESIDUAL": ("residual", "tolerance"),
    "ANGLE": ("angle", "tolerance"),
    "PRECISION": ("residual", "precision"),
}


def test_every_reason_is_of_one_kind():
    assert {reason.name for reason in Reason} == SUCCESS | FAILURES | LIMITS == set(ADVICE)


@pytest.mark.parametrize("reason", Reason)
def test_kinds(reason):
    """What the user has limited or stopped is neither success nor a reason to search again."""
    assert reason.converged == (reason.name in SUCCESS)
    assert reason.failed == (reason.name in FAILURES)


@pytest.mark.parametrize("reason", Reason)
def test_advice(reason):
    assert reason.advice.endswith(".")
    for word in ADVICE[reason.name]:
        assert word in reason.advice


def test_advices_differ():
    assert len({reason.advice for reason in Reason}) == len(Reason)


@pytest.mark.parametrize(
    "limit", [{"max_steps": 2}, {"stop": sm.MaxSteps(2)}, {"callback": lambda state: True}], ids=", ".join
)
def test_no_other_search_follows_a_limit(limit):
    """The default method has candidates that could follow."""
    A, B = sm.gallery.synthetic_pair(380, 10.0, rng=0)
    with pytest.raises(sm.NotConverged) as caught:
        sm.solve(A, B, tol=1e-14, rng=0, **limit)
    sol = caught.value.solution
    assert sol.reason in (Reason.MAX_STEPS, Reason.CALLBACK)
    assert sol.steps <= 2
