"""What is refused of a case before it runs, once its grid, its steps and its data are known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from groundswell.errors import InputError
from groundswell.grids.cartesian import Layout
from groundswell.seismology.sources.point_sources import PointSource

if TYPE_CHECKING:
    from groundswell.solvers.earthquake.setup import Setup

MOST_BYTES = 10e12  # more than one device has


def require_possible(layout: Layout, fields: int) -> None:
    """Refuse grids whose fields alone no device holds, before their medium is looked at."""
    needed = layout.size * layout.itemsize * fields
    if needed > MOST_BYTES:
        raise InputError(
            f"the grid of {' x '.join(map(str, layout.cells))} cells takes {needed / 1e12:.3g} TB "
            f"of memory ({needed} bytes), and at most {MOST_BYTES / 1e12:g} TB are allowed; choose "
            "a larger grid.spacing, or a smaller grid.size"
        )


def require_inside(sources: Sequence[PointSource], extent: tuple[float, float, float]) -> None:
    """Refuse sources outside the region; on the way over maps they may lose a millimetre."""
    places = np.array([source.position for source in sources]).reshape(-1, 3)
    outside = np.flatnonzero(((places < -1e-3) | (places > np.add(extent, 1e-3))).any(axis=1))
    if outside.size:
        x, y, depth = places[outside[0]]
        raise InputError(
            f"{outside.size} of {len(places)} point sources lie outside the region, the first at "
            f"x = {x:.6g} m, y = {y:.6g} m, depth = {depth:.6g} m; the region reaches from 0 to "
            f"{extent[0]:g} m, {extent[1]:g} m and {extent[2]:g} m: move it, or enlarge grid.size"
        )


def require_two_samples(setup: Setup) -> None:
    """Refuse seismograms of one sample in formats that hold a sampling rate."""
    every = setup.every("seismograms")
    named = [name for name in setup.case.output.seismograms.formats if name in ("sac", "mseed")]
    if named and setup.steps <= every:
        raise InputError(
            f"output.seismograms.interval = {every * setup.dt:g} s leaves one sample in the run of "
            f"{setup.steps * setup.dt:g} s, and the format {named[0]} needs 2; sample more often, "
            'lengthen time.duration, or write only "hdf5"'
        )
