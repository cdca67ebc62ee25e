"""Airguns against the exact waves of a source of volume in unbounded water.

p = rho / (4 pi r) q'(t - r/c) and v = q(t - r/c) / (4 pi r^2) + q'(t - r/c) / (4 pi r c) along r,
where q is the rate of the volume (Landau & Lifshitz, Fluid Mechanics, section 74).
"""

from __future__ import annotations

from math import pi
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from variants import long_variants

from groundswell.arrays import Floats
from groundswell.simulation.temporary import run_built
from groundswell.solvers.dgwave import DgWaveCase
from groundswell.solvers.earthquake import EarthquakeCase

RHO, C = 1030.0, 1480.0
SIDE, FREQUENCY = 700.0, 5.0
SOURCE = (355.0, 345.0, 350.0)
# In other rows of elements than the source, which carry what the elements cannot resolve of it.
OFFSETS = np.array([(-120.0, -110.0, 0.0), (-70.0, 125.0, -110.0), (80.0, -100.0, 60.0)])
DISTANCES = np.linalg.norm(OFFSETS, axis=1)
STRENGTH, VOLUME = 20e5, 0.004  # Pa m, m^3
PLACE = dict(zip(("x", "y", "depth"), SOURCE, strict=True))
SIZES = {
    "strength": {"strength": "20 bar m", "time_function": {"kind": "ricker", "frequency": 5}},
    "volume": {"volume": "4 L", "time_function": {"kind": "gaussian", "sigma": 0.05}},
    "signature": {"strength": "1 bar m", "time_function": {"kind": "table", "file": "gun.txt"}},
}


def content(kind: str, airgun: dict[str, Any]) -> dict[str, Any]:
    """A case of a cube of water that ends before waves return from its sides."""
    receivers = [
        {"name": f"R{n}", "kind": kind, **dict(zip(("x", "y", "depth"), place, strict=True))}
        for n, place in enumerate((SOURCE + OFFSETS).tolist())
    ]
    return {
        "grid": {"size": [SIDE] * 3, "spacing": 100},
        "time": {"duration": 0.6},
        "medium": {"kind": "homogeneous", "vp": C, "vs": 0, "rho": RHO},
        "source": [{"kind": "airgun", **PLACE, **airgun}],
        "receiver": receivers,
        "output": {"seismograms": {"interval": 0.004}},
        "run": {"precision": "double"},
    }


def ricker(t: Floats) -> Floats:
    """Of the peak 1, whose middle is 1.5 periods after the onset."""
    a = (pi * FREQUENCY * (t - 1.5 / FREQUENCY)) ** 2
    return np.asarray(np.where(t >= 0, (1 - 2 * a) * np.exp(-a), 0))


def running_integral(values: Floats, step: float) -> Floats:
    return np.concatenate([[0], np.cumsum(values[1:] + values[:-1]) * step / 2])


FINE = np.linspace(0, 1, 20_001)


def volume_rate(size: str) -> tuple[Floats, Floats]:
    """q, m^3/s, and q', m^3/s^2, at the times FINE."""
    if size == "volume":
        x = (FINE - 0.3) / 0.05
        q = VOLUME * np.exp(-(x**2) / 2) / (0.05 * np.sqrt(2 * pi))
        return q, -q * x / 0.05
    slope = 4 * pi * STRENGTH / RHO * ricker(FINE)
    return running_integral(slope, FINE[1]), slope


def exact(size: str, time: Floats) -> tuple[Floats, Floats]:
    """Pressure, Pa, and radial velocity, m/s, at all receivers, (receivers, times)."""
    r = DISTANCES[:, None]
    q, slope = (np.interp(time - r / C, FINE, of, left=0.0) for of in volume_rate(size))
    return RHO * slope / (4 * pi * r), q / (4 * pi * r**2) + slope / (4 * pi * r * C)


def radial(velocity: Any) -> Floats:
    """The component along r of (station, component, time), whose third component is up."""
    along = OFFSETS * [1, 1, -1] / DISTANCES[:, None]
    return np.asarray(np.einsum("nct,nc->nt", velocity.values, along))


def misfits(found: Any, wanted: Floats) -> Any:
    return np.linalg.norm(found - wanted, axis=1) / np.linalg.norm(wanted, axis=1)


@pytest.mark.parametrize(
    ("size", "equations"),
    [
        *long_variants([("strength", "elastic")]),
        ("volume", "acoustic"),
        ("signature", "acoustic"),
    ],
)
def test_pressure_and_velocity_of_discontinuous_elements(
    size: str, equations: str, tmp_path: Path
) -> None:
    times = np.arange(0, 0.6, 0.001)
    np.savetxt(tmp_path / "gun.txt", np.stack([times, 20 * ricker(times)], axis=1))  # bar m
    case = content("ocean-bottom-node", SIZES[size]) | {
        "solver": "dgwave",
        "method": {"degree": 5, "equations": equations},
        "boundary": {"top": "absorbing", "sides": "absorbing", "bottom": "absorbing"},
    }
    result = run_built(DgWaveCase.from_dict(case, tmp_path))
    pressure, velocity = exact(size, result.pressure["time"].values)
    assert (misfits(result.pressure.values, pressure) < 0.01).all()
    assert (misfits(radial(result.seismograms), velocity) < 0.01).all()


def test_velocity_on_a_staggered_grid() -> None:
    case = content("seismometer", SIZES["strength"])
    case["grid"]["spacing"] = 12.5
    built = EarthquakeCase.from_dict(case | {"boundary": {"top": "absorbing", "width": 4}}, "")
    result = run_built(built)
    _, velocity = exact("strength", result.seismograms["time"].values)
    assert (misfits(radial(result.seismograms), velocity) < 0.03).all()
