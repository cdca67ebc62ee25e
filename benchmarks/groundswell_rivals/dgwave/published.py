"""Averages that the paper states in its text, for 32,768 elements of 512 nodes on a Tesla V100.

Hanindhito et al., GAPS: GPU-acceleration of PDE solvers for wave simulation, ICS 2022,
doi:10.1145/3524059.3532373. Its figures show no numbers.
"""

from __future__ import annotations

# Speed over 40 cores of two POWER9 (section 8.1), by version.
OVER_CPU = {"base": 45.67, "f1": 69.30, "f1s": 84.15}

# Speed of the fastest version over the base version (abstract).
OVER_BASE = {"base": 1.0, "f1s": 1.84}

# Speed of elements of 512 nodes over those of 64 (section 8.3).
OVER_64 = 1.12

# Fraction of the exchange time that sending only variables and materials saves on average (section
# 10), and fraction of the remaining time that asynchronous progress saves (section 8.5).
SAVED, SAVED_BY_PROGRESS = 0.7027, 0.5674
