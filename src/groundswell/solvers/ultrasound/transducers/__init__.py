"""Transducers: surfaces at any position on or between grid points, and their signals."""

from __future__ import annotations

from groundswell.solvers.ultrasound.transducers.arrays import PhasedArray, focus_delays
from groundswell.solvers.ultrasound.transducers.curved import AnnularArray, Arc, Bowl, Ring
from groundswell.solvers.ultrasound.transducers.flat import Disc, Line, Point, Rectangle
from groundswell.solvers.ultrasound.transducers.interpolation import (
    GridWeights,
    PointGrid,
    interpolate,
    interpolation_matrix,
)
from groundswell.solvers.ultrasound.transducers.signals import (
    ContinuousWave,
    SampledSignal,
    Signal,
    ToneBurst,
    element_signals,
)
from groundswell.solvers.ultrasound.transducers.surface import Samples, Surface

__all__ = [
    "AnnularArray",
    "Arc",
    "Bowl",
    "ContinuousWave",
    "Disc",
    "GridWeights",
    "Line",
    "PhasedArray",
    "Point",
    "PointGrid",
    "Rectangle",
    "Ring",
    "SampledSignal",
    "Samples",
    "Signal",
    "Surface",
    "ToneBurst",
    "element_signals",
    "focus_delays",
    "interpolate",
    "interpolation_matrix",
]
