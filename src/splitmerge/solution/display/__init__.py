"""How a solution is shown: text, HTML, plots, a data frame."""
