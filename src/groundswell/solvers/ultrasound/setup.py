"""Host-side preparation: reads the medium and the sources, chooses the grid and the time step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import ceil, inf, log10
from sys import maxsize

import numpy as np
from numpy.typing import NDArray

from groundswell.errors import InputError
from groundswell.exchange.communicator import Communicator
from groundswell.exchange.decomposition import Decomposition
from groundswell.grids.cartesian import Grid, Part, Triple
from groundswell.outputs.cartesian import CartesianDomain
from groundswell.outputs.recording import RecordableField, Recording
from groundswell.simulation.blocks import BlockSetup, validated
from groundswell.simulation.exchanging import part_of
from groundswell.solvers.ultrasound.case import UltrasoundCase
from groundswell.solvers.ultrasound.dispersion import absorbing_distance
from groundswell.solvers.ultrasound.fast_sizes import cheapest_size
from groundswell.solvers.ultrasound.fields import AXES
from groundswell.solvers.ultrasound.initial_pressure import check_initial, initial_pressure
from groundswell.solvers.ultrasound.line_transforms import fits
from groundswell.solvers.ultrasound.media import MediumDescription
from groundswell.solvers.ultrasound.medium import AcousticMedium
from groundswell.solvers.ultrasound.operators import AbsorbingLayers, SpectralOperators
from groundswell.solvers.ultrasound.overlap_choice import Overlaps
from groundswell.solvers.ultrasound.overlap_error import OverlapError
from groundswell.solvers.ultrasound.point_source import PointSource
from groundswell.solvers.ultrasound.separable import Term, separate
from groundswell.solvers.ultrasound.source_waves import emitted_wave, points_per_wavelength
from groundswell.solvers.ultrasound.sources import SourceGrid, point_sources, source_strength
from groundswell.solvers.ultrasound.stability import SAFETY, DispersionShare, stable_step
from groundswell.solvers.ultrasound.stability_messages import growing_waves, unstable_step
from groundswell.solvers.ultrasound.window import Window

WIDTHS = {2: (20, 40), 3: (10, 20)}  # range of automatic layer widths, by number of axes
HALF_CELLS = ((0.5, 0.0, 0.0), (0.0, 0.5, 0.0), (0.0, 0.0, 0.5))  # offsets of velocities
GROWN = 9  # powers of ten by which pressure exceeds that of the sources only in unstable runs


@dataclass(frozen=True)
class Setup(BlockSetup):
    """A case, with its medium and sources at all points of its grid."""

    case: UltrasoundCase

    recordable = (
        RecordableField("p", "Pa", "acoustic pressure"),
        *(
            RecordableField(
                f"u{axis}",
                "m s-1",
                f"particle velocity along {axis}",
                offset,
                time_offset=-0.5,
            )
            for axis, offset in zip(AXES, HALF_CELLS, strict=True)
        ),
    )
    periodic = (True, True, True)

    def validate(self) -> None:
        """Read the medium and the sources, and check them.

        Raises:
            InputError: a part of the case does not fit its grid, or the time step is unstable.
        """
        if self.dispersion_share.waves_grow:
            raise InputError(growing_waves(self.materials.power, self.dispersion_share))
        if self.dt > self.stability_limit:
            step = f"time.step = {self.dt:g} s"
            raise InputError(
                unstable_step(self.materials, self.reference_speed, self.stability_limit, step)
            )
        if self.axes == 2 and any("uz" in record.fields for record in self.case.output.record):
            raise InputError("output.record: uz is for three dimensions; the grid has two")
        _ = self.layers, self.sources
        if self.case.initial is not None:
            check_initial(self.case.initial, self.grid, self._positions)

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
        pairs = [self._pair(axis) for axis in range(self.axes)]
        (x0, x1), (y0, y1), (z0, z1) = [*pairs, (0, 0)][:3]
        return (x0, y0, z0), (x1, y1, z1)

    def _pair(self, axis: int) -> tuple[int, int]:
        """Widths of the absorbing layers at both ends of an axis, points.

        Automatic widths make transforms fast; they may differ by one point.
        """
        wanted, n = self.case.boundary.width, self.case.grid.counts[axis]
        least, most = WIDTHS[self.axes]
        if wanted == "auto" and not self.case.boundary.inside:
            margin = cheapest_size(n + 2 * least, n + 2 * most) - n
            return margin // 2, margin - margin // 2
        width = least if wanted == "auto" else wanted
        chosen = width[axis] if isinstance(width, tuple) else int(width)
        if self.case.boundary.inside and 2 * chosen >= n:
            raise InputError(
                f"boundary.width = {chosen} leaves no point of {n} along {'xyz'[axis]}; give at "
                f"most {(n - 1) // 2}, or inside = false"
            )
        return chosen, chosen

    def coordinates(self, axis: int) -> NDArray[np.float64]:
        """Positions of all points along an axis, absorbing layers included, m."""
        first, h = self.case.grid.origin[axis], self.grid.spacing[axis]
        points = np.arange(self.grid.cells[axis]) - self.grid.before[axis]
        return np.asarray(first + h * points, np.float64)

    @property
    def _positions(self) -> list[NDArray[np.float64]]:
        """`coordinates` along x, y and z."""
        return [self.coordinates(axis) for axis in range(3)]

    # --- medium, sources and time step ------------------------------------------------------------

    @cached_property
    def _description(self) -> MediumDescription:
        origin, last = np.array(self.case.grid.origin), np.array(self.case.grid.counts) - 1
        high = origin + last * np.array(self.case.grid.spacings)
        return MediumDescription(self.case.medium, self._positions, (origin, high), self.dtype)

    @cached_property
    def medium(self) -> AcousticMedium:
        """The medium at all points; before a run, `materials` suffices and takes less memory."""
        return self._description.medium()

    @property
    def materials(self) -> AcousticMedium:
        """Some points of the medium, (points,), among them all extremes; see `Representatives`."""
        return self._description.representatives

    @property
    def largest_speed(self) -> float:
        """Largest sound speed, m/s."""
        return float(np.max(self.materials.speed))

    @property
    def smallest_speed(self) -> float:
        """Smallest sound speed, m/s."""
        return float(np.min(self.materials.speed))

    @property
    def smallest_spacing(self) -> float:
        """Smallest distance of points, m."""
        return min(self.grid.spacing[: self.axes])

    @property
    def widest_spacing(self) -> float:
        """Largest distance of points, m."""
        return max(self.grid.spacing[: self.axes])

    @property
    def points_per_wavelength(self) -> float | None:
        """See `source_waves.points_per_wavelength`."""
        return points_per_wavelength(self.case.source, self.materials, self.widest_spacing)

    @property
    def highest_frequency(self) -> float:
        """Highest frequency that the grid resolves everywhere, at 2 points per wavelength, Hz."""
        return self.smallest_speed / (2 * self.widest_spacing)

    @property
    def reference_speed(self) -> float:
        """Sound speed of the k-space correction, m/s."""
        return self.case.time.reference_speed or self.largest_speed

    @cached_property
    def stability_limit(self) -> float:
        """A step up to which all steps are stable, s; see `stable_step`."""
        return stable_step(
            self.materials,
            self.grid,
            self.reference_speed,
            self._wanted_step / SAFETY,
            whole=lambda: self.medium,
        )

    @cached_property
    def dispersion_share(self) -> DispersionShare:
        """The fraction by which dispersion reduces the stiffness."""
        return DispersionShare.of(self.materials, self.grid)

    @cached_property
    def absorbing_distance(self) -> float:
        """Length of the path of a wave through the strongest absorption, m."""
        absorption = self.materials.absorption
        if np.ndim(absorption) == 0:
            sides = np.multiply(self.grid.region, self.grid.spacing)
            return float(sides[: self.axes].max())
        planes, largest = self._description.absorption(), float(np.max(absorption))
        return absorbing_distance(planes, largest, self.grid)

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
        speeds = self._description.speeds
        on = SourceGrid(self.grid, self.case.grid.origin, speeds, self.dt, self.steps)
        return point_sources(self.case.source, on)

    @cached_property
    def separated_sources(self) -> tuple[list[Term], list[PointSource]]:
        """Terms of the sources, and sources without terms; see `separate`."""
        return separate(self.sources, self.dtype)

    @cached_property
    def initial(self) -> NDArray[np.float64] | None:
        """The initial pressure at all points, (nz, ny, nx), Pa; None without `[initial]`."""
        if self.case.initial is None:
            return None
        return initial_pressure(self.case.initial, self.grid, self._positions)

    @property
    def implausible_pressure(self) -> float:
        """A pressure that only an unstable run reaches, a power of ten, Pa; infinite if unknown."""
        medium = self.materials
        strength = sum(source_strength(source, medium, self.axes) for source in self.sources)
        if self.initial is not None:
            strength += float(np.abs(self.initial).max())
        return 10.0 ** ceil(log10(strength) + GROWN) if strength else inf

    # --- parts of ranks ---------------------------------------------------------------------------

    @cached_property
    def overlaps(self) -> Overlaps:
        """The overlaps of the blocks of ranks, and their expected error."""
        wave = emitted_wave(self.case.source, self.materials, self.grid, self.widest_spacing)
        error = OverlapError.of(self.materials, wave)
        return Overlaps(self.case.overlap, self.grid, self.sources, error)

    def window(self, part: Part, ranks: Sequence[int]) -> Window:
        """The points that a rank transforms.

        Args:
            ranks: number of ranks along x, y and z.
        """
        overlap, wavenumber = self.overlaps.of(ranks), self.overlaps.error.shape_wavenumber
        return Window(self.grid.cells, part.start, part.cells, overlap, wavenumber)

    def supports_fused(self, cut: Decomposition, shared_bytes: int = maxsize) -> bool:
        """Whether the fused step supports the windows of all ranks; they must use the same step.

        Args:
            shared_bytes: shared memory of a block of the device; by default, there is enough.
        """
        ranks = cut.processes[::-1]
        parts = (part_of(self.grid, cut, rank) for rank in range(cut.ranks))
        shapes = {self.window(part, ranks).extended[::-1] for part in parts}
        return all(fits(shape, self.dtype, shared_bytes) for shape in shapes)

    def operators(self, window: Window) -> SpectralOperators:
        """The operators of a rank's window."""
        grid = Grid(window.extended, self.grid.spacing)
        return SpectralOperators(grid, self.dt, self.reference_speed, self.layers, window)

    @property
    def exchanged_fields(self) -> int:
        """Number of fields whose overlaps ranks exchange in a step."""
        return 1 + self.axes + self.materials.fractional_laplacians

    def recording(self, part: Part) -> Recording:
        """The recordable fields of a rank's part."""
        x, y, z = self.case.grid.origin
        halves = [h / 2 for h in self.grid.spacing]
        low = [at - half for at, half in zip((x, y, z), halves, strict=True)]
        sizes = zip(low, self.grid.region, self.grid.spacing, strict=True)
        a, b, c = (first + n * h for first, n, h in sizes)
        domain = CartesianDomain(part, (x, y, z), (low[0], low[1], low[2]), (a, b, c))
        fields = {field.name: field for field in self.recordable[: self.axes + 1]}
        attrs = {"title": self.case.title, "time_step": self.dt}
        return Recording(domain, fields, self.dtype, self.dt, attrs=attrs, steps=self.steps)


def prepare(case: UltrasoundCase, comm: Communicator | None = None) -> Setup:
    """Read the medium and the sources of a case, and check them.

    Raises:
        InputError: a part of the case does not fit its grid, or the time step is unstable.
    """
    return validated(Setup(case))
