"""Validation of a case against its grid, time step and data, before the run starts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from groundswell.errors import InputError
from groundswell.grids.cartesian import Layout
from groundswell.seismology.sources.entries import SourceEntry
from groundswell.seismology.sources.point_sources import PointSource

if TYPE_CHECKING:
    from groundswell.solvers.earthquake.setup import Setup

MAX_BYTES = 10e12  # no device has more memory


def require_feasible_size(layout: Layout, fields: int) -> None:
    """Check that the fields of the grid fit on a device, before the medium is read.

    Args:
        fields: number of fields over the whole grid.

    Raises:
        InputError: the fields take more than MAX_BYTES.
    """
    needed = layout.size * layout.itemsize * fields
    if needed > MAX_BYTES:
        raise InputError(
            f"the grid of {' x '.join(map(str, layout.cells))} cells takes {needed / 1e12:.3g} TB "
            f"of memory ({needed} bytes), and at most {MAX_BYTES / 1e12:g} TB are allowed; choose "
            "a larger grid.spacing, or a smaller grid.size"
        )


def require_sources_inside(
    entries: Sequence[SourceEntry], extent: tuple[float, float, float]
) -> None:
    """Check that all point sources lie in the region, to within a millimetre.

    Map projections round positions, hence the tolerance.

    Args:
        extent: size of the region (x, y, z), m.

    Raises:
        InputError: a source lies outside; the message names the first point of the first entry.
    """
    for n, entry in enumerate(entries):
        positions = np.array([point.position for point in entry.points])
        outside = ((positions < -1e-3) | (positions > np.add(extent, 1e-3))).any(axis=1)
        if outside.any():
            numbers = {entry.points[i].number for i in np.flatnonzero(outside)}
            first = entry.points[int(outside.argmax())]
            raise InputError(
                f"source[{n}]: {_outside(entry, first, len(numbers))}; the region reaches from 0 "
                f"to {extent[0]:g} m, {extent[1]:g} m and {extent[2]:g} m: move it, or enlarge "
                "grid.size"
            )


def _outside(entry: SourceEntry, first: PointSource, count: int) -> str:
    """How many points of a source lie outside the region, and where the first one is."""
    x, y, depth = first.position
    place = f"x = {x:.6g} m, y = {y:.6g} m, depth = {depth:.6g} m"
    name = "subfault" if entry.fault else "point"
    file = getattr(entry.section, "file", None)
    if entry.fault:
        longitude, latitude = entry.fault.frame.to_lonlat(x, y)
        place += f" (longitude {longitude:.5f}, latitude {latitude:.5f} in the file)"
    return (
        f"{count} {name}{'s' if count > 1 else ''}{f' of {file.name}' if file else ''} lie"
        f"{'' if count > 1 else 's'} outside the region, the first is {name} {first.number} at "
        f"{place}"
    )


def require_two_samples(setup: Setup) -> None:
    """Check that seismograms in formats with a sampling rate have at least two samples.

    Raises:
        InputError: the run would write a single sample.
    """
    stride = setup.sampling_stride("seismograms")
    named = [name for name in setup.case.output.seismograms.formats if name in ("sac", "mseed")]
    if named and setup.steps <= stride:
        raise InputError(
            f"output.seismograms.interval = {stride * setup.dt:g} s gives only one sample in the "
            f"run of {setup.steps * setup.dt:g} s, and the format {named[0]} needs 2; sample more "
            'often, lengthen time.duration, or write only "hdf5"'
        )
