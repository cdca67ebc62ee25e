"""What waves travel through: the part of a set-up that depends on the kind of its elements."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from groundswell.seismology.sources.point_sources import SourceContext
from groundswell.solvers.dgwave.boundaries.absorption import Absorption
from groundswell.solvers.dgwave.geometry import Geometry
from groundswell.solvers.dgwave.materials.anelastic import Materials


@dataclass(frozen=True, eq=False)
class Ground:
    """The elements of a run, what they contain and what absorbs waves at their boundaries.

    Args:
        context: what point sources depend on, for time functions with samples at a step (s).
    """

    geometry: Geometry
    materials: Materials
    absorption: Absorption
    context: Callable[[float], SourceContext]
