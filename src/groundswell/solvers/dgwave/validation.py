"""Checks of a prepared case that find invalid input."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from groundswell.errors import InputError, listed
from groundswell.seismology.sources import placement
from groundswell.seismology.sources.placement import refuse_misplaced

if TYPE_CHECKING:
    from groundswell.solvers.dgwave.setup import Setup

DEPTH_ROUNDING = 1e-3  # m
LEAST_UPWIND = 0.5  # weight of the Riemann flux, see `require_dissipation`
FLUXES = {0.0: "central", 1.0: "Riemann"}


def require_above_the_bottom(setup: Setup) -> None:
    """Check that sources and receivers lie above the bottom, which is less deep below valleys.

    Raises:
        InputError: sources or receivers lie below the region; lists them.
    """
    if setup.surface is None:
        return
    places = [(f"receiver {r.name}", r.position) for r in setup.receivers]
    for n, entry in enumerate(setup.source_entries):
        places += [(f"source[{n}]", point.position) for point in entry.points]
    if not places:
        return
    points = np.array([place for _, place in places])
    depth, floor = points[:, 2], setup.bottom(points)
    refuse_misplaced(
        (
            places[n][0],
            f"lies below the region, which is {floor[n]:g} m deep there, at a depth of "
            f"{depth[n]:g} m; move it, or enlarge grid.size",
        )
        for n in np.flatnonzero(depth > floor + DEPTH_ROUNDING)
    )


def require_shear_in_solids(setup: Setup) -> None:
    """Check that moments of sources in fluids are isotropic.

    Raises:
        InputError: a source in a fluid has a moment that is not isotropic.
    """
    placement.require_shear_in_solids(
        setup.source_entries, lambda places: setup.rigidity(*places.T) == 0
    )


def require_dissipation(setup: Setup) -> None:
    """Check that the flux dissipates enough for matched layers beside halved elements.

    With the central flux, waves in soft ground grow exponentially there.

    Raises:
        InputError: the flux dissipates too little.
    """
    flux = setup.case.method.flux
    if flux >= LEAST_UPWIND or not setup.equations.elastic or not setup.layer_sets:
        return
    if setup.elements(1, 0).has_levels:
        raise InputError(
            f"method.flux = {FLUXES.get(flux, flux)}: with matched layers and halved elements, "
            f'waves in solids may grow without limit; use "riemann" or at least {LEAST_UPWIND:g}, '
            'or boundary layers of kind "sponge"'
        )


def require_fields_of_equations(setup: Setup) -> None:
    """Check that the equations have all fields that the case records.

    Raises:
        InputError: they lack a field.
    """
    fields = setup.equations.fields
    output = setup.case.output
    recorded = {f"record[{n}]": record.fields for n, record in enumerate(output.record)}
    if output.volumes:
        recorded["volumes"] = output.volumes.fields
    for key, names in recorded.items():
        absent = [field for field in names if field not in fields]
        if absent:
            kind = "elastic" if setup.equations.elastic else "acoustic"
            raise InputError(
                f'output.{key}.fields: the {kind} equations have no "{absent[0]}"; use '
                f"{listed(fields)}"
            )
