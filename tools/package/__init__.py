"""The wheel and the sdist: built, looked into, installed into an empty environment, and the README executed there."""
