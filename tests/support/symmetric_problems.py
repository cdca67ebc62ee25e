"""A problem of every solver without any symmetry of its own, which a `Symmetry` turns.

`solve(symmetry)` solves the turned problem. `turn(found, symmetry)` turns what `solve(Symmetry())`
found, so that both should agree. `exchanged()` solves a problem twice: with a source at A that is
observed at B, and the other way round.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.ndimage import gaussian_filter
from symmetric_poisson import SIDES, exchanged_sources, poisson
from symmetries import NAMES, Floats, Symmetry, horizontal, of_all_axes

import groundswell as gs

Table = dict[str, Any]  # of a case
Found = dict[str, Floats]  # scalars (z, y, x) or (point, time); vectors (..., 3) end in "vector"


@dataclass(frozen=True)
class SymmetricProblem:
    """How to solve a turned problem, and how exactly the solutions must agree.

    Tolerances are relative to the largest value. Without another reason they leave room for
    rounding.
    """

    solve: Callable[[Symmetry], Found]
    symmetries: tuple[Symmetry, ...]
    tolerance: float = 1e-12
    exchanged: Callable[[], tuple[Floats, Floats]] | None = None
    exchange_tolerance: float = 1e-10


def turn(found: Found, symmetry: Symmetry) -> Found:
    """What a turned problem should find."""
    return {name: _turn(name, values, symmetry) for name, values in found.items()}


def _turn(name: str, values: Floats, symmetry: Symmetry) -> Floats:
    if name.endswith("field vector"):
        values = np.stack([symmetry.of_array(v) for v in np.moveaxis(values, -1, 0)], -1)
    if name.endswith("vector"):
        return symmetry.of_vectors(values)
    return symmetry.of_array(values) if name.endswith("field") else values


def smooth(shape: tuple[int, ...], low: float, high: float, seed: int, mode: str) -> Floats:
    """Random values that vary over a few cells, (z, y, x)."""
    noise = np.random.default_rng(seed).standard_normal(shape)
    values = gaussian_filter(noise, 1.5, mode=mode)  # type: ignore[arg-type]
    return low + (high - low) * (values - values.min()) / np.ptp(values)


# --- earthquakes and DG waves ---------------------------------------------------------------------

POINTS = np.array(  # four receivers and a source, in shares of the region
    [
        [0.31, 0.42, 0.0],
        [0.62, 0.27, 0.37],
        [0.47, 0.71, 0.61],
        [0.78, 0.66, 0.0],
        [0.52, 0.45, 0.3],
    ]
)
COMPONENTS = {"ee": (0, 0), "nn": (1, 1), "dd": (2, 2), "ne": (0, 1), "ed": (0, 2), "nd": (1, 2)}
TENSOR = np.array([[2.0, 0.3, -0.7], [0.3, -1.1, 0.9], [-0.7, 0.9, 0.4]]) * 1e15
FORCE = np.array([1e9, -2e9, 0.7e9])
PULSE = {"kind": "gaussian", "sigma": 0.08}


def rock(solver: Any, h: float, shape: tuple[int, int, int], symmetry: Symmetry) -> Any:
    """A model that varies in all directions, turned."""
    vs = symmetry.of_array(smooth(shape, 1500, 2200, 1, "nearest"))
    rho = symmetry.of_array(smooth(shape, 2200, 2800, 2, "nearest"))
    return solver.Model(1.8 * vs, vs, rho, spacing=h)


def point(at: Floats) -> Table:
    """Position of a source or receiver."""
    return dict(zip(("x", "y", "depth"), map(float, at), strict=True))


def motion(result: Any) -> Floats:
    """Velocity along x, y and depth, (station, time, 3)."""
    east, north, up = (result.seismograms.sel(component=c).values for c in "ENZ")
    return np.stack([east, north, -up], -1)


def seismic(solver: Any, h: float, shape: tuple[int, int, int], **case: Any) -> Any:
    """Waves of a moment tensor and of a force, with a free surface."""
    size = h * np.array(shape[::-1])

    def solve(symmetry: Symmetry) -> Found:
        at = [point(p) for p in symmetry.of_points(POINTS * size, size)]
        tensor, force = symmetry.of_tensor(TENSOR), symmetry.of_vectors(FORCE)
        components = {name: float(tensor[pair]) for name, pair in COMPONENTS.items()}
        sources = [
            {"kind": "moment-tensor", "components": components, **at[4], "time_function": PULSE},
            {"kind": "force", "force": force.tolist(), **at[1], "time_function": PULSE},
        ]
        receivers = [{"name": f"R{i}", **position} for i, position in enumerate(at[:4])]
        model = rock(solver, h, shape, symmetry)
        return {"motion vector": motion(solver.simulate(model, sources, receivers, **case))}

    return solve


def exchanged_forces(
    solver: Any, h: float, shape: tuple[int, int, int], sigma: float = 0.08, **case: Any
) -> Any:
    """A force at the surface and a seismometer at depth, and the other way round."""
    pulse = {"kind": "gaussian", "sigma": sigma}
    at = [point(p) for p in POINTS[[0, 2]] * h * np.array(shape[::-1])]
    directions = np.array([[0.8, 1.1, -0.5], [-0.7, 1.0, 0.4]])

    def solve(source: int) -> Floats:
        force = (1e9 * directions[source]).tolist()
        push = {"kind": "force", "force": force, **at[source], "time_function": pulse}
        receiver = {"name": "R", **at[1 - source]}
        result = solver.simulate(rock(solver, h, shape, Symmetry()), [push], [receiver], **case)
        return motion(result) @ directions[1 - source]

    return lambda: (solve(0), solve(1))


# --- ultrasound -----------------------------------------------------------------------------------


def ultrasound(shape: tuple[int, int, int], spacing: tuple[float, ...], width: int) -> Any:
    """Sound of an initial pressure and of points in a medium whose properties all vary."""
    mode = "wrap" if width == 0 else "nearest"
    speed, density = smooth(shape, 1450, 1700, 3, mode), smooth(shape, 900, 1300, 4, mode)
    absorption, pressure = smooth(shape, 0.1, 2, 5, mode), smooth(shape, -1e3, 1e3, 6, mode)

    def solve(symmetry: Symmetry) -> Found:
        result = gs.ultrasound.simulate(
            {
                "speed": symmetry.of_array(speed),
                "density": symmetry.of_array(density),
                "absorption": symmetry.of_array(absorption),
                "power": 1.4,
                "nonlinearity": 6.0,
            },
            initial=symmetry.of_array(pressure),
            spacing=symmetry.of_lengths(spacing),
            duration=60 * 4e-8,
            time={"step": 4e-8},
            boundary={"width": width},
            records=[{"fields": ["p"], "where": {"kind": "all"}, "what": "final", "file": "p.nc"}],
            precision="double",
        )
        names = ("p_max", "p_min", "p_rms")
        maps = {f"{name} field": result.fields[name].values for name in names}
        return maps | {"p field": result.records["p.nc"]["p_final"].values.squeeze()}

    return solve


def exchanged_points() -> tuple[Floats, Floats]:
    """A source of volume at one point and a hydrophone at another, where the medium is the same."""
    shape, points = (12, 14, 16), ((3, 4, 5), (8, 9, 11))  # z, y, x
    medium = {
        "speed": smooth(shape, 1450, 1700, 8, "wrap"),
        "density": smooth(shape, 900, 1300, 9, "wrap"),
    }
    for values in medium.values():
        values[points[1]] = values[points[0]]
    masks = np.zeros((2, *shape), bool)
    for mask, at in zip(masks, points, strict=True):
        mask[at] = True
    samples = np.random.default_rng(5).standard_normal(30)

    def solve(source: int) -> Floats:
        there = points[1 - source]
        result = gs.ultrasound.simulate(
            medium,
            [
                {
                    "shape": {"kind": "mask", "indices": masks[source]},
                    "signal": {"kind": "samples", "interval": 2e-8, "values": samples.tolist()},
                    "pressure": 1e5,
                    "mode": "uncorrected",
                }
            ],
            spacing=1.5e-4,
            duration=80 * 2e-8,
            time={"step": 2e-8},
            boundary={"width": 0},
            records=[
                {
                    "fields": ["p"],
                    "where": {"kind": "points", "positions": [[1.5e-4 * i for i in there[::-1]]]},
                    "file": "p.nc",
                }
            ],
            precision="double",
        )
        return result.records["p.nc"]["p"].values

    return solve(0), solve(1)


# --- cavity ---------------------------------------------------------------------------------------

LID = np.array([0.1, 0.0, -0.07])  # velocity of the northern wall


def cavity(symmetry: Symmetry) -> Found:
    """A flow driven by heat and by a lid in a box of three different edges."""
    points, size = (15, 11, 13), (1.0, 0.8, 1.2)
    walls: list[list[Table]] = [
        [{"kind": "fixed", "temperature": 0.5}, {"kind": "fixed", "temperature": -0.5}],
        [{"kind": "adiabatic"}, {"kind": "adiabatic", "velocity": None}],
        [{"kind": "adiabatic"}, {"kind": "conducting"}],
    ]
    turned = {}
    for names, old, mirrored in zip(SIDES, symmetry.source, symmetry.mirrored, strict=True):
        for name, wall in zip(names, walls[old][:: -1 if mirrored else 1], strict=True):
            moving = {"velocity": symmetry.of_vectors(LID).tolist()} if "velocity" in wall else {}
            turned[name] = wall | moving
    down = symmetry.of_vectors(np.array([0.0, 0.0, -1.0]))
    axis = int(np.abs(down).argmax())
    fluid = {
        "kind": "rayleigh",
        "rayleigh": 2e4,
        "down": ("-" if down[axis] < 0 else "") + NAMES[axis],
    }
    result = gs.cavity.simulate(
        symmetry.of_lengths(points),
        fluid,
        turned,
        size=symmetry.of_lengths(size),
        time={"tolerance": 1e-9},
    )
    found = {f"{name} field": result.fields[name].values for name in ("p", "T")}
    velocity = np.stack([result.fields[name].values for name in "uvw"], -1)
    heat = {name: np.abs(np.atleast_1d(value)) for name, value in numbers(result.heat)}
    return found | {"velocity field vector": velocity} | heat


def numbers(heat: Any) -> Iterator[tuple[str, float]]:
    """The numbers of a run that do not depend on how the box lies."""
    for name in ("nusselt", "nusselt_mid"):
        if name in heat:
            yield name, heat[name]


# --- all ------------------------------------------------------------------------------------------

ROLLED = (
    Symmetry((1, 2, 0), (True, False, False), (7, 4, 2)),
    Symmetry(rolled=(3, 0, 0)),
    Symmetry(rolled=(0, -5, 0)),
)
QUAKE = {"duration": 0.6, "step": 0.01, "boundary": {"width": 6}, "precision": "double"}
DG = {
    "duration": 0.4,
    "step": 0.003,
    "boundary": {"width": 2},
    "method": {"degree": 3},
    "precision": "double",
}
PROBLEMS = {
    # The outermost faces of the grid carry a velocity at one end of an axis only.
    "earthquake": SymmetricProblem(
        seismic(gs.earthquake, 100.0, (12, 14, 16), **QUAKE),
        tuple(horizontal()),
        1e-7,
        exchanged_forces(gs.earthquake, 100.0, (12, 14, 16), **QUAKE),
    ),
    "dgwave": SymmetricProblem(
        seismic(gs.dgwave, 300.0, (3, 4, 5), **DG),
        tuple(horizontal()),
        # Forces are spread and receivers are not, so only resolved waves are interchangeable.
        exchanged=exchanged_forces(gs.dgwave, 300.0, (3, 4, 5), 0.25, **DG | {"duration": 1.5}),
        exchange_tolerance=2e-2,
    ),
    # As in k-Wave, absorbing layers begin half a point earlier at the low end of an axis.
    "ultrasound": SymmetricProblem(
        ultrasound((14, 16, 18), (1.5e-4, 1.8e-4, 2e-4), 6), tuple(of_all_axes()), 5e-4
    ),
    "periodic ultrasound": SymmetricProblem(
        ultrasound((12, 14, 16), (1.5e-4, 1.8e-4, 2e-4), 0),
        (*ROLLED, *of_all_axes()),
        exchanged=exchanged_points,
    ),
    "cavity": SymmetricProblem(cavity, tuple(of_all_axes())),
    "poisson": SymmetricProblem(poisson, tuple(of_all_axes()), exchanged=exchanged_sources),
}
