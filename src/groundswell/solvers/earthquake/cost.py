"""What a run costs: memory, traffic and the size of its results."""

from __future__ import annotations

from dataclasses import replace
from math import ceil, prod

import numpy as np

from groundswell.exchange.pattern import traffic
from groundswell.grids.cartesian import Grid, Layout, Part
from groundswell.seismology.intensity.maps import map_bytes, map_file_bytes
from groundswell.simulation.exchanging import part_of
from groundswell.simulation.material_classes import ClassSavings
from groundswell.simulation.solver import Cost, DecompositionSummary
from groundswell.solvers.earthquake.case import EarthquakeCase
from groundswell.solvers.earthquake.fault_cost import fault_files, fault_memory, fault_traffic
from groundswell.solvers.earthquake.field_bytes import (
    CLASS,
    SOIL_LOST,
    field_bytes,
    has_yielding_rock,
    soil_bytes_moved,
    soil_cell_bytes,
    stress_bytes,
    velocity_bytes,
    word,
    yield_bytes,
)
from groundswell.solvers.earthquake.halo import (
    decompose_grid,
    stress_halo,
    unrelaxed_halo,
    velocity_halo,
)
from groundswell.solvers.earthquake.matched_layers import Absorption
from groundswell.solvers.earthquake.material_count import count_materials
from groundswell.solvers.earthquake.plasticity.soil_block import SoilBlock
from groundswell.solvers.earthquake.plasticity.soil_model import SoilModel
from groundswell.solvers.earthquake.sampling import recorded
from groundswell.solvers.earthquake.setup import Setup
from groundswell.solvers.earthquake.strain_points import strain_bytes

# In an absorbing layer each update reads and writes three memory variables per axis.
LAYER_WORDS = 6


def estimate(setup: Setup) -> Cost:
    """The cost on one rank; an update is a step of a grid point, absorbing layers included."""
    moved = sum(bytes_moved(setup).values()) + fault_traffic(setup) / setup.grid.count
    memory = device_bytes(setup, Part.whole(setup.grid))
    return Cost(setup.grid.count, moved, memory, _output_bytes(setup))


def savings(setup: Setup) -> ClassSavings | None:
    """What classes of materials save on one rank; None if there are too many, or too many cells."""
    count = count_materials(setup.ground, setup.dtype)
    if count is None:
        return None
    costs = [estimate(_stored_in(setup, materials)) for materials in ("cells", "classes")]
    traffic = [cost.bytes_per_update for cost in costs]
    return ClassSavings(count, CLASS, [cost.memory for cost in costs], traffic)


def _stored_in(setup: Setup, materials: str) -> Setup:
    """The same set-up, with this value of `run.materials`."""
    run = setup.case.run.model_copy(update={"materials": materials})
    return replace(setup, case=setup.case.model_copy(update={"run": run}))


def decompose(setup: Setup, ranks: int) -> DecompositionSummary:
    """The decomposition into blocks, their memory, and the traffic of a step, bytes.

    Raises:
        InputError: the grid is too small for this number of ranks, or they would cut a fault.
    """
    decomposition = decompose_grid(setup, ranks)
    layers = [*velocity_halo(setup.ground.soil), *stress_halo(setup, decomposition)]
    layers += unrelaxed_halo() if setup.plasticity else []
    size = np.dtype(setup.dtype).itemsize
    parts = [part_of(setup.grid, decomposition, rank) for rank in range(ranks)]
    memory = [device_bytes(setup, part) for part in parts]
    sent = traffic(decomposition, [(ghosts, size) for _, ghosts in layers])
    return DecompositionSummary.of_blocks(decomposition, memory, sent)


def bytes_moved(setup: Setup) -> dict[str, float]:
    """Compulsory memory traffic per point of each update, averaged over the grid, bytes."""
    case, layers = setup.case, LAYER_WORDS * _layers_per_point(setup.absorption, setup.grid)
    bytes_of_layers = layers * word(case)
    return {
        "velocity": velocity_bytes(case) + bytes_of_layers,
        "stress": stress_bytes(case) + bytes_of_layers,
        **({"plasticity": yield_bytes(case)} if has_yielding_rock(case) else {}),
        **({"plasticity": _soil_moved(setup.soil, case)} if setup.soil else {}),
    }


def device_bytes(setup: Setup, part: Part) -> int:
    """Device memory of the rank that has `part` of the grid, bytes, to within a few per cent."""
    layout = Layout(part.cells, np.dtype(setup.dtype).itemsize)
    layers = LAYER_WORDS * _layers_per_point(setup.absorption, part) * prod(part.cells)
    cells = layout.size * field_bytes(setup.case) + round(layers) * layout.itemsize
    own = recorded(setup, part)
    rings = sum(samples.slots * own[name].size for name, samples in recorded(setup).items())
    records = setup.recording(part).device_bytes(setup.case.output.record)
    soil = soil_bytes(setup.soil, part, setup.case) if setup.soil else 0
    strains = strain_bytes(setup.green.points) if setup.green else 0
    maps = map_bytes(setup.case.output.intensity, _surface_points(part), layout.itemsize)
    recording = rings + records + strains + maps
    return cells + soil + recording + fault_memory(setup, part)


def _surface_points(part: Part) -> int:
    """Number of points of the maps of a part of the grid."""
    has_top = part.region_start[2] == 0 and all(part.region)
    return part.region[0] * part.region[1] * has_top


def soil_bytes(soil: SoilModel, part: Part, case: EarthquakeCase) -> int:
    """Device memory of the soft soil in a part of the grid, bytes."""
    where, (nx, ny, _) = SoilBlock.of(soil, part), part.cells
    cells = 0 if where.is_empty else prod(where.shape)
    fields = (soil.surfaces + SOIL_LOST) * word(case)
    thin = Layout((nx, ny, where.depth_rows), word(case)).size
    return cells * soil_cell_bytes(soil.soils.section, case) + thin * fields


def _soil_moved(soil: SoilModel, case: EarthquakeCase) -> float:
    """Bytes that yield of soil moves, averaged over the points of the grid."""
    share = prod(soil.layer.cells) / soil.layer.grid.count
    return share * soil_bytes_moved(soil.soils.section, case)


def _output_bytes(setup: Setup) -> int:
    """Size of all samples that the run writes, bytes."""
    records = setup.recording(Part.whole(setup.grid))
    samples = sum(ceil(setup.steps / s.every) * s.size for s in recorded(setup).values())
    output = setup.case.output
    whole = samples + records.file_bytes(output.record, setup.steps)
    points = _surface_points(Part.whole(setup.grid))
    whole += map_file_bytes(output.intensity, points, np.dtype(setup.dtype).itemsize)
    return whole + fault_files(setup) * bool(setup.faults)


def _layers_per_point(absorption: Absorption, of: Grid | Part) -> float:
    """Average number of matched layers that contain a point."""
    if not absorption.are_matched:
        return 0.0
    sides = zip(of.before, of.after, of.cells, strict=True)
    return sum((before + after) / n for before, after, n in sides)
