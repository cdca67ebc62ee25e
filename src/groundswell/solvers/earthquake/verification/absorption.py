"""Absorbing layers: their reflections, and whether all motion decays."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import ceil

import numpy as np

from groundswell.arrays import Floats
from groundswell.backends import Backend
from groundswell.seismology.problems import case_sections
from groundswell.solvers.earthquake.case import EarthquakeCase
from groundswell.solvers.earthquake.solver import Earthquake
from groundswell.solvers.earthquake.verification import simulation as sim
from groundswell.solvers.earthquake.verification.energy import RandomBox, step_through
from groundswell.verify import Check

H = 100.0  # m, edge of a cell
ROCK = {"vp": 6000.0, "vs": 3464.0, "rho": 2700.0}
SEDIMENT = {"vp": 1800.0, "vs": 300.0, "rho": 1900.0}
WIDTH = 12  # cells of a matched layer
SPONGE_WIDTH = 20
X, Y, _ = np.eye(3)
PULSE = 2.4  # periods that a Ricker wavelet lasts
SETTLED = 8.0  # s, after which all waves have left a region of 8 km


# --- reflection -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Room:
    """A cube of rock with absorbing sides and a source of one kind of wave at its centre.

    Args:
        wave: "P" from an explosion, or "S" from a torque.
        points: cells per wavelength at the source's dominant frequency.
        cells: along an edge.
    """

    wave: str
    points: float
    cells: int
    sides: str = "pml"
    width: int = WIDTH

    @property
    def speed(self) -> float:
        return ROCK["vp" if self.wave == "P" else "vs"]

    @property
    def frequency(self) -> float:
        return self.speed / (self.points * H)

    @property
    def duration(self) -> float:
        """Time until reflections from the corner of a wall and its layer have passed."""
        way = (0.5 * self.cells * 3**0.5 + 2 * self.width) * H
        return way / self.speed + PULSE / self.frequency

    @property
    def pad(self) -> int:
        """Cells to add on each side so that no reflection returns in time."""
        return max(0, ceil(self.duration * self.speed / (2 * H) - self.cells / 2))

    def reflected(self, backend: Backend) -> float:
        """Largest reflected peak over the direct wave's, at receivers on the walls, %.

        The reflection is the difference from a room so large that nothing returns in time.
        """
        there, direct = (self._motion(backend, pad) for pad in (0, self.pad))
        wrong = np.abs(there - direct).max(axis=(1, 2))
        return float(100 * np.max(wrong / np.abs(direct).max(axis=(1, 2))))

    def _motion(self, backend: Backend, pad: int) -> Floats:
        size = (self.cells + 2 * pad) * H
        case = sim.make_case(
            grid={"size": [size] * 3, "spacing": H},
            time={"duration": self.duration},
            medium={"kind": "homogeneous", **ROCK},
            boundary={"top": "absorbing", "sides": self.sides, "width": self.width},
            source=self._sources(size / 2),
            receiver=case_sections.receivers(self._places(size / 2)),
            run={"precision": "single"},
        )
        return sim.motion(case, backend)[1]

    def _places(self, middle: float) -> list[tuple[float, float, float]]:
        """On one wall, up to its corners: incidence from 0 to 45 degrees along y and z, then 55."""
        half = 0.5 * self.cells * H
        across = [(0, 0), (0.5, 0), (0.99, 0), (0, 0.5), (0, 0.99), (0.7, 0.7), (0.99, 0.99)]
        return [(middle + half, middle + half * y, middle + half * z) for y, z in across]

    def _sources(self, middle: float) -> list[case_sections.Table]:
        history = {
            "kind": "ricker",
            "frequency": self.frequency,
            "delay": PULSE / 2 / self.frequency,
        }
        if self.wave == "P":
            return [case_sections.point([middle] * 3, history, kind="explosion", moment=1e16)]
        arms = ((X, (0, 1, 0)), (Y, (-1, 0, 0)))  # two couples turn the same way about z
        return [
            case_sections.point(
                middle + end * H / 2 * arm,
                history,
                kind="force",
                force=[1e12 * end * f for f in force],
            )
            for arm, force in arms
            for end in (1, -1)
        ]


def reflection(backend: Backend, full: bool) -> Iterator[Check]:
    """Reflection of P and S waves in rock from matched layers and a sponge."""
    cells = 40 if full else 20
    note = f"matched layer of {WIDTH} cells, incidence from 0 to 55 degrees"
    for wave in "PS":
        for points in (8, 10) if full else (10,):
            name = f"{wave} wave, {points} points a wavelength: reflected peak"
            back = Room(wave, points, cells).reflected(backend)
            yield Check.at_most(name, back, 0.1, "%", note=note)
    room = Room("S", 10, cells, "sponge", SPONGE_WIDTH)
    note = f"{SPONGE_WIDTH} cells, incidence from 0 to 55 degrees"
    back = room.reflected(backend)
    yield Check.at_most("sponge: reflected peak", back, 15, "%", note=note)


# --- long waves -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class RockColumn:
    """A wave packet in a column of rock, periodic in x and y, with matched layers at both ends.

    Args:
        wave: "P" or "S".
        points: cells per wavelength.
    """

    wave: str
    points: float

    @property
    def speed(self) -> float:
        return ROCK["vp" if self.wave == "P" else "vs"]

    @property
    def cells(self) -> int:
        """Length of the column, which contains the whole packet."""
        return ceil(7 * self.points) + 40

    def returned(self, backend: Backend) -> float:
        """Largest motion after the packet has entered the lower layer, over its peak, %."""
        period = self.points * H / self.speed
        case = sim.make_case(
            grid={"size": (2 * H, 2 * H, self.cells * H), "spacing": H},
            time={"duration": 8 * period + 40 * H / self.speed},
            medium={"kind": "homogeneous", **ROCK},
            boundary={"top": "absorbing", "sides": "periodic", "width": WIDTH},
            source=[case_sections.SILENCE],
        )
        found = sim.build(case, backend)
        self._set_packet(found)
        sim.advance(found, found.setup.steps)
        return 100 * float(np.abs(sim.read(found, [self._motion])[self._motion]).max())

    @property
    def _motion(self) -> str:
        return "vz" if self.wave == "P" else "vx"

    def _set_packet(self, found: Earthquake) -> None:
        """Set the velocity and stresses of a packet that propagates downwards."""
        sim.fill(found, self._motion, self._packet(0.0))
        impedance = ROCK["rho"] * self.speed
        lateral = (ROCK["vp"] ** 2 - 2 * ROCK["vs"] ** 2) / ROCK["vp"] ** 2
        stresses = (
            {"szz": 1.0, "sxx": lateral, "syy": lateral} if self.wave == "P" else {"sxz": 1.0}
        )
        for name, factor in stresses.items():
            shape = self._packet(found.setup.dt / 2)
            sim.fill(found, name, lambda *xyz, a=-factor * impedance, s=shape: a * s(*xyz))

    def _packet(self, time: float) -> Callable[..., Floats]:
        length = self.points * H
        middle = self.cells * H / 2 + self.speed * time

        def value(x: Floats, y: Floats, z: Floats) -> Floats:
            phase = (z - middle) / length
            return np.cos(2 * np.pi * phase) * np.exp(-0.5 * (phase / 0.7) ** 2)

        return value


def long_waves(backend: Backend, full: bool) -> Iterator[Check]:
    """Reflection of plane P and S waves at normal incidence.

    Wavelengths are 6 and 40 cells, in the full form up to 1,000 cells.
    """
    lengths = (6, 12, 40, 150, 400, 1000) if full else (6, 40)
    note = f"matched layer of {WIDTH} cells"
    for wave in "PS":
        for points in lengths:
            name = f"{wave} wave, {points} cells long: returned peak"
            yield Check.at_most(
                name, RockColumn(wave, points).returned(backend), 0.1, "%", note=note
            )


def static_offset(backend: Backend, full: bool) -> list[Check]:
    """Drift of the permanent displacement of a double couple after all waves have passed."""
    size, steps = (8000.0, 8000.0, 5000.0), 20_000 if full else 1200
    middle = size[0] / 2
    case = sim.make_case(
        grid={"size": size, "spacing": H if full else 2 * H},
        time={"duration": steps * 0.0078 * (1 if full else 2), "step": 0.0078 * (1 if full else 2)},
        medium={"kind": "homogeneous", **ROCK},
        source=[
            case_sections.point(
                (middle, middle, 2800.0),
                {"kind": "gaussian", "sigma": 0.25, "delay": 1.0},
                kind="double-couple",
                **{"strike": 30.0, "dip": 60.0, "rake": 40.0, "moment": 1e16},
            )
        ],
        receiver=case_sections.receivers(
            [(middle + 1500.0, middle + 500.0, 0.0), (1000.0, 6500.0, 0.0)]
        ),
        run={"precision": "single"},
    )
    time, velocity = sim.motion(case, backend)
    offset = np.cumsum(velocity, axis=-1)[..., time > SETTLED]
    drift = 100 * np.abs(offset - offset[..., :1]).max() / np.abs(offset[..., 0]).max()
    note = f"from {SETTLED:g} to {time[-1]:.0f} s"
    return [Check.at_most("static offset: drift", float(drift), 1.0, "%", note=note)]


# --- long runs ------------------------------------------------------------------------------------


def long_run(backend: Backend, full: bool) -> Iterator[Check]:
    """Soft sediments on rock under a free surface, until all motion has decayed."""
    steps, samples = (100_000, 100) if full else (5000, 10)
    for sides, width in (("pml", WIDTH), ("sponge", SPONGE_WIDTH)):
        energy = _energies(_basin(40 if full else 24, sides, width), backend, steps, samples)
        rises = energy[1:] / np.maximum(energy[:-1], 1e-9 * energy.max())
        left = energy[-1] / energy.max()
        note = f"{left:.1e} of the energy left after {steps} steps"
        name = f"{sides}: energy after each {steps // samples} steps over that before"
        yield Check.at_most(name, rises.max(), 1.0, note=note)


def _basin(cells: int, sides: str, width: int) -> EarthquakeCase:
    """Vp/Vs of 6 in the soft layer, S speeds that differ by 12: backward waves are guided there."""
    size, soft = cells * H, cells // 4 * H
    return sim.make_case(
        grid={"size": [size] * 3, "spacing": H},
        time={"duration": 1e6},
        medium={"kind": "layered", "layers": [{"top": 0.0, **SEDIMENT}, {"top": soft, **ROCK}]},
        boundary={"sides": sides, "width": width},
        source=[
            case_sections.point(
                (0.45 * size, 0.55 * size, 0.7 * soft),
                # No moment is left in the end, so that no strain stays.
                {"kind": "ricker", "frequency": 1.0, "delay": 1.5},
                kind="double-couple",
                **{"strike": 30.0, "dip": 70.0, "rake": 40.0, "moment": 1e16},
            )
        ],
        run={"precision": "single"},
    )


def _energies(case: EarthquakeCase, backend: Backend, steps: int, samples: int) -> Floats:
    """Energy of the whole grid over a cell's volume, at equal intervals once the source is over."""
    found = sim.build(case, backend)
    box = RandomBox.of(found)
    interval = steps // samples
    first = ceil(3.0 / found.setup.dt / interval)  # the source is over
    energies = []
    for _ in range(samples):
        sim.advance(found, interval - 1)
        energies.append(box.energy(*step_through(found)))
    return np.array(energies[first:])
