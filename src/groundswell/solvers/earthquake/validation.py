"""Validation of a case against its grid, time step and data, before the run starts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from groundswell.arrays import Floats, Mask
from groundswell.errors import InputError
from groundswell.grids.cartesian import Layout
from groundswell.seismology.sources import placement
from groundswell.seismology.sources.entries import SourceEntry
from groundswell.solvers.earthquake import moduli
from groundswell.solvers.earthquake.faults.model import Fault
from groundswell.solvers.earthquake.ground import Ground

MAX_BYTES = 10e12  # no device has more memory


def require_feasible_size(layout: Layout, cell_bytes: int) -> None:
    """Check that the fields of the grid fit on a device, before the medium is read.

    Args:
        cell_bytes: bytes of all fields in a cell.

    Raises:
        InputError: the fields take more than MAX_BYTES.
    """
    needed = layout.size * cell_bytes
    if needed > MAX_BYTES:
        raise InputError(
            f"the grid of {' x '.join(map(str, layout.cells))} cells takes {needed / 1e12:.3g} TB "
            f"of memory ({needed} bytes), and at most {MAX_BYTES / 1e12:g} TB are allowed; choose "
            "a larger grid.spacing, or a smaller grid.size"
        )


def require_no_faults(faults: Sequence[Fault]) -> None:
    """Check that memory variables in 16 bits are not beside faults, which change them by little.

    Raises:
        InputError: there is a fault.
    """
    if faults:
        raise InputError(
            'run.memory = "half" is not available with a [[fault]]; use run.memory = "full"'
        )


def require_shear_in_solids(entries: Sequence[SourceEntry], ground: Ground) -> None:
    """Check that moments of sources in fluids are isotropic.

    Raises:
        InputError: a source in a fluid has a moment that is not isotropic.
    """
    phases = ground.phases
    if phases is None:
        return
    rigidity = moduli.rigidity(ground.medium)

    def are_in_fluid(places: Floats) -> Mask:
        fluid = np.asarray(rigidity(*places.T)) == 0  # of the cells that contain the places
        fluid[fluid] = [not phases.is_solid((x, y, z)) for x, y, z in places[fluid].tolist()]
        return fluid

    placement.require_shear_in_solids(entries, are_in_fluid)
