"""Problems with known answers that solvers share: sections of their cases, and their misfits.

A solver adds its grid, boundaries and tolerances.
"""
