"""What the set-ups of cases and of k-Wave's files have in common."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from functools import cached_property
from sys import maxsize

import numpy as np

from groundswell.arrays import Floats
from groundswell.exchange.decomposition import Decomposition
from groundswell.grids.cartesian import Grid, Part
from groundswell.simulation.blocks import BlockSetup
from groundswell.simulation.exchanging import part_of
from groundswell.simulation.material_classes import too_many_classes
from groundswell.solvers.ultrasound.line_transforms import fits
from groundswell.solvers.ultrasound.losses import SourceLosses
from groundswell.solvers.ultrasound.medium import AcousticMedium, Values
from groundswell.solvers.ultrasound.operators import AbsorbingLayers, SpectralOperators
from groundswell.solvers.ultrasound.overlap_choice import Overlaps
from groundswell.solvers.ultrasound.overlap_error import OverlapError
from groundswell.solvers.ultrasound.point_source import PointSource
from groundswell.solvers.ultrasound.pulses import Pulses, pulses_of
from groundswell.solvers.ultrasound.separable import Term, separate
from groundswell.solvers.ultrasound.source_case import SourceSection
from groundswell.solvers.ultrasound.source_waves import (
    emitted_pressure,
    emitted_wave,
    frequencies,
    points_per_wavelength,
    pressure_of_signals,
)
from groundswell.solvers.ultrasound.stability import DispersionShare
from groundswell.solvers.ultrasound.window import Window


class WaveSetup(BlockSetup):
    """The grid, the medium, the sources and the time step of a simulation.

    Subclasses define where these come from.

    Attributes:
        step_name: name of the time step, for messages.
        dispersion_cure: how to leave out dispersion, if that is possible; for messages.
        size_cure: what to change for other numbers of points; for messages.
    """

    periodic = (True, True, True)
    step_name: str
    dispersion_cure: str
    size_cure: str

    @property
    def source_sections(self) -> Sequence[SourceSection]:
        """Descriptions of the sources, with frequencies and amplitudes; none if unknown."""
        return ()

    @property
    def medium_notes(self) -> Sequence[str]:
        """Notes for users about the file of the medium."""
        return ()

    @property
    def origin(self) -> tuple[float, float, float]:
        """Position of the first point of the region (x, y, z), m."""
        return (0.0, 0.0, 0.0)

    @property
    @abstractmethod
    def starts_with_pressure(self) -> bool:
        """Whether there is an initial pressure."""

    @property
    @abstractmethod
    def stability_limit(self) -> float:
        """A step up to which all steps are stable, s; see `stable_step`."""

    @property
    @abstractmethod
    def axes(self) -> int:
        """Number of axes: 2 or 3."""

    @property
    @abstractmethod
    def layers(self) -> AbsorbingLayers:
        """The absorbing layers."""

    @property
    @abstractmethod
    def materials(self) -> AcousticMedium:
        """Some points of the medium, (points,), among them all extremes; see `Representatives`."""

    @property
    def given_densities(self) -> int:
        """Number of axes for which the input has the densities at velocity points: all or none."""
        return 0

    @property
    @abstractmethod
    def material_count(self) -> int | None:
        """Number of different materials; None if there are more than a table of classes has."""

    @property
    @abstractmethod
    def reference_speed(self) -> float:
        """Sound speed of the k-space correction, m/s."""

    @property
    @abstractmethod
    def sources(self) -> Sequence[PointSource]:
        """The time-dependent sources at all points."""

    @property
    @abstractmethod
    def implausible_pressure(self) -> float:
        """A pressure that only an unstable run reaches, Pa; infinite if unknown."""

    @abstractmethod
    def medium_in(self, window: Window) -> AcousticMedium:
        """The medium at the points of a window, with the equations of the whole medium."""

    @abstractmethod
    def initial_in(self, window: Window) -> Values:
        """The initial pressure at the points of a window, (nz, ny, nx), Pa; 0 without one."""

    @abstractmethod
    def output_memory(self, part: Part) -> int:
        """Device memory of what a part of the grid records, bytes."""

    @property
    @abstractmethod
    def output_bytes(self) -> int:
        """Size of the output files, bytes."""

    # --- derived values ---------------------------------------------------------------------------

    def coordinates(self, axis: int) -> Floats:
        """Positions of all points along an axis, absorbing layers included, m."""
        first, h = self.origin[axis], self.grid.spacing[axis]
        points = np.arange(self.grid.cells[axis]) - self.grid.before[axis]
        return np.asarray(first + h * points, np.float64)

    @property
    def absorbing_distance(self) -> float:
        """Length of the path of a wave through the strongest absorption, at most a side, m."""
        sides = np.multiply(self.grid.region, self.grid.spacing)
        return float(sides[: self.axes].max())

    @property
    def largest_speed(self) -> float:
        """Largest sound speed, m/s."""
        return float(np.max(self.materials.speed))

    @property
    def smallest_speed(self) -> float:
        """Smallest sound speed, m/s."""
        return float(np.min(self.materials.speed))

    @property
    def widest_spacing(self) -> float:
        """Largest distance of points, m."""
        return max(self.grid.spacing[: self.axes])

    @property
    def points_per_wavelength(self) -> float | None:
        """Points per shortest wavelength of sources; None if no source has a frequency."""
        return points_per_wavelength(self.source_sections, self.materials, self.widest_spacing)

    @property
    def smallest_spacing(self) -> float:
        """Smallest distance of points, m."""
        return min(self.grid.spacing[: self.axes])

    @property
    def highest_frequency(self) -> float:
        """Highest frequency that the grid resolves everywhere, at 2 points per wavelength, Hz."""
        return self.smallest_speed / (2 * self.widest_spacing)

    @cached_property
    def dispersion_share(self) -> DispersionShare:
        """The fraction by which dispersion reduces the stiffness."""
        return DispersionShare.of(self.materials, self.grid)

    @cached_property
    def separated_sources(self) -> tuple[list[Term], list[PointSource]]:
        """Terms of the sources, and sources without terms; see `separate`."""
        return separate(self.sources, self.dtype)

    @property
    def losses(self) -> SourceLosses:
        """Losses of the waves that the sources emit."""
        found = frequencies(self.source_sections)
        return SourceLosses(self.materials, found, self.reference_speed, self.dt)

    @property
    def in_classes(self) -> bool:
        """Whether materials are stored as classes."""
        return bool(self.case.run.materials == "classes")

    def require_few_materials(self) -> None:
        """Raise InputError if materials are stored as classes and there are too many."""
        if self.in_classes and self.material_count is None:
            raise too_many_classes()

    # --- parts of ranks ---------------------------------------------------------------------------

    @cached_property
    def overlaps(self) -> Overlaps:
        """The overlaps of the blocks of ranks, and their expected error."""
        sections, pulses, widest = self.source_sections, self.pulses, self.widest_spacing
        pressure = self.emitted_pressure
        wave = emitted_wave(sections, pulses, pressure, self.materials, self.grid, widest)
        error = OverlapError.of(self.materials, wave, pulses)
        return Overlaps(self.case.overlap, self.grid, self.sources, error)

    @property
    def emitted_pressure(self) -> float:
        """Largest pressure that the sources emit, Pa."""
        if self.source_sections:
            return emitted_pressure(self.source_sections, self.materials)
        widest = self.widest_spacing
        return pressure_of_signals(self.sources, self.materials, self.axes, widest, self.dt)

    @cached_property
    def pulses(self) -> Sequence[Pulses]:
        """The signals of the sources, unless all have frequencies."""
        sections = self.source_sections
        if sections and len(frequencies(sections)) == len(sections):
            return ()
        return pulses_of(self.sources, self.dt * self.smallest_speed / self.widest_spacing)

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
