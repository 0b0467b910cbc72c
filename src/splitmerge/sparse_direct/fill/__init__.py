"""Fill-reducing ordering, and prediction of the fill and the cost of a sparse factorisation."""
