"""Solves that die in the middle, and the checkpoints that they leave."""

import splitmerge as sm


class Died(Exception):
    """What ends a solve without a result."""


def count_of(solution):
    """What an iteration cost: products with A, or solves with A − σB where those take their place."""
    counts = solution.counts
    return counts.K_solves or counts.A_products


def left_behind(path, A, B, share=0.6, **options):
    """The whole solve, and the checkpoint of one that died after that share of its states, each of which it wrote."""
    whole, states = sm.solve(A, B, rng=0, callback=lambda _: None, **options), 0

    def die(_):
        nonlocal states
        states += 1
        if states >= share * len(whole.history):
            raise Died

    try:
        sm.solve(A, B, rng=0, callback=die, checkpoint=sm.Checkpoint(path, 0), **options)
    except Died:
        return whole, sm.load(path)
    raise AssertionError("it did not die")
