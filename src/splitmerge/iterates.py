"""The iterates of a method as a generator: `iterates(A, B)`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .checks import instance
from .methods.krylov.accelerated import Accelerated
from .methods.protocol import Method
from .methods.setup import Setup
from .methods.survey import survey
from .objective.state import State
from .preparation.solver import attached
from .problem.pencil import Pencil
from .problem.products import Products, shifted
from .problem.start import columns, generator, random_vector
from .problem.target import Target
from .run.loop import march
from .transforms import standard
from .typing import Array


def iterates(
    A: Any, B: Any = None, *, method: Method | None = None, x0: Any = None, rng: Any = None
) -> Iterator[State]:
    """Yield the start and then one state a step, for the leading pair, until the caller has seen enough.

    A may also be a `Pencil`, whose counts can then be watched; its A must be positive semidefinite as it is. Otherwise
    the arguments are those of `solve`, and the pair is scaled and shifted if need be: `state.vector` is x in the user's
    coordinates. `x0` is taken as it is.

    >>> import numpy as np, splitmerge as sm
    >>> states = sm.iterates(np.diag([3.0, 2.0, 1.0]), method=sm.Power(), x0=np.ones(3))
    >>> [round(next(states).eigenvalue, 3) for _ in range(4)]
    [2.0, 2.571, 2.816, 2.917]
    """
    method = Accelerated() if method is None else method
    instance(method, "method", Method, "an object such as SplitMerge() or Power()")
    pencil = A if isinstance(A, Pencil) else Pencil(A, B, equilibrate=True)
    rng = generator(rng)
    x = random_vector(pencil, rng) if x0 is None else columns(x0, "x0", pencil)[:, 0]
    products = pencil.products
    if method.solves:
        products = products.solving(attached(products.setup, method.inner)[1])
        if pencil is not A:
            products = shifted(products, survey(products.setup, rng).shift)
    return states(method, products, x, rng)


def states(method: Method, products: Products, x: Array, rng: np.random.Generator) -> Iterator[State]:
    """The states of a method from x; its set-up is made at once, its first state when it is asked for."""
    if method.subspace:
        preconditioner = getattr(method, "preconditioner", None)
        P = None if preconditioner is None else preconditioner.prepare(products.setup)
        setup = Setup(products, Target.LARGEST, 1, rng, method=method, transform=standard(products), given=True, P=P)
        return _states_of(method, setup, x)
    return stepped(method, products, x, method.setup(products.setup, rng))


def stepped(method: Method, products: Products, x: Array, memory: Any) -> Iterator[State]:
    """The states of a method that only steps."""
    yield from march(method, method.first(products, x, memory))


def _states_of(method: Method, setup: Setup, x: Array) -> Iterator[State]:
    iteration = method.bind(setup)
    first = iteration.start(x[:, None])
    assert isinstance(first, State)
    yield from march(iteration, first)
