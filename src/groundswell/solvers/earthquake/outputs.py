"""Outputs of an earthquake: seismograms, surface motion, peaks, plastic strain and volumes.

For each kind, a kernel in the step fills a ring buffer on the device, which is written to a file.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property, partial
from itertools import chain
from pathlib import Path

import numpy as np

from groundswell.arrays import DeviceArray, HostArray
from groundswell.backends import Items, Launch
from groundswell.formats.vtkhdf import GRID_SPACING, ImageGrid, VolumeWriter
from groundswell.outputs.cartesian import CartesianDomain, recorded_cells, strided
from groundswell.outputs.distributed_array import DistributedArray
from groundswell.outputs.launches import RecordLaunches, Targets
from groundswell.outputs.recorder import Recorders
from groundswell.outputs.recording import BoxSelection
from groundswell.outputs.ring_buffer import Output, Ring
from groundswell.seismology.case.outputs import SurfaceOutput
from groundswell.seismology.case.plasticity import STRAIN
from groundswell.seismology.formats.export import export_seismograms
from groundswell.seismology.formats.seismograms import (
    Attributes,
    SeismogramWriter,
    SeriesOptions,
    read_seismograms,
)
from groundswell.seismology.formats.shaking_maps import (
    SurfacePoints,
    SurfaceWriter,
)
from groundswell.seismology.map_lines.run import write_lines
from groundswell.seismology.recording.intensity import ReceiverIntensity
from groundswell.seismology.recording.reports import Report
from groundswell.seismology.sources.event import event_attributes
from groundswell.solvers.earthquake.case import VolumeOutput
from groundswell.solvers.earthquake.fault_records import fault_records
from groundswell.solvers.earthquake.green_records import green_records
from groundswell.solvers.earthquake.intensity_maps import IntensityMaps
from groundswell.solvers.earthquake.plasticity.records import StrainRecords
from groundswell.solvers.earthquake.rank_fields import RankFields
from groundswell.solvers.earthquake.recordable import RECORDABLE
from groundswell.solvers.earthquake.sampling import point_selection, recorded
from groundswell.solvers.earthquake.setup import Setup
from groundswell.solvers.earthquake.shaking_map import ShakingMap


class Outputs:
    """All recorders of a case in one rank's part of the grid.

    Attributes:
        launches: their kernels, independent of each other, for the beginning of a step.
        green: the strain due to a force, which accumulates in each step.
    """

    def __init__(self, setup: Setup, rank: RankFields) -> None:
        self._setup, self._backend, output = setup, rank.backend, setup.case.output
        self._rank = rank
        self._module, self._clock = rank.module, rank.clock
        self._part, self._comm = rank.part, rank.comm
        self._fields, self._compliance = rank.fields, rank.compliance
        self._velocities = [self._fields[name] for name in ("vx", "vy", "vz")]
        self._record = RecordLaunches(self._backend, self._setup.dtype, self._clock)
        self._recording = self._setup.recording(self._part)
        self._recorders = Recorders(
            output.record, self._recording, self._regions, rank.backend, rank.comm, rank.clock
        )
        self._faults = fault_records(setup, rank.backend, rank.comm, rank.clock, rank.faults)
        strain, where = self._regions.get(STRAIN), (rank.backend, rank.comm, rank.part)
        points = self._surface_points
        self._strain = None if strain is None else StrainRecords(strain, points, *where)
        self.green = green_records(setup, rank)
        faults = self._faults.series if self._faults else []
        self._series = [*faults, *([self.green] if self.green else [])]
        self._rings: dict[str, Ring] = {}
        self._openers: dict[str, Callable[[Path, int | None], Output]] = {}
        self.shaking_map = ShakingMap(setup, rank) if output.shaking_map else None
        wanted = output.intensity
        self.intensity = IntensityMaps(setup, rank, wanted) if wanted and wanted.maps else None
        self._maps = [each for each in (self.shaking_map, self.intensity) if each]
        self._measures = ReceiverIntensity(wanted, rank.backend) if wanted else None
        self._seismograms: Path | None = None  # temporary path, valid until the end of the run
        self.launches: list[Launch] = [
            *self._points(),
            *(self._surface(output.surface) if output.surface else []),
            *(self._volumes(output.volumes) if output.volumes else []),
            *self._recorders.launches,
            *(self.shaking_map.launches if self.shaking_map else []),
            *chain(*(each.launches for each in self._series)),
        ]

    @cached_property
    def _regions(self) -> dict[str, DeviceArray]:
        """Fields over this part's region, (nz, ny, nx)."""
        slices = self._part.region_slices
        return {name: array[slices] for name, array in self._fields.items()}

    @property
    def branches(self) -> list[list[Launch]]:
        """All kernels, in sequences that are independent of each other."""
        sequences = self.intensity.sequences if self.intensity else []
        return [*([launch] for launch in self.launches), *sequences]

    def ring(self, name: str) -> Ring:
        """The latest samples of "seismograms", "surface" or "volumes", on the device."""
        return self._rings[name]

    def open(self, folder: Path, lengths: Mapping[str, int] | None) -> dict[str, Output]:
        """Open the files of the ring buffers; `lengths` are the samples to keep from before."""
        own = {
            name: opened(folder, None if lengths is None else lengths[name])
            for name, opened in self._openers.items()
        }
        for each in self._series:
            own[each.name] = each.open(folder, None if lengths is None else lengths[each.name])
        return own | self._recorders.open(folder, lengths)

    @property
    def reports(self) -> list[Report]:
        """What faults have done, peaks, how much rock has yielded, on rank 0 after `write`."""
        faults = self._faults.results if self._faults else None
        return [each for each in (faults, self.shaking_map, self._strain, self._measures) if each]

    def state(self) -> dict[str, DistributedArray]:
        """What maps have accumulated, running statistics, and faults."""
        kept = self._recorders.state() | (self._faults.state() if self._faults else {})
        for each in (*self._maps, *([self.green] if self.green else [])):
            kept |= each.state()
        return kept

    def write(self, folder: Path) -> list[Path]:
        """Write the shaking map, faults, and seismograms in other formats, at the run's end."""
        about = self._surface_points, self._attributes
        maps = [path for each in self._maps for path in each.write(folder, *about)]
        records = self._recorders.write(folder)
        faults = self._faults.write(folder) if self._faults else []
        strain = self._strain.write(folder, self._attributes) if self._strain else []
        if not self._comm.first:
            return []
        lines = write_lines(folder, self._setup.case.output.map_lines, self._setup.geography)
        return [*maps, *lines, *faults, *strain, *self._write_receivers(folder), *records]

    def _write_receivers(self, folder: Path) -> list[Path]:
        """Write seismograms in other formats, and their intensity measures."""
        section = self._setup.case.output.seismograms
        wanted = self._measures or set(section.formats) != {"hdf5"}
        if not self._setup.survey.receivers or not wanted:
            return []
        assert self._seismograms is not None
        seismograms = read_seismograms(self._seismograms)
        exported = export_seismograms([seismograms], section, folder)
        measures = self._measures.write(folder, seismograms) if self._measures else []
        return [*exported, *measures]

    # --- kernels ----------------------------------------------------------------------------------

    def _ring(self, name: str, shape: tuple[int, ...]) -> Ring:
        of = recorded(self._setup)[name]
        self._rings[name] = Ring(self._backend, shape, of.every, of.slots, self._setup.dtype)
        return self._rings[name]

    @cached_property
    def _own_receivers(self) -> list[int]:
        """The receivers in this part's cells."""
        return [
            n
            for n, receiver in enumerate(self._setup.survey.receivers)
            if self._part.local(self._home(receiver.position))
        ]

    def _home(self, position: tuple[float, float, float]) -> tuple[int, int, int]:
        """The cell of a receiver; near a fluid, one whose ghosts contain all of its points."""
        setup = self._setup
        place = np.floor(setup.grid.indices(position, (0, 0, 0))).astype(int)
        i, j, k = np.minimum(place, np.subtract(setup.grid.cells, 1)).tolist()
        if setup.ground.phases:
            stencils = setup.ground.interpolation.velocity_stencils(position)
            rows = [stencil.first[2] for stencil in stencils]
            k = min(max(k, max(rows) + 1), min(rows) + 2)
        return i, j, k

    def _points(self) -> list[Launch]:
        setup, own = self._setup, self._own_receivers
        if not setup.survey.receivers:
            return []
        self._openers["seismograms"] = self._seismogram_output
        ring = self._ring("seismograms", (3, len(own)))
        positions = (setup.survey.receivers[n].position for n in own)
        stencils = [setup.ground.interpolation.velocity_stencils(p) for p in positions]
        return self._record.record(
            self._velocities,
            point_selection(stencils, self._part.start, setup.dtype),
            Targets(0, ring.every, ring),
        )

    def _surface(self, section: SurfaceOutput) -> list[Launch]:
        self._openers["surface"] = partial(self._surface_output, section.stride)
        cells = recorded_cells(self._part, strided(self._setup.grid.region, section.stride))
        nx, ny, _ = cells.count if self._rank.has_top else (0, 0, 0)
        ring = self._ring("surface", (3, ny, nx))
        if not nx * ny:
            return []
        fields = (ring.buffer, *self._velocities, *self._compliance)
        when = (self._clock, ring.every, ring.slots)
        where = (section.stride, *cells.first[:2], nx, ny)
        return [self._module.launch("record_surface", Items(nx * ny), *fields, *when, *where)]

    def _volumes(self, section: VolumeOutput) -> list[Launch]:
        domain, fields = self._recording.domain, [RECORDABLE[name] for name in section.fields]
        assert isinstance(domain, CartesianDomain)
        box = domain.box(strided(self._setup.grid.region, section.stride), fields)
        self._openers["volumes"] = partial(self._volume_output, section, box)
        ring = self._ring("volumes", (len(section.fields), *box.count))
        arrays = [self._regions[name] for name in section.fields]
        return self._record.record(arrays, box, Targets(0, ring.every, ring))

    # --- files ------------------------------------------------------------------------------------

    @cached_property
    def _attributes(self) -> Attributes:
        setup = self._setup
        return event_attributes(setup.case, setup.geography, setup.survey)

    def _seismogram_output(self, folder: Path, length: int | None) -> Output:
        receivers, options = self._setup.survey.receivers, self._options("seismograms", length)
        interval, path = self._setup.sampling["seismograms"], folder / "seismograms.h5"
        writer = None
        if self._comm.first:
            writer = SeismogramWriter(path, receivers, interval, **options)
        self._seismograms = writer.part if writer else None
        place = (slice(None), np.array(self._own_receivers, np.intp))

        def write(block: HostArray, _: range) -> None:
            assert writer is not None  # rank 0 writes
            writer.append(block.swapaxes(1, 2))

        return Output(
            self._rings["seismograms"], writer, write, (3, len(receivers)), place, self._comm
        )

    def _surface_output(self, stride: int, folder: Path, length: int | None) -> Output:
        setup, path, writer = self._setup, folder / "surface.nc", None
        options, points = self._options("surface", length), self._surface_points(stride)
        if self._comm.first:
            writer = SurfaceWriter(path, points, setup.sampling["surface"], **options)
        cells = recorded_cells(self._part, strided(setup.grid.region, stride))
        across = cells.place[1:] if self._rank.has_top else (slice(0), slice(0))

        def write(block: HostArray, _: range) -> None:
            assert writer is not None  # rank 0 writes
            writer.append_velocity(block)

        shape, place = recorded(setup)["surface"].shape, (slice(None), *across)
        return Output(self._rings["surface"], writer, write, shape, place, self._comm)

    def _volume_output(
        self, section: VolumeOutput, box: BoxSelection, folder: Path, length: int | None
    ) -> Output:
        setup, (hx, hy, hz) = self._setup, self._setup.grid.spacing
        stride, shift = section.stride, (1 - section.stride) / 2
        nz, ny, nx = box.shape
        start = self._first_sample("volumes")
        # A value is that of its block's first cell, so it lies at the centre of that cell.
        origin = shift * hx, shift * hy, shift * hz
        spacing = stride * hx, stride * hy, stride * hz
        writer = None
        if self._comm.first:
            writer = VolumeWriter(
                folder / "volumes.vtkhdf",
                ImageGrid((nx, ny, nz), spacing, origin),
                section.fields,
                attrs={**self._attributes, GRID_SPACING: setup.grid.spacing},
                resume=length,
                dtype=setup.dtype,
            )

        def write(block: HostArray, numbers: range) -> None:
            assert writer is not None  # rank 0 writes
            for n, fields in zip(numbers, block, strict=True):
                time = start + n * setup.sampling["volumes"]
                writer.append(time, dict(zip(section.fields, fields, strict=True)))

        shape, place = (len(section.fields), nz, ny, nx), (slice(None), *box.place)
        return Output(self._rings["volumes"], writer, write, shape, place, self._comm)

    def _options(self, name: str, resume: int | None) -> SeriesOptions:
        """Options of the file of an output."""
        start, dtype = self._first_sample(name), self._setup.dtype
        return SeriesOptions(start=start, attrs=self._attributes, resume=resume, dtype=dtype)

    def _first_sample(self, name: str) -> float:
        """Time of the first sample of an output, s."""
        setup = self._setup
        return setup.time_axis.first_sample(setup.sampling_stride(name), setup.sampling[name])

    # --- places -----------------------------------------------------------------------------------

    def _surface_points(self, stride: int = 1) -> SurfacePoints:
        """The centres of every `stride`-th cell of the surface."""
        grid = self._setup.grid
        x, y = (
            (h * np.arange(0.5, n))[::stride]
            for h, n in zip(grid.spacing[:2], grid.region[:2], strict=True)
        )
        return SurfacePoints.at(x, y, self._setup.geography)
