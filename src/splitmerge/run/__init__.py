"""The iteration loop, stopping rules, history."""
