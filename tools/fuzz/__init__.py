"""Adversarial campaign: random problems, disguises and requests, judged by an independent dense reference."""
