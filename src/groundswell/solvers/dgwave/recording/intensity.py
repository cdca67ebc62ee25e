"""Maps of intensity measures at points of the surface; see seismology/intensity/maps.py."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from groundswell.arrays import DeviceArray
from groundswell.backends import Items, Launch, Source
from groundswell.backends.source import precision
from groundswell.outputs.distributed_array import DistributedArray
from groundswell.seismology.case.intensity import IntensityOutput
from groundswell.seismology.formats.intensity import MAPS, write_intensity_maps
from groundswell.seismology.intensity.maps import Arguments, MapArrays, MapTables, map_variables
from groundswell.seismology.sources.event import event_attributes
from groundswell.solvers.dgwave.equations import KERNELS
from groundswell.solvers.dgwave.recording.lattice import Lattice
from groundswell.solvers.dgwave.recording.rank import RankFields
from groundswell.solvers.dgwave.recording.receivers import VELOCITIES
from groundswell.solvers.dgwave.recording.surface import point_arguments


def intensity_source(dtype: str) -> Source:
    """The kernel that records the acceleration, for a floating-point type."""
    return Source(KERNELS / "intensity.h", precision(dtype))


class IntensityMaps:
    """The oscillators and integrals at one rank's points of the surface.

    Attributes:
        tables: what the kernels read.
        arrays: what they change, (values, points).
        sequences: the kernels that advance them at the beginning of a step; the sequences are
            independent of each other.
    """

    def __init__(self, rank: RankFields, section: IntensityOutput) -> None:
        setup = self._setup = rank.setup
        self._rank, self._section = rank, section
        self._lattice = Lattice.of(setup.geometry, rank.elements.numbers)
        azimuth = setup.geography.true_azimuth if setup.geography else 0.0
        about = (rank.backend, setup.dtype)
        self.tables = MapTables.of(section, setup.dt, azimuth, *about)
        self.arrays = MapArrays(self.tables, (len(self._lattice.mine),), *about)
        self.sequences = self.arrays.launches(self._record, rank.propagation.clock)

    def _record(self, arguments: Arguments) -> list[Launch]:
        rank, extent = self._rank, Items(len(self._lattice.mine))
        module = rank.backend.compile(intensity_source(self._setup.dtype))
        fields = {name: rank.propagation.fields[name] for name in VELOCITIES[:2]}
        where = {**point_arguments(rank, self._lattice), "clock": rank.propagation.clock}
        return [module.launch("record_motion", extent, **fields, **where, **arguments)]

    def state(self) -> dict[str, DistributedArray]:
        """All arrays, for checkpoints."""
        own = self.arrays.state.items()
        return {f"intensity/{name}": self._distributed(array) for name, array in own}

    def _distributed(self, array: DeviceArray) -> DistributedArray:
        """The values (values, points) as a part of an array (all points, values)."""
        lattice, values = self._lattice, slice(0, len(array))
        here, there = (slice(0, len(lattice.mine)), values), (lattice.mine, values)
        own = ((here, there),)
        return DistributedArray(array.T, (lattice.count, len(array)), own, own)

    def write(self, folder: Path) -> list[Path]:
        """Write `intensity_maps.nc`; all ranks call it, rank 0 writes."""
        setup, rank, lattice = self._setup, self._rank, self._lattice
        whole: dict[str, Any] = {
            name: self._distributed(array).gather(rank.backend, rank.comm)
            for name, array in self.arrays.state.items()
        }
        if not rank.comm.first:
            return []
        found = {name: lattice.whole(values.T) for name, values in whole.items()}
        points = lattice.points(setup.geography)
        maps = map_variables(self._section, found, points.attrs)
        attrs = event_attributes(setup.case, setup.geography, setup.survey)
        about = {**attrs, **self.tables.attributes(setup.dt)}
        periods = np.array(self._section.periods)
        return [write_intensity_maps(folder / MAPS, maps, periods, points, about)]
