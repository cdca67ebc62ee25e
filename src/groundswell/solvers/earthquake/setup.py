"""Host-side preparation: reads the input, chooses the time step, estimates memory.

`groundswell check` needs no more than this.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import ceil, prod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from groundswell.case.quantities import Quantity
from groundswell.errors import InputError
from groundswell.exchange.world import World
from groundswell.grids.cartesian import Grid, Layout, Part
from groundswell.grids.geography import Geography
from groundswell.seismology.attenuation import Relaxation, fit
from groundswell.seismology.formats.seismograms import require_formats
from groundswell.seismology.media.build import build_medium
from groundswell.seismology.media.material import (
    Material,
    Medium,
    lame,
)
from groundswell.seismology.media.statistics import MediumStatistics, medium_statistics
from groundswell.seismology.receivers import Receiver, place_receivers
from groundswell.seismology.sources.event import Release
from groundswell.seismology.sources.point_sources import PointSource, build_sources
from groundswell.seismology.sources.time_functions import corner_frequency
from groundswell.simulation.solver import DecompositionSummary
from groundswell.solvers.earthquake import check, validation
from groundswell.solvers.earthquake.halo import summarize
from groundswell.solvers.earthquake.sampling import Samples, recorded, recording
from groundswell.solvers.earthquake.warnings import find_warnings
from groundswell.time_integration.step_limits import staggered_leapfrog

SAFETY = 0.97  # share of the stability limit that an automatic step takes
POINTS_PER_WAVELENGTH = 6.0  # of the slowest wave: half a per cent error in its speed

# Words that an update must at least move: each value it needs read once, each one it changes
# written once. Velocity: 6 stresses, 3 velocities, density, and 3 velocities back. Stress: 3
# velocities, 6 stresses, 2 moduli, 6 stresses back; with Q 6 memory variables both ways and 2 Q.
# In an absorbing layer each also moves three memory variables an axis both ways.
VELOCITY_WORDS = 13
STRESS_WORDS = {False: 17, True: 31}
LAYER_WORDS = 6
FIELDS = {False: 12, True: 20}  # arrays of all cells; with Q 6 memory variables and 2 Q more

FINEST_SAMPLING = 0.1  # of a stable step; what asks for less is a slip of the pen
MOST_SPECTRA = 256  # sources whose spectra are looked at, evenly spread over all of them


@dataclass(frozen=True)
class Setup:
    """A case with its data read: what will be computed, on what grid, with what step."""

    has_fixed_steps: ClassVar[bool] = True

    case: Any
    grid: Grid
    geography: Geography | None
    medium: Medium
    statistics: MediumStatistics
    relaxation: Relaxation | None

    @classmethod
    def from_case(cls, case: Any, world: World | None = None) -> Setup:
        """Read what the case names and check it; ranks share the reading of large models.

        Raises:
            InputError: data that do not fit the case, or a case that cannot run as asked.
        """
        grid = build_grid(case)
        layout = Layout(grid.cells, 8 if case.run.precision == "double" else 4)
        validation.require_possible(layout, FIELDS[case.attenuation.model != "none"])
        geography = case.grid.frame
        medium = build_medium(_with_paths(case), grid.region, grid.spacing, geography)
        found = medium_statistics(medium, world)
        setup = cls(case, grid, geography, medium, found, _relaxation(case, found))
        setup._derive_all()
        return setup

    def _derive_all(self) -> None:
        """Work out now what may have to be refused, so that it is not refused half-way."""
        _ = self.every("seismograms")
        if self.receivers:
            require_formats(self.case.output.seismograms.formats)
            validation.require_two_samples(self)
        if not self.sources:
            raise InputError("no source acts: the rupture file holds no slip; give one that does")
        validation.require_inside(self.sources, self.extent)
        recording(self, Part.whole(self.grid)).require_samples(self.case.output.record, self.steps)

    @property
    def double(self) -> bool:
        """Whether the case asks for double precision."""
        return bool(self.case.run.precision == "double")

    @property
    def dtype(self) -> str:
        """NumPy's name of the floating-point type."""
        return "float64" if self.double else "float32"

    @property
    def layout(self) -> Layout:
        """How fields lie in memory."""
        return Layout(self.grid.cells, np.dtype(self.dtype).itemsize)

    @property
    def periodic(self) -> bool:
        """Whether x and y wrap around."""
        return bool(self.case.boundary.sides == "periodic")

    @property
    def free_surface(self) -> bool:
        """Whether z = 0 is a free surface."""
        return bool(self.case.boundary.top == "free-surface")

    @property
    def reference(self) -> float:
        """Frequency at which the medium's speeds hold, Hz."""
        return float(getattr(self.case.attenuation, "reference", 1.0))

    @cached_property
    def fastest(self) -> float:
        """Fastest P wave, m/s: at infinite frequency where the medium is anelastic."""
        if self.relaxation is None or self.statistics.qp_min is None:
            return self.statistics.vp_max
        ratio = self.relaxation.modulus_ratio(1 / self.statistics.qp_min, self.reference)
        return self.statistics.vp_max * float(np.sqrt(ratio))

    @property
    def largest_step(self) -> float:
        """Stability limit of the step, s."""
        spacing = self.grid.spacing
        return staggered_leapfrog(spacing, self.fastest, free_surface=self.free_surface)

    @property
    def longest_step(self) -> float:
        """The longest step that is taken without being asked for, s."""
        return SAFETY * self.largest_step

    @cached_property
    def dt(self) -> float:
        """The step, s: the case's, or the longest safe one that divides the sampling interval."""
        asked = self.case.time.step
        if asked == "auto":
            return _dividing(self.longest_step, self.case.output.seismograms.interval)
        if asked > self.largest_step:
            raise InputError(
                f"time.step = {asked:g} s is unstable: at most {self.largest_step:.6g} s with "
                f"cells of {min(self.grid.spacing):g} m and waves of {self.fastest:g} m/s; shorten "
                'it, or use "auto"'
            )
        return float(asked)

    @property
    def steps(self) -> int:
        """Steps of the whole run."""
        return ceil(self.case.time.duration / self.dt * (1 - 1e-12))

    def every(self, section: str) -> int:
        """Steps between samples of an output section; every step where no interval is given.

        Seismograms have the interval that was asked for, to compare with recordings. Those of the
        surface and of volumes are rounded to whole steps: they must not shorten the step.
        """
        interval = getattr(self.case.output, section).interval
        if interval is None:
            return 1
        steps = max(1, round(interval / self.dt))
        if section == "seismograms" and abs(steps * self.dt - interval) > 1e-6 * interval:
            raise InputError(
                f"output.seismograms.interval = {interval:g} s is no whole number of steps of "
                f'{self.dt:.9g} s; use a multiple, or time.step = "auto"'
            )
        return steps

    @property
    def sampling(self) -> dict[str, float]:
        """True interval between samples, s, of each output section that has samples."""
        output = self.case.output
        wanted = {
            "seismograms": bool(self.receivers),
            "surface": output.surface is not None,
            "volumes": output.volumes is not None,
        }
        intervals = {name: self.every(name) * self.dt for name, found in wanted.items() if found}
        return {name: float(f"{interval:.12g}") for name, interval in intervals.items()}

    @property
    def resolved_frequency(self) -> float:
        """Highest frequency, Hz, whose slowest wave spans POINTS_PER_WAVELENGTH cells."""
        return self.statistics.speed_min / (POINTS_PER_WAVELENGTH * max(self.grid.spacing))

    @cached_property
    def source_frequency(self) -> float:
        """Highest frequency below which a source has 99 % of its energy, Hz."""
        spread = self.sources[:: ceil(len(self.sources) / MOST_SPECTRA)]
        return max(corner_frequency(source.samples, source.step) for source in spread)

    @property
    def points_per_wavelength(self) -> float:
        """Cells that the slowest wave of `source_frequency` spans."""
        return self.statistics.speed_min / (self.source_frequency * max(self.grid.spacing))

    @cached_property
    def release(self) -> Release:
        """What all sources release together."""
        return Release.of(self.sources)

    @cached_property
    def sources(self) -> list[PointSource]:
        """All point sources."""
        return build_sources(
            self.case.source,
            self.geography,
            self.dt,
            self.case.time.duration,
            self._modulus(lambda lam, mu: mu),
            lame=self._modulus(lambda lam, mu: lam),
            spacing=self.grid.spacing,
            folder=self.case.source_path,
        )

    @cached_property
    def receivers(self) -> list[Receiver]:
        """All receivers, those of a station file included."""
        return place_receivers(self.case, self.geography)

    @property
    def extent(self) -> tuple[float, float, float]:
        """The region's size, m."""
        x, y, z = (n * h for n, h in zip(self.grid.region, self.grid.spacing, strict=True))
        return x, y, z

    def quantities(self) -> list[Quantity]:
        """Grid, time step, what they resolve, sources and receivers, memory."""
        return check.quantities(self)

    def warnings(self) -> list[str]:
        """What will run, but may give poor results."""
        return find_warnings(self)

    def decompose(self, ranks: int) -> DecompositionSummary:
        """How so many ranks would share the grid.

        Raises:
            InputError: the grid is too small for so many ranks.
        """
        return summarize(self, ranks)

    @property
    def updates_per_step(self) -> int:
        """Lattice points that a step updates, layers included."""
        return self.grid.count

    @property
    def matched(self) -> bool:
        """Whether absorbing layers, if any, are matched ones with memory; otherwise a sponge."""
        return self.case.boundary.sides != "sponge"

    @property
    def bytes_moved(self) -> dict[str, float]:
        """Least traffic of a point in each update, on average over the grid with its layers."""
        stress = STRESS_WORDS[self.relaxation is not None]
        layers = LAYER_WORDS * self._layers_a_point(self.grid)
        size = np.dtype(self.dtype).itemsize
        return {"velocity": (VELOCITY_WORDS + layers) * size, "stress": (stress + layers) * size}

    @property
    def bytes_per_update(self) -> float:
        """Least traffic of a point's update; see `bytes_moved`."""
        return sum(self.bytes_moved.values())

    @property
    def memory(self) -> int:
        """Bytes that the run takes on its device, to within a few per cent."""
        return self.memory_of(Part.whole(self.grid))

    def memory_of(self, part: Part) -> int:
        """The same for the rank that holds a part of the grid."""
        layout = Layout(part.cells, np.dtype(self.dtype).itemsize)
        layers = LAYER_WORDS * self._layers_a_point(part) * prod(part.cells)
        words = round(layout.size * FIELDS[self.relaxation is not None] + layers)
        own = recorded(self, part)
        rings = sum(samples.slots * own[name].size for name, samples in self.samples.items())
        records = recording(self, part).device_bytes(self.case.output.record)
        return words * layout.itemsize + rings + records

    @cached_property
    def samples(self) -> dict[str, Samples]:
        """What is recorded, by output section."""
        return recorded(self)

    @property
    def output_bytes(self) -> int:
        """Bytes of the samples that the run writes."""
        records = recording(self, Part.whole(self.grid))
        samples = sum(ceil(self.steps / s.every) * s.size for s in self.samples.values())
        return samples + records.file_bytes(self.case.output.record, self.steps)

    def _layers_a_point(self, of: Grid | Part) -> float:
        """Layers with memory that a point lies in, on average."""
        sides = zip(of.before, of.after, of.cells, strict=True)
        return sum((before + after) / n for before, after, n in sides) if self.matched else 0.0

    def _modulus(self, choose: Any) -> Any:
        """A function of positions that gives a Lame parameter of the cells that hold them, Pa."""

        def at(x: ArrayLike, y: ArrayLike, z: ArrayLike) -> NDArray[np.float64]:
            places = np.stack([np.atleast_1d(np.asarray(a, float)) for a in (x, y, z)])
            cells = (places.T / self.grid.spacing).astype(int)
            i, j, k = np.clip(cells, 0, np.array(self.grid.region) - 1).T
            planes = {row: choose(*lame(self._plane(row))) for row in np.unique(k)}
            return np.array([planes[c][b, a] for a, b, c in zip(i, j, k, strict=True)])

        return at

    def _plane(self, k: int) -> Material:
        """A plane of the medium with every property (ny, nx)."""
        plane, shape = self.medium.plane(int(k)), self.grid.region[1::-1]
        given = {name: np.broadcast_to(values, shape) for name, values in plane.given().items()}
        return Material(**given)


