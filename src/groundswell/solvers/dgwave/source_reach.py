"""How far loads of point sources reach, and receivers within their reach."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from groundswell.seismology.sources.point_sources import PointSource
from groundswell.seismology.survey import Survey
from groundswell.solvers.dgwave.materials.elements import ElementMaterials

# Radius of the window in edges of an element, up to the degree WIDEST; less for higher degrees.
# Stresses of a moment are more singular than what a force or a pressure excites.
RADIUS = {"moment": 1.25, "other": 1.0}
WIDEST = 5  # degree


def excites_stress(elements: ElementMaterials, source: PointSource) -> bool:
    """Whether a source is a moment in a solid."""
    return source.moment is not None and elements.rigidity(*source.position) > 0


def reach(elements: ElementMaterials, source: PointSource) -> float:
    """Radius of a source's window in edges of its element."""
    radius = RADIUS["moment" if excites_stress(elements, source) else "other"]
    return radius * min(1.0, WIDEST / elements.geometry.degree)


def reach_warnings(elements: ElementMaterials, survey: Survey) -> Iterator[str]:
    """Receivers so near to a source that they record motion of its load."""
    if not (survey.receivers and survey.sources):
        return
    geometry, sources = elements.geometry, survey.sources
    points = np.array([source.position for source in sources])
    edges = np.asarray(geometry.longest)[geometry.locate(points)[0]]
    radii = np.array([reach(elements, source) for source in sources])
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
