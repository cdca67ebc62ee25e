"""Recorders of faults, which solvers share."""
