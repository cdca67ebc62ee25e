"""How far loads of point sources reach, and receivers within their reach."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from groundswell.seismology.sources.point_sources import PointSource
    from groundswell.solvers.dgwave.setup import Setup

# Radius of the window in edges of an element, up to the degree WIDEST; less for higher degrees.
# Stresses of a moment are more singular than what a force or a pressure excites.
RADIUS = {"moment": 1.25, "other": 1.0}
WIDEST = 5  # degree


def excites_stress(setup: Setup, source: PointSource) -> bool:
    """Whether a source is a moment in a solid."""
    return source.moment is not None and setup.rigidity(*source.position) > 0


def reach(setup: Setup, source: PointSource) -> float:
    """Radius of a source's window in edges of its element."""
    radius = RADIUS["moment" if excites_stress(setup, source) else "other"]
    return radius * min(1.0, WIDEST / setup.degree)


def reach_warnings(setup: Setup) -> Iterator[str]:
    """Receivers so near to a source that they record motion of its load."""
    if not (setup.receivers and setup.sources):
        return
    points = np.array([source.position for source in setup.sources])
    edges = np.asarray(setup.longest)[setup.locate(points)[0]]
    radii = np.array([reach(setup, source) for source in setup.sources])
    places, near = setup.place(points), []
    for receiver in setup.receivers:
        offsets = places - setup.place(np.array([receiver.position]))
        distances = np.linalg.norm(offsets, axis=1) / edges
        n = int(np.argmin(distances / radii))
        if distances[n] < radii[n]:
            near.append((receiver.name, float(distances[n]), float(radii[n])))
    if near:
        name, distance, radius = min(near, key=lambda found: found[1] / found[2])
        others = f"; this concerns {len(near)} receivers" * (len(near) > 1)
        yield (
            f"receiver {name} is {distance:.3g} edges of an element from a source, whose load "
            f"reaches {radius:.3g} edges, so the motion there is inaccurate, see the guide; use "
            f"smaller elements, or read it as the motion of a source with this extent{others}"
        )
