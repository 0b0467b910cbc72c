"""One pair that is nearly exact, refined by Rayleigh–Ritz steps in double precision."""
