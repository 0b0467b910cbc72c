"""LOBPCG (Knyazev 2001)."""
