"""Construction of the medium of a case."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, cast

from groundswell.arrays import Reals
from groundswell.exchange.communicator import Communicator
from groundswell.grids.axis import Spacings
from groundswell.grids.geography import Geography
from groundswell.seismology.case.media import (
    AwpSection,
    HomogeneousSection,
    LayeredSection,
    MediumSection,
)
from groundswell.seismology.case.model_files import GriddedBase, GriddedSection
from groundswell.seismology.media.cellwise import ArrayMedium, AwpMedium
from groundswell.seismology.media.floor import Floor
from groundswell.seismology.media.gridded import GriddedMedium, build_gridded
from groundswell.seismology.media.layer_files import is_profile, read_layers
from groundswell.seismology.media.layered import Layer, Layered
from groundswell.seismology.media.material import PROPERTIES, Counts, Medium, SampledMedium
from groundswell.seismology.media.models import open_model
from groundswell.seismology.media.rules import Rules

ONE_CELL, UNIT_EDGES = (1, 1, 1), (1.0, 1.0, 1.0)


def build_medium(
    section: MediumSection,
    cells: Counts,
    spacing: Spacings,
    geography: Geography | None = None,
    comm: Communicator | None = None,
) -> Medium:
    """Build the medium of a case on a grid; see `build_media`.

    Args:
        cells: cells of the region (nx, ny, nz).
        spacing: edges of the cells along x, y and z, m.
    """
    return build_media(section, [(cells, spacing)], geography, comm)[0]


def build_media(
    section: MediumSection,
    grids: Iterable[tuple[Counts, Spacings]],
    geography: Geography | None = None,
    comm: Communicator | None = None,
) -> list[Medium]:
    """Build the medium of a case, with its lower bounds, on grids of the same region.

    All ranks must call this. The file of a model is read once for all grids.

    Args:
        section: the `[medium]` section.
        grids: cells of the region (nx, ny, nz), and their edges along x, y and z, m.
        geography: position of the region on Earth, for models on longitude and latitude.

    Raises:
        InputError: the data are unreadable, incomplete or do not cover the region.
    """
    if not isinstance(section, GriddedBase):
        return [_bounded(_build(section, *grid), section) for grid in grids]
    model = open_model(section, comm)
    return [_bounded(build_gridded(model, *grid, geography), section) for grid in grids]


def build_sampled(
    section: HomogeneousSection | LayeredSection | GriddedSection,
    points: Reals,
    geography: Geography | None = None,
    comm: Communicator | None = None,
) -> SampledMedium:
    """Build a medium without cells, to be sampled at points; all ranks must call this.

    Args:
        section: the medium.
        points: positions x, y, depth that a model from a file must cover, (n, 3), m.
        geography: position of x and y on Earth, for models on longitude and latitude.

    Raises:
        InputError: the data are unreadable, incomplete or do not cover the points.
    """
    if not isinstance(section, GriddedBase):
        return cast(SampledMedium, build_medium(section, ONE_CELL, UNIT_EDGES))
    rock = open_model(section, comm)
    model = GriddedMedium(rock, ONE_CELL, UNIT_EDGES, geography, clip=True)
    model.require_covered(points)
    return cast(SampledMedium, _bounded(model, section))


def _bounded(medium: Medium, section: MediumSection) -> Medium:
    bounds = section.floor.model_dump(exclude_none=True) if section.floor else {}
    return Floor(medium, **bounds) if bounds else medium


def _build(section: MediumSection, cells: Counts, spacing: Spacings) -> Medium:
    match section:
        case HomogeneousSection():
            properties = {name: getattr(section, name) for name in PROPERTIES}
            return Layered(cells, spacing, [Layer(0.0, **properties)])
        case LayeredSection():
            return _build_layers(section, cells, spacing)
        case AwpSection(file=file, variables=count):
            return AwpMedium(file, cells, spacing, variables=count, q_rule=section.q_rule)
        case _:
            return ArrayMedium(spacing, **{name: getattr(section, name) for name in PROPERTIES})


def _build_layers(section: LayeredSection, cells: Counts, spacing: Spacings) -> Layered:
    if section.file is None:
        return Layered(cells, spacing, section.layers or (), section.interpolation or "constant")
    by_default: Literal["linear", "constant"] = "linear" if is_profile(section.file) else "constant"
    layers = read_layers(section.file, Rules(section.vs_rule, section.rho_rule, section.q_rule))
    return Layered(cells, spacing, layers, section.interpolation or by_default, str(section.file))
