"""The ground of a case on a grid of bricks."""

from __future__ import annotations

from groundswell.exchange.communicator import Communicator
from groundswell.seismology.case.media import HomogeneousSection
from groundswell.seismology.sources.point_sources import SourceContext
from groundswell.solvers.dgwave.boundaries.layer_absorption import LayerAbsorption
from groundswell.solvers.dgwave.boundaries.layers import build_grid
from groundswell.solvers.dgwave.case import DgWaveCase
from groundswell.solvers.dgwave.geometry.bricks import build_bricks
from groundswell.solvers.dgwave.materials.anelastic import read_materials
from groundswell.solvers.dgwave.materials.brick_media import BrickMedia, build_media
from groundswell.solvers.dgwave.materials.case import CellwiseSection
from groundswell.solvers.dgwave.materials.elements import ElementMaterials
from groundswell.solvers.dgwave.materials.properties import needed
from groundswell.solvers.dgwave.mesh.forest import require_memory
from groundswell.solvers.dgwave.setup.record import WaveDomain


def on_bricks(case: DgWaveCase, comm: Communicator | None = None) -> WaveDomain:
    """Read the ground of a case on a grid; ranks share the reading of the medium.

    Raises:
        InputError: the data do not fit the case.
    """
    grid = build_grid(case)
    require_memory(case, grid)
    media = build_media(case, grid, comm)
    geometry = build_bricks(case, grid, media, comm)
    varies = not isinstance(case.medium, CellwiseSection | HomogeneousSection)
    medium = BrickMedia(geometry, media, needed(case.attenuation.model), varies)
    elements = ElementMaterials(geometry, medium, is_nodal=case.method.material == "node")
    materials = read_materials(case, elements, comm)
    absorption = LayerAbsorption(geometry, materials, case.time.duration)

    def context(step: float) -> SourceContext:
        return SourceContext(
            case.grid.frame,
            step,
            case.time.duration,
            grid.spacing,
            rigidity=elements.rigidity,
            lame=elements.lame,
            density=elements.density,
        )

    return WaveDomain(geometry, materials, absorption, context)
