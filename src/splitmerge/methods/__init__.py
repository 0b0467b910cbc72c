"""The methods of the paper, one file each."""

from .base import Method
from .gradient_descent import GradientDescent
from .lanczos import Lanczos
from .mirror_descent import MirrorDescent
from .power import Power
from .split_merge import SplitMerge

__all__ = ["GradientDescent", "Lanczos", "Method", "MirrorDescent", "Power", "SplitMerge"]
