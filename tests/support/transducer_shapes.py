"""Transducers of every shape, in and around a cube of grid points."""

from __future__ import annotations

from math import asin, pi

from groundswell.solvers.ultrasound.transducers import (
    Arc,
    Bowl,
    Disc,
    Line,
    Point,
    Rectangle,
    Ring,
    Surface,
)

APEX, FOCUS = (4e-3, 5e-3, 6e-3), (10e-3, 2e-3, 26e-3)
CENTRE, TILTED = (12e-3, 12.2e-3, 12.1e-3), (0.3, -0.5, 0.8)


SHAPES: list[tuple[Surface, float]] = [  # and their exact areas or lengths
    (Point(APEX), 1.0),
    (Line((0, 0, 0), (3e-3, 4e-3, 0)), 5e-3),
    (Arc((0, 0, 0), 10e-3, 12e-3, (1, 2, 0)), 2 * 10e-3 * asin(0.6)),
    (Rectangle(APEX, 3e-3, 4e-3, TILTED, 30.0), 12e-6),
    (Disc(APEX, 8e-3, TILTED), 16e-6 * pi),
    (Bowl(APEX, 10e-3, 16e-3, FOCUS), 2 * pi * 10e-3 * 4e-3),
    (Bowl(APEX, 10e-3, 20e-3, FOCUS), 2 * pi * 1e-4),  # a hemisphere
    (Ring(APEX, 10e-3, 12e-3, 16e-3, FOCUS), 2 * pi * 10e-3 * 2e-3),
]


SURFACES = [shape for shape, _ in SHAPES if shape.dimension == 2]
