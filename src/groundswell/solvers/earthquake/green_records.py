"""The strain Green tensor of a run: strain at points, accumulated in each step, and its file."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from groundswell.grids.cartesian import Layout
from groundswell.outputs.distributed_array import DistributedArray
from groundswell.outputs.ring_buffer import Output
from groundswell.seismology.case.outputs import GREEN
from groundswell.seismology.green.files import FILE, GreenTimes, GreenWriter, medium_digest
from groundswell.seismology.green.points import GreenSurvey, StrainPoints
from groundswell.seismology.green.recording import StrainSeries
from groundswell.seismology.sources.event import date_attributes
from groundswell.simulation.kept_parts import kept
from groundswell.solvers.earthquake.rank_fields import RankFields
from groundswell.solvers.earthquake.setup import Setup, ground_digest
from groundswell.solvers.earthquake.strain_points import StrainTable, accumulate_strain, load_strain


class GreenRecords:
    """The recorder of strain on one rank.

    Attributes:
        name: name of the output.
        accumulate: the kernel that adds a step's strain, after the update of the velocities.
        launches: the kernel that records samples, at the beginning of a step.
    """

    name = GREEN

    def __init__(self, setup: Setup, survey: GreenSurvey, rank: RankFields) -> None:
        self._setup, self._survey, self._comm = setup, survey, rank.comm
        table = _table(setup, survey.points)
        strain = load_strain(rank.backend, table, rank.part, rank.clock)
        layout = Layout(rank.part.cells, np.dtype(setup.dtype).itemsize)
        velocities = {name: rank.fields[name] for name in ("vx", "vy", "vz")}
        self.accumulate = accumulate_strain(
            rank.backend, rank.module, velocities, table, strain, (rank.part, layout)
        )
        every = setup.sampling_stride(GREEN)
        self.series = StrainSeries(rank.backend, rank.comm, table.rows, strain, every)
        self.launches = self.series.launches

    @property
    def times(self) -> GreenTimes:
        """The times of the samples."""
        setup, every = self._setup, self._setup.sampling_stride(GREEN)
        return GreenTimes(setup.dt, every, setup.time_axis.start + setup.dt / 2)

    def open(self, folder: Path, length: int | None) -> Output:
        """Open the file; `length` is the number of samples to keep when a run resumes."""
        setup = self._setup
        if not self._comm.first:
            return self.series.output(None, lambda *_: None)
        azimuth = setup.geography.true_azimuth if setup.geography else 0.0
        attrs = {**date_attributes(setup.case, setup.survey), "azimuth": azimuth}
        attrs["medium"] = medium_digest(setup.case)
        about = self._survey, self.times, attrs, length, setup.dtype
        writer = GreenWriter(folder / FILE, *about)
        return self.series.output(writer, writer.append)

    def state(self) -> dict[str, DistributedArray]:
        """The strains so far, for checkpoints."""
        return {f"{GREEN}/strain": self.series.state()}


def _table(setup: Setup, points: StrainPoints) -> StrainTable:
    """The table of the points, which all forces of an ensemble share."""
    return kept(
        "strain table",
        lambda: (ground_digest(setup.case), points.positions.tobytes(), points.basis.tobytes()),
        lambda: StrainTable.of(setup.ground, points),
    )


def green_records(setup: Setup, rank: RankFields) -> GreenRecords | None:
    """The recorder of a case; None if it does not record strain."""
    return GreenRecords(setup, setup.green, rank) if setup.green else None
