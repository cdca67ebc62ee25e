"""Files made of the time series of faults at the end of a run: SCEC's texts and SRF."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from groundswell.arrays import Floats
from groundswell.case.quantities import Quantity
from groundswell.grids.geography import Geography
from groundswell.seismology.faults.rupture import GROUP
from groundswell.seismology.faults.subfaults import rupture_source
from groundswell.seismology.formats import scec
from groundswell.seismology.formats.srf import write_srf
from groundswell.seismology.formats.srf_content import Srf
from groundswell.solvers.dgwave.recording.fault_series import SLIP, FaultPointSeries, SlipHistory
from groundswell.solvers.dgwave.setup import Setup
from groundswell.version import __version__

SOURCE_FILE = "rupture.srf"


def write_scec(folder: Path, setup: Setup, series: FaultPointSeries, times: Floats) -> list[Path]:
    """Write the series at points, and the rupture times of each fault; returns the paths.

    Args:
        times: rupture times at the points of all faults, s.
    """
    assert setup.faults is not None
    spacing = min(fault.spacing for fault in setup.faults.faults)
    header = {
        "problem": setup.case.title,
        "code": "Groundswell",
        "code_version": __version__,
        "element_size": f"{spacing * setup.degree:.6g} m, degree {setup.degree}",
        "time_step": f"{series.interval:.10g}",
    }
    to, named = folder / scec.FOLDER, setup.faults.named_points
    parts = np.split(times, np.cumsum([*map(len, named.values())])[:-1])
    maps = [
        scec.write_times(to, name, (points.along_strike, points.down_dip), part, header)
        for (name, points), part in zip(named.items(), parts, strict=True)
    ]
    return [*scec.write_series(to, series.read(), header), *maps]


def write_source(
    folder: Path, setup: Setup, history: SlipHistory, values: Mapping[str, Floats]
) -> tuple[list[Path], list[Quantity]]:
    """Write the rupture as a source in SRF; returns its path, and where it starts.

    SRF has no times before 0, so that times count from the start of a run that starts earlier.

    Args:
        values: slip at the end at the points of all faults.
    """
    slip, times = history.read(np.stack([values[name] for name in SLIP]))
    geography = setup.geography or Geography.from_point((0.0, 0.0), (0.0, 0.0))
    times = times - min(times[0], 0.0)
    source = rupture_source(history.subfaults, slip, times, geography)
    write_srf(folder / SOURCE_FILE, source)
    return [folder / SOURCE_FILE], _start(source, history.subfaults.position, setup)


def _start(source: Srf, position: Floats, setup: Setup) -> list[Quantity]:
    """Where the subfault lies that slips first, by which sources without geography are placed."""
    starts = source.slip_times[:, 0]
    if np.isnan(starts).all():
        return []
    place = [float(at) for at in position[int(np.nanargmin(starts))]]
    x, y, depth = (f"{at:.10g}" for at in place)
    label = "" if setup.geography else SOURCE_FILE
    text = f"as a source: x = {x}, y = {y} (m), depth in the file {depth} m"
    return [Quantity("source_start", place, label, "m", text, GROUP)]
