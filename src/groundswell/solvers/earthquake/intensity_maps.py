"""Maps of intensity measures, accumulated on the device; see seismology/intensity/maps.py."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from groundswell.backends import Cells, Launch
from groundswell.outputs.distributed_array import DistributedArray
from groundswell.seismology.case.intensity import IntensityOutput
from groundswell.seismology.formats.intensity import MAPS, write_intensity_maps
from groundswell.seismology.formats.seismograms import Attributes
from groundswell.seismology.formats.shaking_maps import Points
from groundswell.seismology.intensity.maps import Arguments, MapArrays, MapTables, map_variables
from groundswell.solvers.earthquake.rank_fields import RankFields
from groundswell.solvers.earthquake.setup import Setup
from groundswell.solvers.earthquake.shaking_map import of_surface
from groundswell.solvers.earthquake.step_source import KERNELS


class IntensityMaps:
    """The oscillators and integrals in one rank's part of the surface.

    Attributes:
        tables: what the kernels read.
        arrays: what they change; empty in a part without the surface.
        sequences: the kernels that advance them at the beginning of a step; the sequences are
            independent of each other.
    """

    def __init__(self, setup: Setup, rank: RankFields, section: IntensityOutput) -> None:
        self._setup, self._rank, self._section = setup, rank, section
        azimuth = setup.geography.true_azimuth if setup.geography else 0.0
        about = (rank.backend, setup.dtype)
        self.tables = MapTables.of(section, setup.dt, azimuth, *about)
        nx, ny, _ = rank.part.region if rank.has_top else (0, 0, 0)
        self.arrays = MapArrays(self.tables, (ny, nx), *about)
        self.sequences = self.arrays.launches(self._record, rank.clock)

    def _record(self, arguments: Arguments) -> list[Launch]:
        rank, (nx, ny, _) = self._rank, self._rank.part.region
        module = rank.backend.compile(replace(rank.source, path=KERNELS / "intensity.h"))
        fields = {"vx": rank.fields["vx"], "vy": rank.fields["vy"], "clock": rank.clock}
        fields |= dict(zip(("compliance", "classes"), rank.compliance, strict=True))
        return [module.launch("record_motion", Cells(nx, ny, 1), **fields, **arguments)]

    def state(self) -> dict[str, DistributedArray]:
        """All arrays, for checkpoints, if this part has the surface."""
        return self._distributed() if self._rank.has_top else {}

    def _distributed(self) -> dict[str, DistributedArray]:
        return {
            name: of_surface(self._setup, self._rank, array)
            for name, array in self.arrays.state.items()
        }

    def write(self, folder: Path, points: Points, attrs: Attributes) -> list[Path]:
        """Write `intensity_maps.nc`; all ranks call it, rank 0 writes.

        Args:
            points: function that returns the centres of the cells at the surface.
            attrs: attributes of the file.
        """
        rank = self._rank
        whole = {n: each.gather(rank.backend, rank.comm) for n, each in self._distributed().items()}
        found = {name: array for name, array in whole.items() if array is not None}
        if not rank.comm.first:
            return []
        maps = map_variables(self._section, found, (places := points()).attrs)
        about = {**attrs, **self.tables.attributes(self._setup.dt)}
        periods = np.array(self._section.periods)
        return [write_intensity_maps(folder / MAPS, maps, periods, places, about)]
