"""Hostile files: damaged, lying and oversized ones, each of which must end in an answer or in one sentence."""
