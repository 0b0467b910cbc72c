"""Dense kernels, reductions, factorisations and the Lanczos process."""
