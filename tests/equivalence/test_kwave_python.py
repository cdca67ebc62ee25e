"""Random simulations against the NumPy backend of k-wave-python, where that is installed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import groundswell as gs

try:
    from kwave.data import Vector
    from kwave.kgrid import kWaveGrid
    from kwave.kmedium import kWaveMedium
    from kwave.ksensor import kSensor
    from kwave.ksource import kSource
    from kwave.kspaceFirstOrder import kspaceFirstOrder
except Exception as error:  # importing it also fails without network
    pytest.skip(f"k-wave-python cannot be imported: {error}", allow_module_level=True)

H, DT, STEPS, LAYERS = 1e-4, 1.2e-8, 60, 10
MODES = {
    "additive": "additive",
    "uncorrected": "additive-no-correction",
    "dirichlet": "dirichlet",
}
SOURCES = ["p0", *(f"{field} {mode}" for field in ("p", "ux", "uy") for mode in MODES)]
MEDIA = ["lossless", "absorbing", "Stokes", "nonlinear", "absorbing, nonlinear"]


@dataclass(frozen=True)
class Simulation:
    """A random problem; arrays have the axes (z, y, x)."""

    seed: int

    def __post_init__(self) -> None:
        rng = np.random.default_rng(self.seed)
        kinds = {
            "shape": (24, 26, 30) if self.seed % 2 else (1, 40, 44),
            "source": SOURCES[self.seed % len(SOURCES)],
            "medium": MEDIA[self.seed % len(MEDIA)],
            "heterogeneous": bool(rng.integers(2)),
            "rng": rng,
        }
        self.__dict__.update(kinds)

    def varying(self, value: float) -> Any:
        share = 1 + 0.15 * self.rng.random(self.shape).astype(np.float32)
        return (value * share).astype(np.float64) if self.heterogeneous else value

    def properties(self) -> dict[str, Any]:
        found = {"speed": self.varying(1500.0), "density": self.varying(1000.0)}
        if "absorbing" in self.medium or self.medium == "Stokes":
            found |= {"absorption": self.varying(0.8)}
            found |= {"power": 2.0 if self.medium == "Stokes" else 1.4}
        return found | ({"nonlinearity": self.varying(6.0)} if "nonlinear" in self.medium else {})


def turned(values: Any, axes: int) -> Any:
    """An array (z, y, x) in the order of k-Wave: (x, y) or (x, y, z)."""
    if np.ndim(values) == 0:
        return values
    return values[0].T if axes == 2 else values.transpose(2, 1, 0)


def theirs(problem: Simulation, properties: dict[str, Any], parts: dict[str, Any]) -> NDArray[Any]:
    """Pressure of k-wave-python, (steps, points)."""
    axes = 3 if problem.shape[0] > 1 else 2
    grid = kWaveGrid(Vector(problem.shape[::-1][:axes]), Vector([H] * axes))
    grid.setTime(STEPS, DT)
    names = {"speed": "sound_speed", "absorption": "alpha_coeff", "nonlinearity": "BonA"}
    names |= {"power": "alpha_power"}
    medium = kWaveMedium(**{names.get(n, n): turned(v, axes) for n, v in properties.items()})
    source, sensor = kSource(), kSensor(turned(parts["sensors"], axes), ["p"])
    if "p0" in parts:
        source.p0 = turned(parts["p0"], axes)
    else:
        field, mode = problem.source.split()
        setattr(source, f"{field[0]}_mask", turned(parts["mask"], axes))
        setattr(source, field, parts["signal"][None])
        setattr(source, f"{field[0]}_mode", MODES[mode])
    found = kspaceFirstOrder(
        grid, medium, source, sensor, pml_size=LAYERS, backend="python", smooth_p0=False, quiet=True
    )
    # Points are in the order of (x, y, z) with z fastest; ours have x fastest.
    order = np.argsort(turned(np.arange(parts["sensors"].size).reshape(problem.shape), axes)[
        turned(parts["sensors"], axes)
    ])  # fmt: skip
    return np.asarray(found["p"])[order].T


def ours(problem: Simulation, properties: dict[str, Any], parts: dict[str, Any]) -> NDArray[Any]:
    """Our pressure, (steps, points), in single precision."""
    sources = []
    if "p0" not in parts:
        field, mode = problem.source.split()
        signal = {"kind": "samples", "interval": DT, "values": parts["signal"]}
        source = {"shape": {"kind": "mask", "indices": parts["mask"].ravel()}, "signal": signal}
        direction = {"ux": [1, 0, 0], "uy": [0, 1, 0]}
        amplitude = {"pressure": 1.0} if field == "p" else {"velocity": 1.0}
        turning = {} if field == "p" else {"direction": direction[field]}
        sources = [{**source, **amplitude, **turning, "mode": mode}]
    initial = parts.get("p0")
    result = gs.ultrasound.simulate(
        properties,
        sources,
        None if initial is None else {"kind": "array", "values": initial, "smooth": False},
        points=list(problem.shape[::-1][: 3 if problem.shape[0] > 1 else 2]),
        spacing=H,
        duration=DT * (STEPS + 1),
        time={"step": DT},
        boundary={"width": LAYERS},
        records=[
            {
                "fields": ["p"],
                "where": {"kind": "mask", "indices": parts["sensors"].ravel()},
                "file": "p.nc",
            }
        ],
    )
    found = result.records["p.nc"]["p"].values
    return found[:STEPS] if "p0" in parts else found[1 : STEPS + 1]


def make_parts(problem: Simulation) -> dict[str, Any]:
    """Initial pressure, or a mask and its signal; and the points of sensors."""
    rng, shape = problem.rng, problem.shape
    sensors = np.zeros(shape, bool)
    sensors.flat[rng.choice(sensors.size, 40, replace=False)] = True
    size = 5e6 if "nonlinear" in problem.medium else 1e5
    if problem.source == "p0":
        z, y, x = (np.arange(n) - n // 2 for n in shape)
        squared = z[:, None, None] ** 2 + y[:, None] ** 2 + x**2
        return {"sensors": sensors, "p0": size * np.exp(-squared / 8.0)}
    mask = np.zeros(shape, bool)
    mask[shape[0] // 2, 9:14, 12] = True
    sensors |= mask  # where the pressure is largest
    t = np.arange(STEPS)
    signal = np.sin(2 * np.pi * 2e6 * DT * t) * np.hanning(STEPS)
    return {
        "sensors": sensors,
        "mask": mask,
        "signal": signal * (size if problem.source[0] == "p" else size / 1.5e6),
    }


@pytest.mark.parametrize("seed", range(30))
def test_random_simulations_agree(seed: int) -> None:
    problem = Simulation(seed)
    properties, parts = problem.properties(), make_parts(problem)
    found, expected = ours(problem, properties, parts), theirs(problem, properties, parts)
    assert found.shape == expected.shape and np.abs(expected).max() > 0
    assert np.abs(found - expected).max() < 1e-5 * np.abs(expected).max(), problem
