"""A PETSc of complex numbers: what it can do, and what it refuses because its MUMPS does not count eigenvalues."""

from pathlib import Path

import numpy as np
import pytest
import scipy.linalg as sl

from pairs_of_rows import exact_cube, magnetic

PROGRAMS = Path(__file__).parent / "programs_complex.py"
EVERY = sl.eigh(*(M.toarray() for M in magnetic(30)), eigvals_only=True)
NO_COUNTS = "this PETSc was built for complex numbers"


@pytest.fixture(scope="module")
def run(launch):
    return lambda ranks, name, **options: launch(ranks, name, repr(options), module=PROGRAMS)


@pytest.fixture(scope="module")
def complex_run(run):
    """Programs that need such a build."""
    if not run(1, "kind")["complex"]:
        pytest.skip("this PETSc was built for real numbers")
    return run


class _Expression(str):
    def __repr__(self):
        return str(self)


@pytest.mark.parametrize("ranks", [1, 2])
def test_shift_invert_is_refused(run, ranks):
    for text in run(ranks, "refused", options={"k": 2, "sigma": 50.0})["texts"]:
        assert text.startswith(NO_COUNTS)
        assert "which='smallest' with LOBPCG" in text


@pytest.mark.parametrize("ranks", [1, 2])
def test_the_smallest_are_found_by_lobpcg(run, ranks):
    told = run(ranks, "solve", options={"k": 3, "which": "smallest", "rng": 0})
    assert np.allclose(told["values"], exact_cube(9)[:3], rtol=1e-8)
    assert any("MATRIX_FREE" in choice and "MultiGrid" in choice for choice in told["choices"])


@pytest.mark.parametrize("which", ["largest", "smallest"])
@pytest.mark.parametrize("ranks", [1, 2])
def test_the_verdict_says_why_there_is_no_count(run, ranks, which):
    told = run(ranks, "solve", options={"k": 2, "which": which, "certify": True, "rng": 0})
    assert told["agree"]
    assert told["verdict"] == "probed"
    assert f"was not made: {NO_COUNTS}" in told["why"]


def test_solves_with_B_that_take_long(run):
    for text in run(2, "many_steps", options={})["texts"]:
        assert "more than 2 steps of conjugate gradients" in text
        assert "give a preconditioner of B" in text


@pytest.mark.parametrize(
    "options",
    [{"preconditioner": "sm.Diagonal()"}, {"method": "sm.Accelerated(inner=sm.ConjugateGradient())"}],
    ids=["preconditioner", "inner"],
)
def test_what_is_advised_for_such_solves(run, options):
    options = {name: _Expression(value) for name, value in options.items()}
    assert run(2, "many_steps", options=options)["texts"] == [None, None]


@pytest.mark.parametrize("preconditioner", ["None", "sm.MultiGrid()", "sm.Diagonal()"])
@pytest.mark.parametrize("ranks", [1, 2])
def test_complex_entries(complex_run, ranks, preconditioner):
    options = {"k": 3, "which": "smallest", "rng": 0, "preconditioner": _Expression(preconditioner)}
    told = complex_run(ranks, "field", m=30, options=options)
    assert np.allclose(told["values"], EVERY[:3], atol=1e-10)
    assert told["converged"]
    # some 35 with a cycle that is Hermitian, 160 with the diagonal
    assert told["steps"] < (60 if "Diagonal" not in preconditioner else 300)


@pytest.mark.parametrize("ranks", [1, 2])
def test_the_largest_of_complex_entries(complex_run, ranks):
    told = complex_run(ranks, "field", m=30, options={"k": 3, "rng": 0})
    assert np.allclose(told["values"], EVERY[:-4:-1], atol=1e-10)


@pytest.mark.parametrize("form", ["aij", "sbaij"])
@pytest.mark.parametrize("ranks", [1, 2])
def test_symmetric_is_not_hermitian(complex_run, ranks, form):
    assert all(text.startswith("A is not Hermitian") for text in complex_run(ranks, "symmetric", form=form)["texts"])


def test_a_complex_near_nullspace(complex_run):
    assert all("give real vectors" in text for text in complex_run(2, "near_null")["texts"])
