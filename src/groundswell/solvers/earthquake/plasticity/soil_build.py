"""The soft soil of a case; rejects fluids and faults in it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from groundswell.errors import InputError
from groundswell.seismology.case.plasticity import DruckerPragerSection
from groundswell.seismology.case.soil import IwanSection
from groundswell.seismology.faults.labels import fault_label
from groundswell.seismology.plasticity.initial_stress import Overburden
from groundswell.seismology.plasticity.soil import Soils
from groundswell.seismology.sources.point_sources import PointSource
from groundswell.solvers.earthquake.faults.model import Fault
from groundswell.solvers.earthquake.ground import Ground
from groundswell.solvers.earthquake.plasticity.moments import MomentCells
from groundswell.solvers.earthquake.plasticity.soil_layer import SoilLayer
from groundswell.solvers.earthquake.plasticity.soil_model import SoilModel


def build_soil(
    section: DruckerPragerSection | IwanSection | None,
    ground: Ground,
    sources: Sequence[PointSource],
    faults: Sequence[Fault],
) -> SoilModel | None:
    """The soft soil of a case; None if there is none.

    Raises:
        InputError: the soil is next to a fluid or a fault, or a curve cannot be used.
    """
    layer = ground.soil
    if layer is None or not isinstance(section, IwanSection):
        return None
    _require_no_fluid(ground)
    _require_deep(faults, layer)
    moments = MomentCells.of(sources, ground.grid, ground.periodic)
    soil = SoilModel(ground, Soils(section, _overburden(layer)), moments)
    _ = soil.estimates
    return soil


def _overburden(layer: SoilLayer) -> Overburden:
    """The weight of the soil, of the mean density of each row."""
    rows = range(layer.depth_rows)
    density = [float(np.mean(layer.medium.plane(k).rho)) for k in rows]
    edges = np.arange(layer.depth_rows + 1) * layer.grid.spacing[2]
    return Overburden(np.asarray(edges, float), np.array(density))


def _require_no_fluid(ground: Ground) -> None:
    if ground.phases is not None:
        raise InputError(
            'plasticity.model = "iwan" is not available with a fluid; leave the water out, or '
            "remove [plasticity]"
        )


def _require_deep(faults: Sequence[Fault], layer: SoilLayer) -> None:
    for n, fault in enumerate(faults):
        if fault.plane.box[0][2] <= layer.end + 1:
            top = (layer.end + 2 - layer.first[2]) * layer.grid.spacing[2]
            raise InputError(
                f"{fault_label(n, fault.name)} meets the soft soil of [plasticity]; move its "
                f"upper end to a depth of at least {top:g} m, or lower plasticity.depth"
            )
