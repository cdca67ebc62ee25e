"""Host-side preparation: reads the input, chooses the time step, estimates memory."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from groundswell.errors import InputError
from groundswell.exchange.communicator import Communicator
from groundswell.grids.cartesian import Grid, Layout, Part
from groundswell.grids.geography import Geography
from groundswell.seismology.anelasticity import fit_case
from groundswell.seismology.attenuation import Relaxation
from groundswell.seismology.case.boundaries import cells_across
from groundswell.seismology.formats.sac_mseed import require_formats
from groundswell.seismology.media.build import build_medium
from groundswell.seismology.media.material import Material, Medium, lame
from groundswell.seismology.media.profile import find_profile
from groundswell.seismology.media.statistics import MediumStatistics, medium_statistics
from groundswell.seismology.receivers import Receiver, place_receivers
from groundswell.seismology.sources.build import build_sources
from groundswell.seismology.sources.entries import SourceEntry
from groundswell.seismology.sources.event import SourceSummary
from groundswell.seismology.sources.placement import require_sources_inside
from groundswell.seismology.sources.point_sources import PointSource, SourceContext
from groundswell.seismology.sources.spectra import highest_frequency
from groundswell.seismology.time_steps import TimeAxis, dividing_step, require_feasible_steps
from groundswell.solvers.earthquake import moduli, validation
from groundswell.solvers.earthquake.absorbing_reflection import AbsorbedBand
from groundswell.solvers.earthquake.effective import Rows, effective_rows
from groundswell.solvers.earthquake.matched_layers import absorbed_frequencies
from groundswell.solvers.earthquake.materials import find_phases
from groundswell.solvers.earthquake.passivity import make_passive
from groundswell.solvers.earthquake.phase_interpolation import Interpolation
from groundswell.solvers.earthquake.phases import Phases
from groundswell.solvers.earthquake.sampling import Samples, recorded, recording
from groundswell.solvers.earthquake.stability import POINTS_PER_WAVELENGTH, equivalent_speed
from groundswell.time_integration.step_limits import staggered_leapfrog

FIELDS = {False: 12, True: 20}  # arrays of all cells, without and with attenuation
SAFETY = 0.97  # automatic time step over the stability limit


@dataclass(frozen=True)
class Setup:
    """A validated case with its grid, medium, sources, receivers and time step.

    Args:
        statistics: extremes of the medium.
        relaxation: relaxation mechanisms; None without attenuation.
    """

    has_fixed_steps: ClassVar[bool] = True

    case: Any
    grid: Grid
    geography: Geography | None
    medium: Medium
    statistics: MediumStatistics
    relaxation: Relaxation | None

    @property
    def double(self) -> bool:
        """Whether the run is in double precision."""
        return bool(self.case.run.precision == "double")

    @property
    def dtype(self) -> str:
        """NumPy name of the floating-point type."""
        return "float64" if self.double else "float32"

    @property
    def layout(self) -> Layout:
        """Memory layout of a field."""
        return Layout(self.grid.cells, np.dtype(self.dtype).itemsize)

    @property
    def periodic(self) -> bool:
        """Whether x and y are periodic."""
        return bool(self.case.boundary.sides == "periodic")

    @property
    def free_surface(self) -> bool:
        """Whether z = 0 is a free surface."""
        return bool(self.case.boundary.top == "free-surface")

    @property
    def reference_frequency(self) -> float:
        """Frequency at which the wave speeds of the medium apply, Hz."""
        return float(getattr(self.case.attenuation, "reference", 1.0))

    def properties(self, material: Material) -> dict[str, NDArray[np.floating]]:
        """The moduli and inverse quality factors of a material in the form of the solver."""
        return moduli.properties(material, self.relaxation, self.reference_frequency)

    @cached_property
    def rows(self) -> Rows | None:
        """Parameters of the depth rows if the medium varies along z only; otherwise None."""
        profile = find_profile(self.medium)
        if profile is None or len(profile.interfaces) == 1:
            return None
        rows = effective_rows(profile, self.grid, self.properties, mirrored=self.free_surface)
        return make_passive(rows, self.relaxation) if self.relaxation else rows

    @cached_property
    def phases(self) -> Phases | None:
        """Which cells are fluid and which are solid; None if there is no fluid."""
        return find_phases(self)

    @cached_property
    def interpolation(self) -> Interpolation:
        """The weights of grid values at sources and receivers."""
        return Interpolation(self.grid, self.free_surface, self.phases)

    @cached_property
    def max_wave_speed(self) -> float:
        """Speed of the fastest P wave, m/s; unrelaxed if the medium is anelastic."""
        if self.relaxation is None or self.statistics.qp_min is None:
            return self.statistics.vp_max
        ratio = self.relaxation.modulus_ratio(1 / self.statistics.qp_min, self.reference_frequency)
        return self.statistics.vp_max * float(np.sqrt(ratio))

    @cached_property
    def limiting_speed(self) -> float:
        """Wave speed that limits the time step, m/s.

        This is the speed of the fastest P wave, or of faster waves that interfaces and layers
        thinner than a cell guide on the grid.
        """
        bound = equivalent_speed(self.rows, self.grid.spacing) if self.rows else 0.0
        return max(self.max_wave_speed, bound)

    @property
    def stability_limit(self) -> float:
        """Stability limit of the time step, s."""
        spacing = self.grid.spacing
        return staggered_leapfrog(spacing, self.limiting_speed, free_surface=self.free_surface)

    @property
    def longest_stable_step(self) -> float:
        """Longest automatic time step, s."""
        return SAFETY * self.stability_limit

    @cached_property
    def dt(self) -> float:
        """Time step, s: `time.step`, or the longest stable one that divides the sampling interval.

        Raises:
            InputError: the step of the case is unstable or far too short, or the sampling interval
                is too short.
        """
        step = self._choose_step()
        require_feasible_steps(step, self.case.time.duration)
        return step

    def _choose_step(self) -> float:
        step = self.case.time.step
        if step == "auto":
            return dividing_step(self.longest_stable_step, self.case.output.seismograms.interval)
        if step > self.stability_limit:
            raise InputError(
                f"time.step = {step:g} s is unstable: the limit is {self.stability_limit:.6g} s "
                f"for cells of {min(self.grid.spacing):g} m and waves of {self.limiting_speed:g} "
                'm/s; shorten it, or use "auto"'
            )
        return float(step)

    @cached_property
    def time_axis(self) -> TimeAxis:
        """The times of all steps."""
        stride = self.sampling_stride("seismograms")
        return TimeAxis.of(self.sources, self.dt, stride, self.case.time.duration)

    @property
    def steps(self) -> int:
        """Number of time steps of the run."""
        return self.time_axis.steps

    def sampling_stride(self, section: str) -> int:
        """Number of steps between samples of an output section; 1 without an interval.

        The interval of seismograms is exact, for comparison with recordings. The intervals of
        surface and volumes are rounded to whole steps, so that they do not shorten the time step.

        Raises:
            InputError: the interval of seismograms is not a whole number of steps.
        """
        interval = getattr(self.case.output, section).interval
        if interval is None:
            return 1
        steps = max(1, round(interval / self.dt))
        if section == "seismograms" and abs(steps * self.dt - interval) > 1e-6 * interval:
            raise InputError(
                f"output.seismograms.interval = {interval:g} s is not a whole number of steps of "
                f'{self.dt:.9g} s; use a multiple, or time.step = "auto"'
            )
        return steps

    @property
    def sampling(self) -> dict[str, float]:
        """Actual sampling interval of each output section that has samples, s."""
        output = self.case.output
        is_recorded = {
            "seismograms": bool(self.receivers),
            "surface": output.surface is not None,
            "volumes": output.volumes is not None,
        }
        intervals = {
            name: self.sampling_stride(name) * self.dt
            for name, recorded in is_recorded.items()
            if recorded
        }
        return {name: float(f"{interval:.12g}") for name, interval in intervals.items()}

    @property
    def resolved_frequency(self) -> float:
        """Frequency at which the slowest wave spans POINTS_PER_WAVELENGTH cells, Hz."""
        return self.statistics.speed_min / (POINTS_PER_WAVELENGTH * max(self.grid.spacing))

    @cached_property
    def source_frequency(self) -> float:
        """Frequency below which every source has 99 % of its energy, Hz."""
        return highest_frequency(self.sources)

    @property
    def points_per_wavelength(self) -> float:
        """Number of cells that the slowest wave spans at `source_frequency`."""
        return self.statistics.speed_min / (self.source_frequency * max(self.grid.spacing))

    @cached_property
    def source_summary(self) -> SourceSummary:
        """Net moment tensor, magnitude and centroid of all sources."""
        return SourceSummary.from_entries(self.source_entries)

    @cached_property
    def sources(self) -> list[PointSource]:
        """All point sources."""
        return [point for entry in self.source_entries for point in entry.points]

    @cached_property
    def source_entries(self) -> list[SourceEntry]:
        """The `[[source]]` entries of the case as point sources."""
        context = SourceContext(
            self.geography,
            self.dt,
            self.case.time.duration,
            self.grid.spacing,
            rigidity=moduli.rigidity(self.medium),
            lame=moduli.at_positions(self.medium, lambda material: lame(material)[0]),
            density=moduli.at_positions(self.medium, lambda material: material.rho),
        )
        return build_sources(self.case.source, context)

    @cached_property
    def receivers(self) -> list[Receiver]:
        """All receivers, including those of a station file."""
        return place_receivers(self.case)

    @property
    def extent(self) -> tuple[float, float, float]:
        """Size of the region (x, y, z), m."""
        x, y, z = (n * h for n, h in zip(self.grid.region, self.grid.spacing, strict=True))
        return x, y, z

    @property
    def side_width(self) -> int:
        """Width of the absorbing layers at the sides, cells."""
        return max(self.grid.before[:2])

    @cached_property
    def absorbed_frequencies(self) -> AbsorbedBand | None:
        """Band in which matched layers reflect only a small fraction of plane waves, or None."""
        return absorbed_frequencies(self)

    @property
    def has_pml(self) -> bool:
        """Whether absorbing layers are perfectly matched layers; otherwise a sponge."""
        return self.case.boundary.sides != "sponge"

    @cached_property
    def samples(self) -> dict[str, Samples]:
        """Samples to record, by output section."""
        return recorded(self)


def prepare(case: Any, comm: Communicator | None = None) -> Setup:
    """Read and check the data of a case; ranks divide the reading of the medium.

    Raises:
        InputError: the data do not fit the case, or the case cannot run.
    """
    grid = build_grid(case)
    layout = Layout(grid.cells, 8 if case.run.precision == "double" else 4)
    validation.require_feasible_size(layout, FIELDS[case.attenuation.model != "none"])
    geography = case.grid.frame
    medium = build_medium(case.medium, grid.region, grid.spacing, geography)
    statistics = medium_statistics(medium, comm)
    relaxation = fit_case(case.attenuation, statistics)
    setup = Setup(case, grid, geography, medium, statistics, relaxation)
    _validate(setup)
    return setup


def _validate(setup: Setup) -> None:
    """Evaluate all that may raise `InputError`, so that a run does not fail later."""
    _ = setup.sampling_stride("seismograms")
    if setup.receivers:
        require_formats(setup.case.output.seismograms.formats)
        validation.require_two_samples(setup)
    require_sources_inside(setup.source_entries, setup.extent)
    validation.require_shear_in_solids(setup)
    whole = recording(setup, Part.whole(setup.grid))
    whole.require_samples(setup.case.output.record, setup.steps)


def build_grid(case: Any) -> Grid:
    """The grid of a case: its region and the absorbing layers around it."""
    boundary = case.boundary
    x, y, z = (cells_across(boundary.width, edge) for edge in case.grid.spacing)
    if boundary.sides == "periodic":
        x = y = 0
    top = 0 if boundary.top == "free-surface" else z
    return Grid(case.grid.cells, case.grid.spacing, before=(x, y, top), after=(x, y, z))
