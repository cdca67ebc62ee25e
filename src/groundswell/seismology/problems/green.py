"""Seismograms from strain Green tensors against runs with the earthquake itself.

A run with moments at some points, and three runs with a force at a station, must give the same
seismograms there. The moment rate of the former is that of the latter convolved with the time
function of the force.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from groundswell.arrays import Floats
from groundswell.backends import Backend
from groundswell.case.common import Case
from groundswell.seismology.case.outputs import GREEN
from groundswell.seismology.formats.seismograms import read_seismograms
from groundswell.seismology.green.files import STRAIN
from groundswell.seismology.green.slip import PointFinder, SlipRows
from groundswell.seismology.green.store import packed
from groundswell.seismology.green.synthesis import seismograms
from groundswell.seismology.green.tensor import read_tensors
from groundswell.seismology.problems import case_sections
from groundswell.seismology.problems.case_sections import Table
from groundswell.seismology.sources.point_sources import PointSource
from groundswell.seismology.sources.time_functions import Gaussian
from groundswell.simulation.run import run

if TYPE_CHECKING:
    import xarray

FORCE = 1e10  # N
MOMENT = 1e15  # N m
SPREAD = 8.0  # standard deviations for which pulses last before their peak
FORCES = "xyz"


@dataclass(frozen=True, eq=False)
class GreenProblem:
    """A station, moments at points around it, and a medium.

    Args:
        make: builds a case from its sections.
        sections: `grid`, `medium` and others; not sources, receivers and outputs.
        station: position, m, (3,).
        points: positions of the moments, m, (points, 3).
        dt: time step, s.
        force, source: standard deviations of the time functions of forces and moments, s.
        offset: time of samples of strain after those of velocity, in time steps.
    """

    make: Callable[..., Case]
    sections: Table
    station: Floats
    points: Floats
    dt: float
    force: float
    source: float
    offset: float = 0.0

    @cached_property
    def moments(self) -> Floats:
        """Random moment tensors, N m, (points, 6)."""
        return np.random.default_rng(3).normal(size=(len(self.points), 6)) * MOMENT

    @property
    def delay(self) -> float:
        """Time of the peak of the force, s, so that seismograms have samples at whole steps."""
        return float((np.ceil(SPREAD * self.force / self.dt) + self.offset) * self.dt)

    @property
    def peaks(self) -> Floats:
        """Times of the peaks of the moment rates, s, (points,): not all at a step."""
        first = np.ceil(SPREAD * self.source / self.dt) * self.dt
        return np.asarray(first + self.source * np.arange(len(self.points)) / 3)

    def run_forces(self, backend: Backend, folder: Path) -> xarray.Dataset:
        """Run the case with a force along each axis; returns the tensor."""
        (tensor,) = read_tensors([self._run_force(axis, backend, folder) for axis in range(3)])
        return tensor

    def _run_force(self, axis: int, backend: Backend, folder: Path) -> Path:
        force = [0.0, 0.0, 0.0]
        force[axis] = FORCE
        function = {"kind": "gaussian", "sigma": self.force, "delay": self.delay}
        recorded = {"station": "S", "positions": self.points.tolist()}
        source = case_sections.point(self.station, function, kind="force", force=force)
        return self._run(backend, folder / FORCES[axis], source=[source], output={GREEN: recorded})

    def run_moments(self, backend: Backend, folder: Path, functions: list[Table]) -> Path:
        """Run the case with the moments, which have time functions; returns the results folder."""
        sources = [
            case_sections.point(place, function, kind="moment-tensor", components=_ned(moment))
            for place, moment, function in zip(self.points, self.moments, functions, strict=True)
        ]
        receivers = case_sections.receivers([self.station])
        return self._run(backend, folder / "forward", source=sources, receiver=receivers)

    def _run(self, backend: Backend, folder: Path, **sections: object) -> Path:
        given = {"run": {"precision": "double", "backend": backend.name}, "output": {}}
        case = self.make(**{**given, **self.sections, **sections})
        run(case, folder=folder, quiet=True)
        return folder

    @cached_property
    def sources(self) -> list[PointSource]:
        """The moments, with their rates at time steps."""
        return [self._source(n) for n in range(len(self.points))]

    def _source(self, n: int) -> PointSource:
        x, y, z = self.points[n].tolist()
        start = float(np.floor((self.peaks[n] - SPREAD * self.source) / self.dt) * self.dt)
        when = start + self.dt * np.arange(int(np.ceil(2 * SPREAD * self.source / self.dt)) + 1)
        rates = np.exp(-0.5 * ((when - self.peaks[n]) / self.source) ** 2)
        samples = rates / (np.sqrt(2 * np.pi) * self.source)
        return PointSource((x, y, z), self.moments[n], None, start, self.dt, samples, n + 1)

    def convolved_tables(self, folder: Path) -> list[Table]:
        """The moment rates convolved with the force, at time steps, as tables."""
        folder.mkdir(parents=True, exist_ok=True)
        pulse = Gaussian(sigma=self.force, delay=self.delay)
        force = pulse.amplitude((np.arange(np.ceil(pulse.end / self.dt)) + 0.5) * self.dt)
        before = round((0.5 * self.dt - self.delay) / self.dt) * self.dt
        functions = []
        for n, source in enumerate(self.sources):
            rates = np.convolve(source.samples, force / force.sum())
            path = folder / f"moment_{n}.txt"
            np.savetxt(path, np.stack([self.dt * np.arange(len(rates)), rates], 1), fmt="%.17e")
            onset = source.start + before
            functions.append({"kind": "table", "file": str(path), "onset": onset})
        return functions

    def convolved_gaussians(self) -> list[Table]:
        """The moment rates convolved with the force, as Gaussian functions."""
        sigma = float(np.hypot(self.force, self.source))
        pulse = {"kind": "gaussian", "sigma": sigma, "delay": SPREAD * sigma}
        return [{**pulse, "onset": float(peak - SPREAD * sigma)} for peak in self.peaks]


def synthetics(
    problem: GreenProblem, tensor: xarray.Dataset, backend: Backend
) -> tuple[Floats, Floats]:
    """Times (n,), s, and velocity (3, n) along x, y and down, m/s, from a tensor."""
    rows = SlipRows.of(problem.sources, PointFinder(tensor))
    found = seismograms(tensor, rows, backend, "float64")
    return np.asarray(found["time"].values, float), np.asarray(found.values, float)


def in_16_bits(tensor: xarray.Dataset) -> xarray.Dataset:
    """The tensor that a store with 16 bits a value holds."""
    stored, scale = packed(tensor[STRAIN].values)
    return tensor.assign({STRAIN: (tensor[STRAIN].dims, stored * scale[..., None])})


def at_each(tensor: xarray.Dataset, every: int) -> xarray.Dataset:
    """The tensor that runs with samples `every` times as far apart yield."""
    interval = every * float(tensor.attrs["interval"])
    return tensor.isel(time=slice(None, None, every)).assign_attrs(interval=interval)


def largest_error(folder: Path, times: Floats, velocity: Floats) -> float:
    """Largest difference from the seismograms of a run, over their peak.

    Args:
        times: of the velocity, s, (n,).
        velocity: along x, y and down, m/s, (3, n).
    """
    found = read_seismograms(folder / "seismograms.h5")
    east, north, up = found.values[0]
    exact, when = np.stack([east, north, -up]), found["time"].values
    steps = np.rint((times - when[0]) / (when[1] - when[0])).astype(int)
    both = (steps >= 0) & (steps < len(when))
    assert np.allclose(when[steps[both]], times[both], rtol=0, atol=1e-6)
    difference = np.abs(velocity[:, both] - exact[:, steps[both]]).max()
    return float(difference / np.abs(exact).max())


def _ned(moment: Floats) -> Table:
    """Components of a moment along north, east and down: y, x and z of the grid."""
    xx, yy, zz, xy, xz, yz = moment.tolist()
    return {"nn": yy, "ee": xx, "dd": zz, "ne": xy, "nd": yz, "ed": xz}
