"""The source of the kernels of a step: their constants and parameters."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from groundswell.backends import Cells, Constant, Exact, Parameter, Source
from groundswell.backends.source import precision
from groundswell.grids.cartesian import Layout, Part
from groundswell.solvers.earthquake.absorbing_layers import AbsorbingLayers
from groundswell.solvers.earthquake.interpolation import SHEAR_REACH, surface_weights
from groundswell.solvers.earthquake.materials import Materials
from groundswell.solvers.earthquake.plasticity.tiles import TILE
from groundswell.solvers.earthquake.setup import Setup

KERNELS = Path(__file__).parent / "kernels"
BAND_BYTES = 100_000  # of a plane of a field in a band; see bands.h


def step_source(
    setup: Setup,
    part: Part,
    layout: Layout,
    materials: Materials,
    layers: AbsorbingLayers,
    *,
    peaks: bool = False,
) -> Source:
    """The kernels for a part of the grid.

    Args:
        peaks: whether the update of stresses keeps the peaks of tiles; see kernels/tile_peaks.h.
    """
    ground, has_surface = setup.ground, setup.ground.free_surface and part.start[2] == 0
    constants: dict[str, Constant] = {
        **common_constants(setup, part, materials),
        **layers.constants(),
        "CORRECTED_ROWS": materials.are_corrected,
        "HALF_MEMORY": setup.has_half_memory,
        "WET_SURFACE": has_surface and ground.phases is not None,
        "SHEAR_REACH": SHEAR_REACH,
        "ABOVE": float(surface_weights(ground.free_surface)[0]),
        "BAND_BYTES": BAND_BYTES,
        "PEAKS": peaks,
        "TILE": TILE,
    }
    parameters = {**layout.parameters(), **layers.parameters(), **differences(part)}
    parameters |= {"DT": setup.dt, "DT_EXACT": Exact(setup.dt)}
    if setup.has_half_memory:
        parameters["MEMORY_UNIT"] = setup.memory_unit
    generic = layout.is_short_run(setup.steps)
    return Source(KERNELS / "step.h", constants, parameters, generic=generic)


def common_constants(setup: Setup, part: Part, materials: Materials) -> dict[str, Constant]:
    """Constants of all kernels that read the materials of a part of the grid."""
    return {
        **precision(setup.dtype),
        "ATTENUATION": setup.ground.relaxation is not None,
        "CLASSES": materials.record > 0,
        "MODULI": materials.record,
        "FREE_SURFACE": setup.ground.free_surface and part.start[2] == 0,
    }


def cells_in_bands(shape: Sequence[int], itemsize: int) -> Cells:
    """The cells of a box (nz, ny, nx), in bands of equally many rows of about BAND_BYTES."""
    nz, ny, nx = shape
    bands = max(1, round(nx * ny * itemsize / BAND_BYTES))
    return Cells(nx, ny, nz, band=-(-ny // bands))


def differences(part: Part) -> dict[str, Parameter]:
    """Spacing, weights of the differences and extent of the region along each axis."""
    found: dict[str, Parameter] = {}
    for axis, name in enumerate("XYZ"):
        h = part.grid.spacing[axis]
        found |= {
            f"H{name}": h,
            f"NEAR_{name}": 9 / 8 / h,
            f"FAR_{name}": 1 / 24 / h,
            f"REGION_{name}": part.region[axis],
            f"REGION_START_{name}": part.before[axis],
        }
    return found
