"""Peak velocity and acceleration of the surface, accumulated on the device."""

from __future__ import annotations

from pathlib import Path

from groundswell.arrays import DeviceArray
from groundswell.backends import Cells, Launch
from groundswell.outputs.distributed_array import DistributedArray
from groundswell.seismology.formats.seismograms import Attributes
from groundswell.seismology.formats.shaking_maps import Points, write_shaking_map
from groundswell.seismology.recording.peak_motion import PeakMotion
from groundswell.solvers.earthquake.rank_fields import RankFields
from groundswell.solvers.earthquake.setup import Setup
from groundswell.solvers.earthquake.state import surface_array


class ShakingMap(PeakMotion):
    """Peak ground velocity and acceleration in one rank's part of the surface.

    Attributes:
        peaks: of velocity and acceleration, (2, ny, nx); empty in a part without the surface.
        past: the last velocities along x and y, (2, ny, nx).
        launches: the kernel that records them at the beginning of a step.
    """

    def __init__(self, setup: Setup, rank: RankFields) -> None:
        super().__init__()
        self._setup, self._rank = setup, rank
        nx, ny, _ = rank.part.region if rank.has_top else (0, 0, 0)
        self.peaks, self.past = (rank.backend.zeros((2, ny, nx), setup.dtype) for _ in range(2))
        self.launches: list[Launch] = []
        if rank.has_top:
            horizontal = [rank.fields[name] for name in ("vx", "vy")]
            arguments = (self.peaks, self.past, *horizontal, *rank.compliance)
            launch = rank.module.launch("record_peaks", Cells(nx, ny, 1), *arguments)
            self.launches.append(launch)

    def state(self) -> dict[str, DistributedArray]:
        """Peaks so far and the velocities they continue from, if this part has the surface."""
        arrays = {"peaks": self.peaks, "past": self.past} if self._rank.has_top else {}
        return {name: self._of_surface(array) for name, array in arrays.items()}

    def _of_surface(self, array: DeviceArray) -> DistributedArray:
        return of_surface(self._setup, self._rank, array)

    def write(self, folder: Path, points: Points, attrs: Attributes) -> list[Path]:
        """Write `shaking_map.nc`; all ranks call it, rank 0 writes.

        Args:
            points: function that returns the centres of the cells at the surface.
            attrs: attributes of the file.
        """
        whole = self._of_surface(self.peaks).gather(self._rank.backend, self._rank.comm)
        if whole is None:
            return []
        (pgv, pga), at = whole, points()
        self.keep(pgv, pga, at)
        return [write_shaking_map(folder / "shaking_map.nc", pgv, pga, at, attrs)]


def of_surface(setup: Setup, rank: RankFields, array: DeviceArray) -> DistributedArray:
    """This rank's values (n, ny, nx) at the surface of the region, as a part of the whole."""
    nx, ny, _ = setup.grid.region
    return surface_array(array, (len(array), ny, nx), rank.part.region_start[1::-1])
