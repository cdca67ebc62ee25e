"""What yields in a run: rock, soft soil or nothing."""

from __future__ import annotations

from groundswell.backends import Backend
from groundswell.grids.cartesian import Part
from groundswell.solvers.earthquake.materials import Materials
from groundswell.solvers.earthquake.plasticity.rank import RankPlasticity
from groundswell.solvers.earthquake.plasticity.rheology import Rheology
from groundswell.solvers.earthquake.plasticity.soil_rank import SoilYield
from groundswell.solvers.earthquake.setup import Setup


def build_rheology(setup: Setup, backend: Backend, part: Part, materials: Materials) -> Rheology:
    """Linear rock, or rock or soil that yields, in a part of the grid."""
    where = (backend, part, materials)
    if setup.plasticity is not None:
        return RankPlasticity(setup, setup.plasticity, *where)
    return Rheology() if setup.soil is None else SoilYield(setup, setup.soil, *where)
