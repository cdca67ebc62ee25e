"""
High degrees pay
================

The error of a smooth solution falls exponentially with the degree of the elements, but only with a
power of their size (:doc:`/poisson`).
"""

import matplotlib.pyplot as plt
import numpy as np

import groundswell as gs

ZERO = {side: {"kind": "fixed"} for side in ("west", "east", "south", "north", "bottom", "top")}


def exact(x, y, z):
    return np.exp(np.sin(3 * x)) * np.sin(np.pi * x) * np.sin(np.pi * y) * np.sin(np.pi * z)


def source(x, y, z):
    """Minus the Laplacian of the exact solution."""
    s, c = np.sin(np.pi * x), np.cos(np.pi * x)
    g, slope = np.exp(np.sin(3 * x)), 3 * np.cos(3 * x)
    along_x = g * (s * (slope**2 - 9 * np.sin(3 * x)) + 2 * np.pi * slope * c - np.pi**2 * s)
    return (2 * np.pi**2 * g * s - along_x) * np.sin(np.pi * y) * np.sin(np.pi * z)


def error(elements, degree):
    """Largest error at the nodes, and their number."""
    found = gs.poisson.solve(
        gs.poisson.Box((elements,) * 3), degree, source=source, boundaries=ZERO, tolerance=1e-13
    )
    nodes = (elements * degree + 1) ** 3
    return nodes, abs(found.values - exact(*np.moveaxis(found.positions, -1, 0))).max()


figure, axes = plt.subplots(figsize=(7, 4.5), layout="constrained")
by_degree = [error(2, degree) for degree in range(1, 13)]
axes.loglog(*zip(*by_degree, strict=True), "o-", label="2³ elements, degree 1 to 12")
for degree in (1, 2, 4):
    by_size = [error(elements, degree) for elements in (2, 3, 4, 6, 8) if elements * degree < 25]
    axes.loglog(*zip(*by_size, strict=True), "s--", label=f"degree {degree}, smaller elements")
axes.set(xlabel="nodes", ylabel="largest error")
axes.legend()
plt.show()
