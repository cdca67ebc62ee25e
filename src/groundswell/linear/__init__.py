"""Solvers for systems of linear equations on any number of ranks, and their building blocks."""
