"""Host-side preparation: reads the medium and the sources, chooses the grid and the time step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import ceil, inf, log10

import numpy as np

from groundswell.arrays import Floats
from groundswell.errors import InputError
from groundswell.exchange.communicator import Communicator, SerialCommunicator
from groundswell.grids.cartesian import Grid, Part, Triple
from groundswell.outputs.cartesian import CartesianDomain
from groundswell.outputs.recording import RecordableField, Recording
from groundswell.simulation.blocks import validated
from groundswell.simulation.kept_parts import kept
from groundswell.solvers.ultrasound.case import UltrasoundCase
from groundswell.solvers.ultrasound.dispersion import absorbing_distance
from groundswell.solvers.ultrasound.fields import AXES
from groundswell.solvers.ultrasound.film_plane import records_of
from groundswell.solvers.ultrasound.initial_pressure import (
    initial_in,
    initial_pressure,
    largest_initial,
    received,
)
from groundswell.solvers.ultrasound.layer_widths import layer_widths
from groundswell.solvers.ultrasound.media import MediumDescription
from groundswell.solvers.ultrasound.media.build import KEPT
from groundswell.solvers.ultrasound.media.case import PROPERTIES
from groundswell.solvers.ultrasound.medium import AcousticMedium, Values
from groundswell.solvers.ultrasound.operators import AbsorbingLayers
from groundswell.solvers.ultrasound.point_source import PointSource
from groundswell.solvers.ultrasound.source_case import SourceSection
from groundswell.solvers.ultrasound.sources import SourceGrid, point_sources, source_strength
from groundswell.solvers.ultrasound.stability import SAFETY, stable_step
from groundswell.solvers.ultrasound.stability_messages import (
    LEAVE_OUT,
    unstable_dispersion,
    unstable_step,
)
from groundswell.solvers.ultrasound.wave_setup import WaveSetup
from groundswell.solvers.ultrasound.window import Window

# Sections that do not change the medium at the points.
BESIDES_MEDIUM = ("title", "time", "initial", "source", "overlap", "output")
HALF_CELLS = ((0.5, 0.0, 0.0), (0.0, 0.5, 0.0), (0.0, 0.0, 0.5))  # offsets of velocities
GROWN = 9  # powers of ten by which pressure exceeds that of the sources only in unstable runs


@dataclass(frozen=True)
class Setup(WaveSetup):
    """A case, with its medium and sources.

    Args:
        comm: the ranks that prepare it.
    """

    case: UltrasoundCase
    comm: Communicator = field(default_factory=SerialCommunicator, compare=False, repr=False)

    step_name, dispersion_cure = "time.step", LEAVE_OUT
    size_cure = 'the grid or boundary.width, or use boundary.width = "auto"'

    recordable = (
        RecordableField("p", "Pa", "acoustic pressure"),
        *(
            RecordableField(
                f"u{axis}", "m s-1", f"particle velocity along {axis}", offset, time_offset=-0.5
            )
            for axis, offset in zip(AXES, HALF_CELLS, strict=True)
        ),
    )

    def validate(self) -> None:
        """Read the medium and the sources, and check them.

        Raises:
            InputError: a part of the case does not fit its grid, or the time step is unstable.
        """
        if self.dispersion_share.waves_grow:
            power, share = self.materials.power, self.dispersion_share
            raise InputError(unstable_dispersion(power, share, self.dispersion_cure))
        if self.dt > self.stability_limit:
            step = f"{self.step_name} = {self.dt:g} s"
            raise InputError(
                unstable_step(self.materials, self.reference_speed, self.stability_limit, step)
            )
        self.require_few_materials()
        if self.axes == 2 and any("uz" in record.fields for record in self.case.output.record):
            raise InputError("output.record: uz is for three dimensions; the grid has two")
        _ = self.layers, self.sources, self._largest_initial

    # --- the grid ---------------------------------------------------------------------------------

    @property
    def axes(self) -> int:
        """Number of axes: 2 or 3."""
        return 3 if self.case.grid.counts[2] > 1 else 2

    @cached_property
    def grid(self) -> Grid:
        """The region, with the absorbing layers around it unless they are inside."""
        region, spacing = self.case.grid.counts, self.case.grid.spacings
        if self.case.boundary.inside:
            return Grid(region, spacing)
        return Grid(region, spacing, *self._widths)

    @property
    def layers(self) -> AbsorbingLayers:
        """The absorbing layers."""
        return AbsorbingLayers(*self._widths, (self.case.boundary.strength,) * 3)

    @cached_property
    def _widths(self) -> tuple[Triple, Triple]:
        """Widths of the absorbing layers on the low and the high sides (x, y, z), points."""
        return layer_widths(self.case.grid, self.case.boundary)

    @property
    def origin(self) -> tuple[float, float, float]:
        """Position of the first point of the region (x, y, z), m."""
        x, y, z = self.case.grid.origin
        return x, y, z

    @property
    def positions(self) -> list[Floats]:
        """Coordinates of all points along x, y and z, those in absorbing layers too, m."""
        return [self.coordinates(axis) for axis in range(3)]

    # --- medium, sources and time step ------------------------------------------------------------

    @cached_property
    def _medium_digest(self) -> tuple[str, int]:
        """Everything on which the medium at the points depends."""
        return self.case.digest_with_files(without=BESIDES_MEDIUM), self.comm.size

    @cached_property
    def _description(self) -> MediumDescription:
        return kept("medium", lambda: self._medium_digest, self._describe)

    def _describe(self) -> MediumDescription:
        origin, last = np.array(self.case.grid.origin), np.array(self.case.grid.counts) - 1
        high = origin + last * np.array(self.case.grid.spacings)
        keep, positions = KEPT // self.comm.size, self.positions  # ranks may share a host
        return MediumDescription(self.case.medium, positions, (origin, high), self.dtype, keep)

    @cached_property
    def medium(self) -> AcousticMedium:
        """The medium at all points; before a run, `materials` suffices and takes less memory."""
        return self._description.medium()

    def medium_in(self, window: Window) -> AcousticMedium:
        """The medium at the points of a window, with the equations of the whole medium."""
        if window.cells == window.whole:
            return self.medium
        return self._description.medium_in(window)

    @property
    def materials(self) -> AcousticMedium:
        """Some points of the medium, (points,), among them all extremes; see `Representatives`."""
        return self._description.representatives

    @property
    def medium_notes(self) -> list[str]:
        """Notes for users about the file of the medium."""
        return self._description.notes

    @property
    def material_count(self) -> int | None:
        """Number of different materials; None if there are more than a table of classes has."""
        return self._description.material_count

    @property
    def reference_speed(self) -> float:
        """Sound speed of the k-space correction, m/s."""
        return self.case.time.reference_speed or self.largest_speed

    @cached_property
    def stability_limit(self) -> float:
        """A step up to which all steps are stable, s; see `stable_step`. `prepare` finds it."""
        given = self.reference_speed, self._wanted_step / SAFETY
        find = self._description.lossless_in, self.comm
        return kept(
            "stable step",
            lambda: (self._medium_digest, given),
            lambda: stable_step(self.materials, self.grid, *given, *find),
        )

    @cached_property
    def absorbing_distance(self) -> float:
        """Length of the path of a wave through the strongest absorption, m."""
        absorption = self.materials.absorption
        if np.ndim(absorption) == 0:
            return super().absorbing_distance
        return kept("absorbing distance", lambda: self._medium_digest, self._absorbing_distance)

    def _absorbing_distance(self) -> float:
        largest = float(np.max(self.materials.absorption))
        found = absorbing_distance(self._description.absorption_in, largest, self.grid)
        self._description.release()
        return found

    @property
    def courant_step(self) -> float:
        """The step with the Courant number of the case, s."""
        return self.case.time.courant * self.smallest_spacing / self.largest_speed

    @property
    def _wanted_step(self) -> float:
        """The step of the case or, by default, that with its Courant number, s."""
        step = self.case.time.step
        return self.courant_step if step == "auto" else step

    @cached_property
    def steps(self) -> int:
        """Number of steps of the run."""
        wanted = self._wanted_step
        if self.case.time.step == "auto":
            wanted = min(wanted, SAFETY * self.stability_limit)
        return max(1, ceil(self.case.time.duration / wanted - 1e-9))

    @property
    def dt(self) -> float:
        """The time step, s; the duration is a multiple of it."""
        return float(self.case.time.duration) / self.steps

    @cached_property
    def sources(self) -> list[PointSource]:
        """The time-dependent sources at all points."""
        return point_sources(self.case.source, self.source_grid)

    @property
    def source_grid(self) -> SourceGrid:
        """The grid on which the sources act."""
        speeds = self._description.speeds
        return SourceGrid(self.grid, self.case.grid.origin, speeds, self.dt, self.steps)

    @cached_property
    def initial(self) -> Floats | None:
        """The initial pressure at all points, (nz, ny, nx), Pa; None without `[initial]`."""
        if self.case.initial is None:
            return None
        return initial_pressure(self.case.initial, self.grid, self.positions)

    @cached_property
    def _largest_initial(self) -> float:
        """Largest magnitude of the initial pressure, Pa; 0 without one."""
        section = self.case.initial
        if section is None:
            return 0.0
        return largest_initial(section, self.grid, self.positions)

    @property
    def starts_with_pressure(self) -> bool:
        """Whether there is an initial pressure."""
        return self.case.initial is not None

    def initial_in(self, window: Window) -> Values:
        """The initial pressure at the points of a window, (nz, ny, nx), Pa; 0 without one.

        All ranks of a case with smoothing must call it: the first one smooths all values.
        """
        section = self.case.initial
        if section is None:
            return 0.0
        if window.cells == window.whole:
            return np.asarray(self.initial)
        if not section.smooth:
            return initial_in(section, self.grid, self.positions, window)
        whole = self.comm.collective_try(
            lambda: (
                initial_pressure(section, self.grid, self.positions) if self.comm.first else None
            )
        )
        return received(whole, window, self.comm)

    @property
    def source_sections(self) -> Sequence[SourceSection]:
        """The tables `[[source]]`."""
        return self.case.source

    @property
    def implausible_pressure(self) -> float:
        """A pressure that only an unstable run reaches, a power of ten, Pa; infinite if unknown."""
        medium = self.materials
        strength = sum(source_strength(source, medium, self.axes) for source in self.sources)
        strength += self._largest_initial
        return 10.0 ** ceil(log10(strength) + GROWN) if strength else inf

    # --- outputs ----------------------------------------------------------------------------------

    def recording(self, part: Part) -> Recording:
        """The recordable fields of a rank's part."""
        x, y, z = self.origin
        low = [at - h / 2 for at, h in zip((x, y, z), self.grid.spacing, strict=True)]
        sizes = zip(low, self.grid.region, self.grid.spacing, strict=True)
        a, b, c = (first + n * h for first, n, h in sizes)
        domain = CartesianDomain(part, (x, y, z), (low[0], low[1], low[2]), (a, b, c))
        fields = {field.name: field for field in self.recordable[: self.axes + 1]}
        attrs = {"title": self.case.title, "time_step": self.dt}
        return Recording(domain, fields, self.dtype, self.dt, attrs=attrs, steps=self.steps)

    def output_memory(self, part: Part) -> int:
        """Device memory of what a part of the grid records, bytes."""
        return self.recording(part).device_bytes(records_of(self.case.output, self))

    @property
    def output_bytes(self) -> int:
        """Size of the output files, bytes."""
        records = self.recording(self.whole).file_bytes(
            records_of(self.case.output, self), self.steps
        )
        values = (getattr(self.materials, name) for name in PROPERTIES)
        arrays = self.case.output.medium * sum(np.ndim(value) > 0 for value in values)
        return records + arrays * self.itemsize * int(np.prod(self.grid.region, dtype=np.int64))


def prepare(case: UltrasoundCase, comm: Communicator | None = None) -> Setup:
    """Read the medium and the sources of a case, and check them; all ranks must call it.

    Raises:
        InputError: a part of the case does not fit its grid, or the time step is unstable.
    """
    job = comm or SerialCommunicator()
    setup = Setup(case, job)
    limit = job.collective_try(lambda: setup.stability_limit)
    vars(setup)["stability_limit"] = job.bcast(limit)  # hosts may round differently
    return validated(setup)
