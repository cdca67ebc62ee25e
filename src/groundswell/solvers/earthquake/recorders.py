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
from groundswell.io.maps import SurfaceWriter, write_shaking_map
from groundswell.io.seismograms import (
    SeismogramWriter,
    read_seismograms,
    write_mseed,
    write_sac,
)
from groundswell.io.volumes import VolumeWriter
from groundswell.run.ring import Output, Ring
from groundswell.solvers.earthquake.event import event_attributes
from groundswell.solvers.earthquake.interpolation import velocity_stencils
from groundswell.solvers.earthquake.sampling import strided
from groundswell.solvers.earthquake.setup import Setup


class Recorders:
    """All recorders of a case.

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
    ) -> None:
        self._setup, self._backend, self._module = setup, backend, module
        self._fields, self._clock = fields, clock
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

    def outputs(self, folder: Path, lengths: Mapping[str, int] | None) -> dict[str, Output]:
        """The files behind the rings; `lengths` are the samples to keep of an earlier run's."""
        makers = {
            "seismograms": self._seismogram_output,
            "surface": self._surface_output,
            "volumes": self._volume_output,
        }
        wanted = {
            name: make
            for name, make in makers.items()
            if any(r.startswith(name) for r in self._rings)
        }
        return {
            name: make(folder, None if lengths is None else lengths[name])
            for name, make in wanted.items()
        }

    def state(self) -> dict[str, Array]:
        """Peaks so far and the velocities they continue from."""
        return {} if self._peaks is None else {"peaks": self._peaks, "past": self._past}

    def finish(self, folder: Path) -> list[Path]:
        """Write what is only known at the end: shaking map, seismograms in other formats."""
        return [*self._write_map(folder), *self._write_formats(folder)]

    def _write_formats(self, folder: Path) -> list[Path]:
        formats = self._setup.case.output.seismograms.formats
        if "seismograms" not in self._rings or set(formats) == {"hdf5"}:
            return []
        velocity = read_seismograms(folder / "seismograms.h5")
        sac = write_sac(velocity, folder / "sac") if "sac" in formats else []
        mseed = [write_mseed(velocity, folder / "seismograms.mseed")] if "mseed" in formats else []
        return [*sac, *mseed]

    def _write_map(self, folder: Path) -> list[Path]:
        if self._peaks is None:
            return []
        pgv, pga = self._backend.to_host(self._peaks)
        x, y = (self._centres(axis) for axis in (0, 1))
        path = folder / "shaking_map.nc"
        places = self._lonlat(x, y)
        return [write_shaking_map(path, pgv, pga, x, y, **places, attrs=self._attributes)]

    # --- kernels ----------------------------------------------------------------------------------

    def _ring(self, name: str, kind: str) -> Ring:
        of = self._setup.samples[kind]
        self._rings[name] = Ring(self._backend, of.shape, of.every, of.slots, self._setup.dtype)
        return self._rings[name]

    def _points(self) -> list[Launch]:
        setup, receivers = self._setup, self._setup.receivers
        if not receivers:
            return []
        stencils = [
            stencil
            for r in receivers
            for stencil in velocity_stencils(setup.grid, r.position, setup.free_surface)
        ]
        places = [np.dot(s.first, (1, setup.layout.row, setup.layout.plane)) for s in stencils]
        weights = np.stack([s.weights for s in stencils]).astype(setup.dtype)
        ring = self._ring("seismograms", "seismograms")
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
        nx, ny, _ = strided(self._setup.grid.region, section.stride)
        ring = self._ring("surface", "surface")
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
                nx,
                ny,
            )
        ]

    def _volumes(self) -> list[Launch]:
        section = self._setup.case.output.volumes
        if not section:
            return []
        return [self._volume(name, section.stride) for name in section.fields]

    def _volume(self, name: str, stride: int) -> Launch:
        cells = strided(self._setup.grid.region, stride)
        ring = self._ring(f"volumes/{name}", "volumes")
        return self._module.launch(
            "record_volume",
            Items(int(np.prod(cells))),
            ring.buffer,
            self._fields[name],
            self._clock,
            ring.every,
            ring.slots,
            stride,
            *cells,
        )

    def _shaking(self) -> list[Launch]:
        if not self._setup.case.output.shaking_map:
            return []
        nx, ny, _ = self._setup.grid.region
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
        setup, ring = self._setup, self._rings["seismograms"]
        writer = SeismogramWriter(
            folder / "seismograms.h5",
            setup.receivers,
            interval=setup.sampling["seismograms"],
            attrs=self._attributes,
            resume=length,
            dtype=setup.dtype,
        )
        return Output([ring], writer, lambda blocks, _: writer.append(blocks[0]))

    def _surface_output(self, folder: Path, length: int | None) -> Output:
        setup, ring = self._setup, self._rings["surface"]
        stride = setup.case.output.surface.stride
        x, y = (self._centres(axis)[::stride] for axis in (0, 1))
        writer = SurfaceWriter(
            folder / "surface.nc",
            x,
            y,
            interval=setup.sampling["surface"],
            attrs=self._attributes,
            resume=length,
            dtype=setup.dtype,
            **self._lonlat(x, y),  # type: ignore[arg-type]
        )
        return Output([ring], writer, lambda blocks, _: writer.append(blocks[0]))

    def _volume_output(self, folder: Path, length: int | None) -> Output:
        setup, section = self._setup, self._setup.case.output.volumes
        rings = {name: self._rings[f"volumes/{name}"] for name in section.fields}
        hx, hy, hz = setup.grid.spacing
        stride, shift = section.stride, (1 - section.stride) / 2
        writer = VolumeWriter(
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

        return Output(list(rings.values()), writer, write)

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
