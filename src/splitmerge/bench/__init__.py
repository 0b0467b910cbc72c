"""Benchmarks: competing methods, test cases, measurements, reports, and the reproduction of the paper's evaluation."""
