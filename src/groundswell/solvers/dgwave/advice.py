"""Advice on `[grid]` and `[refinement]` of cases on bricks, for `groundswell check`."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from groundswell.arrays import Integers, Mask, Reals
from groundswell.seismology.media.profile import Profile, find_profile
from groundswell.seismology.survey import Survey
from groundswell.solvers.dgwave.geometry.bricks import BrickGeometry
from groundswell.solvers.dgwave.materials.anelastic import Materials
from groundswell.solvers.dgwave.materials.brick_media import BrickMedia
from groundswell.solvers.dgwave.materials.elements import ElementMaterials, ElementMedium
from groundswell.solvers.dgwave.mesh.case import (
    MAX_LEVELS,
    POINTS_PER_WAVELENGTH,
    RefinementSection,
)

ROUNDING = 1e-9  # relative, of edges
ROUNDED_UP = 1.005  # so that three digits are no less than the value
SHALLOW = 0.1  # depth of a source in water over the height of its element, see `shallow_sources`


def shallow_sources(elements: ElementMaterials, survey: Survey) -> Iterator[str]:
    """Sources of pressure in water whose image at the free surface is not resolved.

    The image cancels most of the direct wave, so errors are large relative to the rest.

    Args:
        elements: the material of elements below a free surface.
    """
    geometry = elements.geometry
    if not isinstance(geometry, BrickGeometry):
        return
    if not (found := [*_in_high_elements(geometry, elements, survey)]):
        return
    depth, height, n = min(found)
    if not depth:
        yield (
            f"source[{n}] lies on the free surface of the water, where the pressure is always 0; "
            "move it down"
        )
        return
    others = f"; this concerns {len(found)} sources" * (len(found) > 1)
    yield (
        f"source[{n}] lies in water {depth:.4g} m below the free surface, but its element is "
        f"{height:.4g} m high, so waves near the source are inaccurate; use elements that are at "
        f"most {depth / SHALLOW / ROUNDED_UP:.3g} m high at the surface{others}"
    )


def _in_high_elements(
    geometry: BrickGeometry, elements: ElementMaterials, survey: Survey
) -> Iterator[tuple[float, float, int]]:
    """Yield the depth, the height of the element, m, and the number of shallow sources in water."""
    for n, entry in enumerate(survey.entries):
        points = np.array([p.position for p in entry.points if p.moment is not None])
        if not len(points):
            continue
        lower, upper = geometry.forest.boxes(geometry.locate(points)[0])
        heights, depths = (upper - lower)[:, 2], points[:, 2]
        is_high = depths < SHALLOW * heights * (1 - ROUNDING)
        near = np.flatnonzero(is_high & (elements.rigidity(*points.T) == 0))
        if near.size:
            k = near[depths[near].argmin()]
            yield float(depths[k]), float(heights[k]), n


def aligned(medium: ElementMedium) -> str:
    """Advice on elements that contain fluid and solid: edges along depth, if the medium is flat."""
    cure = "Let elements end at the sea floor, or use smaller ones there"
    if not isinstance(medium, BrickMedia):
        return cure
    grid, profile = medium.geometry.grid, find_profile(medium.media[0])
    spacing, bottom = grid.spacing[2], grid.size[2]
    if profile is None or isinstance(spacing, tuple):
        return cure
    depths = profile.interfaces[(profile.interfaces > 0) & (profile.interfaces < bottom)]
    cuts = [0.0, *depths[_changes_phase(profile, depths, bottom)].tolist(), bottom]
    runs = []
    for top, end in pairwise(cuts):
        count = max(1, round((end - top) / spacing))
        runs.append(f"{count} of {(end - top) / count:.12g} m down to {end:.12g} m")
    return f"{cure}: give the edges along depth as a list in grid.spacing, {', '.join(runs)}"


def _changes_phase(profile: Profile, depths: Reals, bottom: float) -> Mask:
    """At which of ascending `depths` of interfaces the medium changes between fluid and solid."""
    edges = np.concatenate([[0.0], depths, [bottom]])
    fluid = profile.sample((edges[1:] + edges[:-1]) / 2).vs == 0
    return np.asarray(fluid[1:] != fluid[:-1])


def finer_refinement(
    section: RefinementSection, levels: NDArray[np.int8], materials: Materials, emitted: float
) -> str:
    """Changes to `[refinement]`, and to `[grid]` if need be, that resolve the sources.

    Args:
        levels: number of times that each element was halved, (elements,).
        emitted: the highest frequency of the sources, Hz.
    """
    ratios = emitted / materials.resolved_frequencies
    halvings = np.ceil(np.log2(ratios)).clip(min=0)
    most = int((levels + halvings).max())
    per_point, given = emitted * POINTS_PER_WAVELENGTH, section.frequency or 0.0
    frequency = per_point / section.points * _speed_ratio(materials, np.flatnonzero(halvings))
    if most <= section.levels:  # then the frequency is too low
        frequency = max(frequency, given * float(ratios.max()))
    changes = []
    if frequency > given:
        changes.append(f"raise refinement.frequency to {frequency * ROUNDED_UP:.3g} Hz")
    if most > section.levels:
        changes.append(f"raise refinement.levels to {min(most, MAX_LEVELS)}")
    if most > MAX_LEVELS:
        changes.append(f"divide grid.spacing by {2 ** (most - MAX_LEVELS)}")
    return " and ".join(changes)


def _speed_ratio(materials: Materials, elements: Integers) -> float:
    """Largest speed of the slowest wave in the average material over that at the nodes, at least 1.

    `[refinement]` divides elements by their average material.
    """
    average = materials.elements.average(elements)
    at_nodes = materials.statistics.slowest[elements]
    slowest = np.where(average.vs > 0, average.vs, average.vp)
    return float((slowest / at_nodes).max(initial=1.0))
