"""Files of faults at the end of a run: `fault.nc`, SCEC's text files and SRF."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from groundswell.arrays import Floats
from groundswell.case.quantities import Quantity, as_values
from groundswell.grids.geography import Geography
from groundswell.seismology.faults.conditions import FaultConditions, lengths_of, loads_of
from groundswell.seismology.faults.rupture import GROUP, rupture_quantities
from groundswell.seismology.faults.state_steps import farthest_steps, slip_warnings
from groundswell.seismology.faults.subfaults import rupture_source
from groundswell.seismology.formats import scec
from groundswell.seismology.formats.fault_maps import NAME, write_fault_map
from groundswell.seismology.formats.srf import write_srf
from groundswell.seismology.formats.srf_content import Srf
from groundswell.seismology.recording.fault_series import (
    SLIP,
    FaultPointSeries,
    FaultRun,
    SlipHistory,
)
from groundswell.version import __version__

SOURCE_FILE = "rupture.srf"


class FaultResults:
    """The files of the faults of a run, which rank 0 writes.

    Args:
        points: the series at points, if any.
        history: the slip of subfaults, if it is recorded.

    Attributes:
        findings: moment, slip, duration and energies of the rupture, after `write`.
        warnings: reasons to doubt them.
    """

    def __init__(
        self, run: FaultRun, points: FaultPointSeries | None, history: SlipHistory | None
    ) -> None:
        self._run, self._points, self._history = run, points, history
        self.findings: list[Quantity] = []
        self.warnings: list[str] = []

    def write(
        self,
        folder: Path,
        values: Mapping[str, Floats],
        conditions: Sequence[FaultConditions],
        header: Mapping[str, object],
    ) -> list[Path]:
        """Write `fault.nc` and what follows from the series; return the paths.

        Args:
            values: FIELDS of a map at the points of all faults.
            conditions: those of each fault.
            header: problem and size of elements, for SCEC's files.
        """
        run, lengths = self._run, lengths_of(conditions)
        self.findings = [*rupture_quantities(run.faults, {**values, **loads_of(conditions)})]
        steps = farthest_steps(run.faults, values["peak_rate"], lengths, run.time_axis.dt)
        self.warnings = [*slip_warnings(steps)]
        found = [self._write_map(folder, values)]
        if self._points and "scec" in self._points.formats:
            found += self._write_scec(folder, self._points, values["rupture_time"], header)
        if self._history:
            found.append(self._write_source(folder, self._history, values))
        return found

    def _write_map(self, folder: Path, values: Mapping[str, Floats]) -> Path:
        attrs = self._run.attrs
        magnitude = attrs["magnitude"] or as_values(self.findings)["magnitude"]
        known = {**attrs, "magnitude": magnitude}
        return write_fault_map(folder / NAME, self._run.faults, values, known)

    def _write_scec(
        self, folder: Path, series: FaultPointSeries, times: Floats, header: Mapping[str, object]
    ) -> list[Path]:
        """Write the series at points, and the rupture times of each fault."""
        code = {"code": "Groundswell", "code_version": __version__}
        top = {**header, **code, "time_step": f"{series.interval:.10g}"}
        to, named = folder / scec.FOLDER, self._run.faults
        parts = np.split(times, np.cumsum([*map(len, named.values())])[:-1])
        maps = [
            scec.write_times(to, name, (points.along_strike, points.down_dip), part, top)
            for (name, points), part in zip(named.items(), parts, strict=True)
        ]
        return [*scec.write_series(to, series.read(), top), *maps]

    def _write_source(
        self, folder: Path, history: SlipHistory, values: Mapping[str, Floats]
    ) -> Path:
        """Write the rupture as a source in SRF, and note where it starts.

        SRF has no times before 0, so that times count from the start of a run that starts earlier.
        """
        slip, times = history.read(np.stack([values[name] for name in SLIP]))
        given, path = self._run.geography, folder / SOURCE_FILE
        times = times - min(times[0], 0.0)
        geography = given or Geography.from_point((0.0, 0.0), (0.0, 0.0))
        source = rupture_source(history.subfaults, slip, times, geography)
        write_srf(path, source)
        self.findings += _start(source, history.subfaults.position, labelled=given is None)
        return path


def _start(source: Srf, position: Floats, *, labelled: bool) -> list[Quantity]:
    """Where the subfault lies that slips first, by which sources without geography are placed."""
    starts = source.slip_times[:, 0]
    if np.isnan(starts).all():
        return []
    place = [float(at) for at in position[int(np.nanargmin(starts))]]
    x, y, depth = (f"{at:.10g}" for at in place)
    text = f"as a source: x = {x}, y = {y} (m), depth in the file {depth} m"
    return [Quantity("source_start", place, SOURCE_FILE * labelled, "m", text, GROUP)]
