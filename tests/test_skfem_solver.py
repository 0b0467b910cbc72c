"""What `skfem_solver` asks of `solve`: called as scikit-fem calls it, which need not be installed."""

import numpy as np
import pytest
import scipy.sparse as sp

import splitmerge as sm

VALUES = np.arange(1.0, 41.0)
K, M = sp.csr_array(sp.diags_array(2 * VALUES)), sp.csr_array(2 * sp.eye_array(40))


@pytest.mark.parametrize(
    ("made", "called", "expected"),
    [
        ({}, {}, [1, 2, 3, 4, 5]),
        ({"k": 2}, {}, [1, 2]),
        ({"k": 2}, {"k": 3}, [1, 2, 3]),
        ({}, {"k": 1}, [1]),
        ({"which": "largest"}, {}, [40, 39, 38, 37, 36]),
        ({"k": 2, "which": "largest"}, {"which": "smallest"}, [1, 2]),
        ({"k": 2}, {"which": "largest"}, [40, 39]),
        ({"k": 2, "sigma": 10.2}, {}, [10, 11]),
        ({"sigma": 10.2}, {"k": 1}, [10]),
        ({"k": 2}, {"sigma": 10.2}, [10, 11]),
        ({"k": 2, "sigma": 10.2}, {"sigma": 20.4}, [20, 21]),
        ({"k": 2, "sigma": 10.2}, {"sigma": None}, [1, 2]),
        ({"interval": (2.5, 4.5)}, {}, [3, 4]),
        ({"interval": (2.5, 4.5)}, {"interval": (6.5, 7.5)}, [7]),
        ({}, {"interval": (2.5, 4.5)}, [3, 4]),
        ({"interval": (2.5, 4.5)}, {"interval": None}, [1, 2, 3, 4, 5]),
    ],
    ids=str,
)
def test_what_is_asked_for(made, called, expected):
    """By default the five smallest; what is given to the call replaces what was given before."""
    solver = sm.skfem_solver(**made)
    values, modes = solver(K, M, **called)
    np.testing.assert_allclose(values, expected, rtol=1e-10)
    assert modes.shape == (40, len(expected))
    np.testing.assert_allclose(modes.T @ (M @ modes), np.eye(len(expected)), atol=1e-12)
    assert solver.solution.eigenvalues is values
    assert solver.solution.eigenvectors is modes
    # a call leaves the options as they are
    again = sm.skfem_solver(**made)(K, M)[0]
    np.testing.assert_allclose(solver(K, M)[0], again, rtol=1e-10)


def test_other_options_go_through():
    solver = sm.skfem_solver(k=2, tol=1e-5, certify=True)
    solver(K, M, max_steps=77)
    problem = solver.solution.problem
    assert (problem.tol, problem.certify, problem.max_steps) == (1e-5, True, 77)
    with pytest.raises(TypeError, match="colour"):
        sm.skfem_solver(colour="red")(K, M)
    with pytest.raises(ValueError, match=r"^k is 0"):
        sm.skfem_solver(k=0)(K, M)


def test_before_and_after():
    solver = sm.skfem_solver(k=2, sigma=1.5)
    assert solver.solution is None
    assert repr(solver) == "skfem_solver(k=2, sigma=1.5)"
    assert repr(sm.skfem_solver()) == "skfem_solver()"
    solver(K, M)
    first = solver.solution
    solver(K, M, k=1)
    assert solver.solution is not first
    assert solver.options == {"k": 2, "sigma": 1.5}
