"""From a case to everything that a run needs, before any device is touched: grid, step, sources.

`groundswell check` stops here; `Earthquake` goes on from here.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import ceil, gcd
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from groundswell.errors import InputError
from groundswell.grids.cartesian import Grid, Layout
from groundswell.grids.geography import Geography
from groundswell.solvers.earthquake.attenuation import Relaxation, fit
from groundswell.solvers.earthquake.media import (
    Material,
    Medium,
    Survey,
    build_medium,
    lame,
    survey,
)
from groundswell.solvers.earthquake.sources import PointSource, build_sources
from groundswell.solvers.earthquake.receivers import Receiver, place_receivers
from groundswell.time.limits import staggered_leapfrog

SAFETY = 0.95  # share of the stability limit that an automatic step takes
POINTS_PER_WAVELENGTH = 6.0  # of the slowest wave: about 5 % error in its speed (Moczo et al. 2000)
TICK = 1e-9  # s; intervals are whole multiples of it, so that they have a common divisor


@dataclass(frozen=True)
class Setup:
    """A case with its data read: what will be computed, on what grid, with what step."""

    case: Any
    grid: Grid
    geography: Geography | None
    medium: Medium
    survey: Survey
    relaxation: Relaxation | None

    @classmethod
    def from_case(cls, case: Any) -> Setup:
        """Read what the case names and check it.

        Raises:
            InputError: data that do not fit the case, or a case that cannot run as asked.
        """
        grid = build_grid(case)
        geography = case.grid.frame
        medium = build_medium(_with_paths(case), grid.region, grid.spacing, geography)
        found = survey(medium)
        return cls(case, grid, geography, medium, found, _relaxation(case, found))

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
        if self.relaxation is None or self.survey.qp_min is None:
            return self.survey.vp_max
        ratio = self.relaxation.modulus_ratio(1 / self.survey.qp_min, self.reference)
        return self.survey.vp_max * float(np.sqrt(ratio))

    @property
    def largest_step(self) -> float:
        """Stability limit of the step, s."""
        return staggered_leapfrog(self.grid.spacing, self.fastest)

    @cached_property
    def dt(self) -> float:
        """The step, s: the case's own, or the longest safe one that divides all output intervals."""
        asked = self.case.time.step
        if asked == "auto":
            return _dividing(SAFETY * self.largest_step, self.intervals)
        if asked > self.largest_step:
            raise InputError(
                f"time.step = {asked:g} s is unstable: at most {self.largest_step:.6g} s with cells "
                f'of {min(self.grid.spacing):g} m and waves of {self.fastest:g} m/s; use "auto"'
            )
        return float(asked)

    @property
    def steps(self) -> int:
        """Steps of the whole run."""
        return ceil(self.case.time.duration / self.dt * (1 - 1e-12))

    @cached_property
    def intervals(self) -> dict[str, float]:
        """Sampling intervals that the case asks for, s, by the section that does."""
        sections = {name: getattr(self.case.output, name) for name in _SAMPLED}
        return {
            f"output.{name}.interval": section.interval
            for name, section in sections.items()
            if section and section.interval is not None
        }

    def every(self, section: str) -> int:
        """Steps between samples of an output section; every step where no interval is given."""
        key = f"output.{section}.interval"
        if key not in self.intervals:
            return 1
        ratio = self.intervals[key] / self.dt
        if abs(ratio - round(ratio)) > 1e-6 or round(ratio) < 1:
            raise InputError(
                f"{key} = {self.intervals[key]:g} s is no whole number of steps of {self.dt:.9g} s; "
                'use a multiple, or time.step = "auto"'
            )
        return round(ratio)

    @property
    def resolved_frequency(self) -> float:
        """Highest frequency, Hz, whose slowest wave spans POINTS_PER_WAVELENGTH cells."""
        return self.survey.speed_min / (POINTS_PER_WAVELENGTH * max(self.grid.spacing))

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

    def describe(self) -> dict[str, Any]:
        """What the run is: grid, step, what it resolves, memory. SI units."""
        grid, found = self.grid, self.survey
        return {
            "cells": grid.cells,
            "region": grid.region,
            "spacing": grid.spacing,
            "precision": self.case.run.precision,
            "steps": self.steps,
            "dt": self.dt,
            "stability_limit": self.largest_step,
            "resolved_frequency": self.resolved_frequency,
            "speed_min": found.speed_min,
            "vs_min": found.vs_min,
            "vs_min_depth": found.vs_min_depth,
            "vp_max": found.vp_max,
            "fluid_cells": found.fluid_cells,
            "floored_cells": dict(found.floored),
            "sources": len(self.sources),
            "receivers": len(self.receivers),
            "memory": self.memory,
        }

    @property
    def memory(self) -> int:
        """Bytes that the run takes on its device, to within a few per cent."""
        fields = 20 if self.relaxation else 12
        padded = self.layout.size * fields
        nx, ny, nz = self.grid.cells
        layers = sum(
            6 * (before + after) * self.grid.count // n
            for before, after, n in zip(
                self.grid.before, self.grid.after, (nx, ny, nz), strict=True
            )
        )
        return (padded + layers) * np.dtype(self.dtype).itemsize

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


_SAMPLED = ("seismograms", "surface", "volumes")


def build_grid(case: Any) -> Grid:
    """The region of the case, and absorbing layers where its boundaries ask for them."""
    width, sides = case.boundary.width, case.boundary.sides
    side = 0 if sides == "periodic" else width
    top = 0 if case.boundary.top == "free-surface" else width
    return Grid(case.grid.cells, case.grid.spacing, before=(side, side, top), after=(side, side, width))


def _relaxation(case: Any, found: Survey) -> Relaxation | None:
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


def _dividing(limit: float, intervals: dict[str, float]) -> float:
    """The longest step up to `limit` that divides every interval."""
    if not intervals:
        return limit
    ticks = {key: round(interval / TICK) for key, interval in intervals.items()}
    common = gcd(*ticks.values()) * TICK
    step = common / ceil(common / limit)
    if step < limit / 10:
        listed = ", ".join(f"{key} = {value:g} s" for key, value in intervals.items())
        raise InputError(
            f"{listed} share only steps of {step:.3g} s, a small part of the stable {limit:.3g} s; "
            "use intervals that are multiples of each other"
        )
    return step


def _with_paths(case: Any) -> Any:
    """The case's medium, its file name made absolute."""
    medium = case.medium
    if getattr(medium, "file", None) is None:
        return medium
    return medium.model_copy(update={"file": case.resolve(medium.file)})
