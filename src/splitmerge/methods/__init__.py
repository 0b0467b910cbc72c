"""The methods of the paper, one file each."""

from .first_order.gradient_descent import GradientDescent
from .first_order.mirror_descent import MirrorDescent
from .first_order.power import Power
from .first_order.split_merge import SplitMerge
from .krylov.lanczos import Lanczos
from .protocol import Method

__all__ = ["GradientDescent", "Lanczos", "Method", "MirrorDescent", "Power", "SplitMerge"]
