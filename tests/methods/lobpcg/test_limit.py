"""The limit of products of a LOBPCG search, each of whose steps takes one for every vector of its block."""

import math

import numpy as np
import pytest

from pairs import grid
from splitmerge.methods.lobpcg.iteration import Lobpcg
from splitmerge.methods.setup import Setup
from splitmerge.problem.pencil import Pencil
from splitmerge.problem.products import Products
from splitmerge.problem.start import random_vector
from splitmerge.problem.target import Target


@pytest.mark.parametrize("block", [1, 4, 9])
@pytest.mark.parametrize("limit", [18, 36])
def test_a_search_ends_at_its_limit(block, limit):
    """Whatever the block, as many products are made as are allowed, and those of one more step at most."""
    products, rng = Products(Pencil(grid(30), None)), np.random.default_rng(0)
    search = Lobpcg(Setup(products, Target.LARGEST, 1, rng, max_products=limit), block)
    search.launch(random_vector(products, rng)[:, None])
    begun = products.counts.A_products
    while not search.exhausted:
        search.advance()
        assert search.steps <= limit
    assert search.steps == math.ceil(limit / block)
    assert products.counts.A_products - begun <= limit + block
