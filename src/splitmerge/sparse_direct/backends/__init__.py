"""One module for each library that factorises sparse matrices."""
