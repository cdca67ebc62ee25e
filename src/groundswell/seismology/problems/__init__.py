"""Verification problems shared by solvers: sections of their cases, and their misfits.

Each solver adds its grid, boundaries and tolerances.
"""
