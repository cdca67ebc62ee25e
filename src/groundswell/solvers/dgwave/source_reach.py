"""How far loads of point sources reach, and receivers within their reach."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from groundswell.arrays import Floats, Mask
from groundswell.meshes.hexahedra import AXES
from groundswell.seismology.sources.point_sources import PointSource
from groundswell.seismology.survey import Survey
from groundswell.solvers.dgwave.materials.elements import ElementMaterials

# Radius of the window in edges of an element, up to the degree WIDEST; less for higher degrees.
# Stresses of a moment are more singular than what a force or a pressure excites.
RADIUS = {"moment": 1.25, "other": 1.0}
WIDEST = 5  # degree


def positions_of(sources: Sequence[PointSource]) -> Floats:
    """Positions x, y, depth of sources, (sources, 3), m."""
    return np.array([source.position for source in sources]).reshape(-1, AXES)


def excite_stress(elements: ElementMaterials, sources: Sequence[PointSource]) -> Mask:
    """Which sources are moments in a solid, (sources,)."""
    found = np.array([source.moment is not None for source in sources], bool)
    if found.any():
        found[found] = elements.rigidity(*positions_of(sources)[found].T) > 0
    return found


def reach(excites_stress: bool, degree: int) -> float:
    """Radius of a source's window in edges of its element."""
    return RADIUS["moment" if excites_stress else "other"] * min(1.0, WIDEST / degree)


def reach_warnings(elements: ElementMaterials, survey: Survey) -> Iterator[str]:
    """Receivers so near to a source that they record motion of its load."""
    if not (survey.receivers and survey.sources):
        return
    geometry, sources = elements.geometry, survey.sources
    points = positions_of(sources)
    edges = np.asarray(geometry.longest)[geometry.locate(points)[0]]
    excited = excite_stress(elements, sources)
    radii = np.array([reach(stress, geometry.degree) for stress in excited])
    places, near = geometry.place(points), []
    for receiver in survey.receivers:
        offsets = places - geometry.place(np.array([receiver.position]))
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
