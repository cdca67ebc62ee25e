"""What an earthquake leaves behind: seismograms, surface motion, peaks and volumes.

Each kind is a kernel in the step that fills a ring on the device, and a file that the ring is
emptied into.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groundswell.backends import Backend, Cells, Items, Launch, Module
from groundswell.backends.base import Array
from groundswell.exchange.distributed_array import DistributedArray
from groundswell.exchange.world import World
from groundswell.formats.vtkhdf import VolumeWriter
from groundswell.grids.cartesian import Layout, Part
from groundswell.outputs.ring_buffer import Output, Ring
from groundswell.seismology.formats.seismograms import (
    SeismogramWriter,
    read_seismograms,
    write_mseed,
    write_sac,
)
from groundswell.seismology.formats.shaking_maps import SurfaceWriter, write_shaking_map
from groundswell.seismology.sources.event import event_attributes
from groundswell.solvers.earthquake.interpolation import velocity_stencils
from groundswell.solvers.earthquake.sampling import strided, taken
from groundswell.solvers.earthquake.setup import Setup
from groundswell.solvers.earthquake.state import plane_portion


class Outputs:
    """All recorders of a case, as far as they lie in one rank's part of the grid.

    Attributes:
        launches: their kernels, at the beginning of a step and independent of each other.
    """

    def __init__(
        self,
        setup: Setup,
        backend: Backend,
        module: Module,
        fields: Mapping[str, Array],
        clock: Array,
        part: Part,
        world: World,
    ) -> None:
        self._setup, self._backend, self._module = setup, backend, module
        self._fields, self._clock = fields, clock
        self._part, self._world = part, world
        self._velocities = [fields[name] for name in ("vx", "vy", "vz")]
        self._rings: dict[str, Ring] = {}
        self._peaks: Array | None = None
        self.launches: list[Launch] = [
            *self._points(),
            *self._surface(),
            *self._volumes(),
            *self._shaking(),
        ]

    def ring(self, name: str) -> Ring:
        """The latest samples of "seismograms", "surface" or "volumes/<field>", on the device."""
        return self._rings[name]

    def open(self, folder: Path, lengths: Mapping[str, int] | None) -> dict[str, Output]:
        """The files behind the rings; `lengths` are the samples to keep of an earlier run's."""
        makers = {
            "seismograms": self._seismogram_output,
            "surface": self._surface_output,
            "volumes": self._volume_output,
        }
        return {
            name: makers[name](folder, None if lengths is None else lengths[name])
            for name in self._setup.samples
        }

    def state(self) -> dict[str, DistributedArray]:
        """Peaks so far and the velocities they continue from."""
        if self._peaks is None:
            return {}
        nx, ny, _ = self._setup.grid.region
        first = self._part.region_start[1::-1]
        arrays = {"peaks": self._peaks, "past": self._past}
        return {name: plane_portion(a, (2, ny, nx), first) for name, a in arrays.items()}

    def write(self, folder: Path) -> list[Path]:
        """Write what is only known at the end: shaking map, seismograms in other formats."""
        peaks = self._gather_peaks()
        return (
            [*self._write_map(folder, peaks), *self._write_formats(folder)]
            if self._world.first
            else []
        )

    def _write_formats(self, folder: Path) -> list[Path]:
        formats = self._setup.case.output.seismograms.formats
        if not self._setup.receivers or set(formats) == {"hdf5"}:
            return []
        velocity = read_seismograms(folder / "seismograms.h5")
        sac = write_sac(velocity, folder / "sac") if "sac" in formats else []
        mseed = [write_mseed(velocity, folder / "seismograms.mseed")] if "mseed" in formats else []
        return [*sac, *mseed]

    def _gather_peaks(self) -> NDArray[Any] | None:
        """PGV and PGA over the whole region at rank 0, (2, ny, nx)."""
        if not self._setup.case.output.shaking_map:
            return None
        here = None if self._peaks is None else self._backend.to_host(self._peaks)
        nx, ny, _ = self._setup.grid.region
        whole = np.zeros((2, ny, nx), self._setup.dtype)
        for place, peaks in self._world.gather((taken(self._part, 1).place, here)):
            if peaks is not None:
                whole[:, *place[1:]] = peaks
        return whole

    def _write_map(self, folder: Path, peaks: NDArray[Any] | None) -> list[Path]:
        if peaks is None:
            return []
        pgv, pga = peaks
        x, y = (self._centres(axis) for axis in (0, 1))
        path = folder / "shaking_map.nc"
        places = self._lonlat(x, y)
        return [write_shaking_map(path, pgv, pga, x, y, **places, attrs=self._attributes)]

    # --- kernels ----------------------------------------------------------------------------------

    def _ring(self, name: str, kind: str, shape: tuple[int, ...]) -> Ring:
        of = self._setup.samples[kind]
        self._rings[name] = Ring(self._backend, shape, of.every, of.slots, self._setup.dtype)
        return self._rings[name]

    @property
    def _has_top(self) -> bool:
        """Whether the region's uppermost cells are here."""
        return self._part.region_start[2] == 0 and all(self._part.region)

    @cached_property
    def _own_receivers(self) -> list[int]:
        """The receivers that stand in this part's cells."""
        last = np.subtract(self._setup.grid.cells, 1)
        found = []
        for n, receiver in enumerate(self._setup.receivers):
            place = np.floor(self._setup.grid.indices(receiver.position, (0, 0, 0))).astype(int)
            i, j, k = np.minimum(place, last).tolist()
            found += [n] if self._part.local((i, j, k)) else []
        return found

    def _points(self) -> list[Launch]:
        setup, own = self._setup, self._own_receivers
        if not setup.receivers:
            return []
        ring = self._ring("seismograms", "seismograms", (len(own), 3))
        if not own:
            return []
        stencils = [
            stencil
            for n in own
            for stencil in velocity_stencils(
                setup.grid, setup.receivers[n].position, setup.free_surface
            )
        ]
        layout = Layout(self._part.cells, np.dtype(setup.dtype).itemsize)
        steps = (1, layout.row, layout.plane)
        places = [np.dot(np.subtract(s.first, self._part.start), steps) for s in stencils]
        weights = np.stack([s.weights for s in stencils]).astype(setup.dtype)
        return [
            self._module.launch(
                "record_points",
                Items(len(places)),
                ring.buffer,
                *self._velocities,
                self._backend.to_device(np.array(places, np.int64)),
                self._backend.to_device(weights),
                self._clock,
                ring.every,
                ring.slots,
                len(places),
            )
        ]

    def _surface(self) -> list[Launch]:
        section = self._setup.case.output.surface
        if not section:
            return []
        cells = taken(self._part, section.stride)
        nx, ny, _ = cells.count if self._has_top else (0, 0, 0)
        ring = self._ring("surface", "surface", (3, ny, nx))
        if not nx * ny:
            return []
        return [
            self._module.launch(
                "record_surface",
                Items(nx * ny),
                ring.buffer,
                *self._velocities,
                self._clock,
                ring.every,
                ring.slots,
                section.stride,
                *cells.first[:2],
                nx,
                ny,
            )
        ]

    def _volumes(self) -> list[Launch]:
        section = self._setup.case.output.volumes
        if not section:
            return []
        return [run for name in section.fields for run in self._volume(name, section.stride)]

    def _volume(self, name: str, stride: int) -> list[Launch]:
        cells = taken(self._part, stride)
        ring = self._ring(f"volumes/{name}", "volumes", cells.count[::-1])
        if not all(cells.count):
            return []
        return [
            self._module.launch(
                "record_volume",
                Items(int(np.prod(cells.count))),
                ring.buffer,
                self._fields[name],
                self._clock,
                ring.every,
                ring.slots,
                stride,
                *cells.first,
                *cells.count,
            )
        ]

    def _shaking(self) -> list[Launch]:
        if not (self._setup.case.output.shaking_map and self._has_top):
            return []
        nx, ny, _ = self._part.region
        self._peaks, self._past = (
            self._backend.zeros((2, ny, nx), self._setup.dtype) for _ in range(2)
        )
        horizontal = self._velocities[:2]
        return [
            self._module.launch(
                "record_peaks", Cells(nx, ny, 1), self._peaks, self._past, *horizontal
            )
        ]

    # --- files ------------------------------------------------------------------------------------

    @cached_property
    def _attributes(self) -> dict[str, Any]:
        return event_attributes(self._setup)

    def _seismogram_output(self, folder: Path, length: int | None) -> Output:
        setup = self._setup
        writer: Any = self._world.first and SeismogramWriter(
            folder / "seismograms.h5",
            setup.receivers,
            interval=setup.sampling["seismograms"],
            attrs=self._attributes,
            resume=length,
            dtype=setup.dtype,
        )
        place = (np.array(self._own_receivers, np.intp),)
        return self._output(
            ["seismograms"], writer, lambda blocks, _: writer.append(*blocks), place
        )

    def _surface_output(self, folder: Path, length: int | None) -> Output:
        setup = self._setup
        stride = setup.case.output.surface.stride
        x, y = (self._centres(axis)[::stride] for axis in (0, 1))
        writer: Any = self._world.first and SurfaceWriter(
            folder / "surface.nc",
            x,
            y,
            interval=setup.sampling["surface"],
            attrs=self._attributes,
            resume=length,
            dtype=setup.dtype,
            **self._lonlat(x, y),  # type: ignore[arg-type]
        )
        across = taken(self._part, stride).place[1:] if self._has_top else (slice(0), slice(0))
        place = (slice(None), *across)
        return self._output(["surface"], writer, lambda blocks, _: writer.append(*blocks), place)

    def _volume_output(self, folder: Path, length: int | None) -> Output:
        setup, section = self._setup, self._setup.case.output.volumes
        hx, hy, hz = setup.grid.spacing
        stride, shift = section.stride, (1 - section.stride) / 2
        writer: Any = self._world.first and VolumeWriter(
            folder / "volumes.vtkhdf",
            strided(setup.grid.region, stride),
            (stride * hx, stride * hy, stride * hz),
            section.fields,
            # A value is its block's first cell's, so that cell's middle becomes the block's.
            origin=(shift * hx, shift * hy, shift * hz),
            attrs=self._attributes,
            resume=length,
        )

        def write(blocks: list[NDArray[Any]], numbers: range) -> None:
            for n, *fields in zip(numbers, *blocks, strict=True):
                time = n * setup.sampling["volumes"]
                writer.append(time, dict(zip(section.fields, fields, strict=True)))

        names = [f"volumes/{name}" for name in section.fields]
        return self._output(names, writer, write, taken(self._part, stride).place)

    def _output(self, rings: list[str], writer: Any, write: Any, place: tuple[Any, ...]) -> Output:
        shape = self._setup.samples[rings[0].partition("/")[0]].shape
        of = [self._rings[name] for name in rings]
        return Output(of, writer or None, write, shape, place, self._world)

    # --- places -----------------------------------------------------------------------------------

    def _centres(self, axis: int) -> NDArray[np.float64]:
        grid = self._setup.grid
        return grid.spacing[axis] * np.arange(0.5, grid.region[axis], dtype=np.float64)

    def _lonlat(self, x: NDArray[Any], y: NDArray[Any]) -> dict[str, NDArray[np.float64]]:
        geography = self._setup.geography
        if geography is None:
            return {}
        longitude, latitude = geography.to_lonlat(*np.meshgrid(x, y))
        return {"longitude": longitude, "latitude": latitude}
