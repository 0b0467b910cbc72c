"""Fill-reducing ordering, and prediction of the fill and the cost of a sparse factorisation."""

from .ordering import graph_of, nested_dissection
from .prediction import Prediction, predict, predicted_fill

__all__ = ["Prediction", "graph_of", "nested_dissection", "predict", "predicted_fill"]