def build_grid(case: Any) -> Grid:
    """The region of the case, and absorbing layers where its boundaries ask for them."""
    width, sides = case.boundary.width, case.boundary.sides
    side = 0 if sides == "periodic" else width
    top = 0 if case.boundary.top == "free-surface" else width
    return Grid(
        case.grid.cells, case.grid.spacing, before=(side, side, top), after=(side, side, width)
    )


def _relaxation(case: Any, found: MediumStatistics) -> Relaxation | None:
    settings = case.attenuation
    if settings.model == "none":
        return None
    if found.qs_min is None and found.qp_min is None:
        raise InputError(
            f'attenuation.model = "{settings.model}", but the medium has no quality factors; give '
            'qp and qs, or a q_rule, or set attenuation.model = "none"'
        )
    smallest = min(q for q in (10.0, found.qp_min, found.qs_min) if q is not None)
    exponent, transition = getattr(settings, "exponent", 0.0), getattr(settings, "transition", 1.0)
    return fit(settings.model, exponent, transition, settings.band, smallest)


def _dividing(limit: float, interval: float | None) -> float:
    """The longest step up to `limit` that divides the interval, if there is one."""
    if interval is None:
        return limit
    if interval < FINEST_SAMPLING * limit:
        raise InputError(
            f"output.seismograms.interval = {interval:g} s asks for steps far shorter than the "
            f"stable {limit:.3g} s; sample less often, or give time.step"
        )
    return interval / ceil(interval / limit * (1 - 1e-12))


def _with_paths(case: Any) -> Any:
    """The case's medium, its file name made absolute."""
    medium = case.medium
    if getattr(medium, "file", None) is None:
        return medium
    return medium.model_copy(update={"file": case.resolve(medium.file)})
