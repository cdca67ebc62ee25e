"""Branches: each combination of ruptures and ground motion, with a weight."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from groundswell.errors import InputError
from groundswell.seismology.hazard.case import (
    HazardCase,
    IntensitiesSection,
    RupturesSection,
    SitesSection,
)
from groundswell.seismology.hazard.exceedance import Exceedance
from groundswell.seismology.hazard.ground_motion import GroundMotionModel
from groundswell.seismology.hazard.intensities import Intensities
from groundswell.seismology.hazard.measures import Measure
from groundswell.seismology.hazard.nrml import Discretisation, read_nrml
from groundswell.seismology.hazard.ruptures import Ruptures
from groundswell.seismology.hazard.sites import Sites
from groundswell.seismology.hazard.tables import grid_sites, read_ruptures, read_sites


@dataclass(frozen=True, eq=False)
class Branch:
    """One combination of ruptures and their ground motion.

    Args:
        name: names of the two, joined.
        weight: weight among all branches.
        ruptures: the ruptures with their rates.
        motion: their ground motion at the sites, by measure.
        remarks: warnings of a ground-motion model.
    """

    name: str
    weight: float
    ruptures: Ruptures
    motion: Mapping[Measure, Exceedance]
    remarks: set[str] = field(default_factory=set)


def open_sites(case: HazardCase) -> Sites:
    """The sites of an analysis: those of a table, of a grid or of its simulations.

    Raises:
        InputError: the table cannot be read, or the simulations have no positions.
    """
    section = case.sites
    if section.file is not None:
        return read_sites(section.file, section.vs30)
    if section.points is not None:
        return _grid(section)
    first = next(each for each in case.intensities if each.file)
    assert first.file is not None
    return Intensities.open(first.file, first.component, first.rupture).sites(section.vs30)


def open_branches(case: HazardCase, sites: Sites) -> list[Branch]:
    """All combinations of `[[ruptures]]` and `[[intensities]]`; their weights add up to 1.

    Raises:
        InputError: files are missing or do not belong together.
    """
    total = sum(r.weight for r in case.ruptures) * sum(i.weight for i in case.intensities)
    found = []
    for section in case.ruptures:
        ruptures = _ruptures(section, sites)
        for motion in case.intensities:
            name = " / ".join([section.name] * (len(case.ruptures) > 1) + [motion.label])
            weight = section.weight * motion.weight / total
            found.append(Branch(name, weight, ruptures, *_motion(case, motion, ruptures, sites)))
    return found


def _grid(section: SitesSection) -> Sites:
    geographic = section.longitude is not None
    pair = (section.longitude, section.latitude) if geographic else (section.x, section.y)
    assert section.points and pair[0] and pair[1]
    axes = [np.linspace(*ends, n) for ends, n in zip(pair, section.points, strict=True) if ends]
    return grid_sites(*axes, is_geographic=geographic, vs30=section.vs30)


def _ruptures(section: RupturesSection, sites: Sites) -> Ruptures:
    if section.file.suffix.lower() == ".xml":
        steps = Discretisation(section.spacing, section.bin_width, section.area_spacing)
        return Ruptures(read_nrml(section.file, sites.frame, steps), section.file)
    given = section.model_fields_set & {"spacing", "bin_width", "area_spacing"}
    if given:
        raise InputError(f"{section.file}: {given.pop()} is for NRML files only; leave it out")
    return Ruptures(read_ruptures(section.file, sites.frame), section.file)


def _motion(
    case: HazardCase, section: IntensitiesSection, ruptures: Ruptures, sites: Sites
) -> tuple[Mapping[Measure, Exceedance], set[str]]:
    """The ground motion of a branch by measure, and remarks of its model."""
    measures = list(case.measures)
    if section.file is not None:
        data = Intensities.open(section.file, section.component, section.rupture)
        of = data.samples if section.distribution == "samples" else data.lognormal
        return {measure: of(measure, ruptures, sites) for measure in measures}, set()
    assert section.model is not None
    model = GroundMotionModel(
        section.model, section.parameters, section.truncation, section.maximum_distance
    )
    return model.lognormal(measures, ruptures, sites), model.remarks
