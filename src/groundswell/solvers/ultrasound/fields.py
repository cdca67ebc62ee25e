"""The fields of the k-space scheme, and what both kinds of steps share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from groundswell.backends import Array, Launch
from groundswell.solvers.ultrasound.point_source import PointSource

AXES = "xyz"
TO_VELOCITY, TO_PRESSURE = 1, -1  # shifts of derivatives, in half cells
Inject = Callable[[str, PointSource, Array], Launch]  # see `Injection`


@dataclass(frozen=True)
class Fields:
    """Fields of a step: pressure p, and velocity u and density rho along each axis."""

    p: Array
    u: Sequence[Array]
    rho: Sequence[Array]
