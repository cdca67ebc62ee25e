"""Input files of a small hazard analysis."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import xarray as xr

from groundswell.arrays import Floats

MAGNITUDES = (6.0, 6.6, 7.2)
RATES = (1e-2, 3e-3, 8e-4)
VARIATIONS, SITES, PERIODS = 50, 4, (0.5, 1.0, 3.0)

CASE = """
title = "Two faults"
measures = ["pga", "pgv", "rotd50(1.0)", "rotd50(3.0)"]
return_periods = [100, 475]
fractiles = [0.16, 0.84]

[[ruptures]]
file = "ruptures.csv"

[[intensities]]
name = "simulated"
file = "intensities.nc"
weight = 0.75

[[intensities]]
name = "fit"
file = "intensities.nc"
distribution = "lognormal"
weight = 0.25

[levels]
count = 30

[disaggregation]
return_period = 475
sites = ["S1"]

[output]
sites = ["S0", "S1"]
openquake = true
relief = "relief.nc"
map_lines = ["faults.gmt"]
"""


def motion() -> Floats:
    """Peak acceleration (ruptures, variations, sites), m/s^2."""
    rng = np.random.default_rng(8)
    median = 0.5 * 10 ** (0.4 * (np.array(MAGNITUDES) - 6))[:, None, None]
    decay = np.array([1.0, 0.6, 0.4, 0.3])
    return median * decay * rng.lognormal(0, 0.6, (len(MAGNITUDES), VARIATIONS, SITES))


def write_inputs(folder: Path, case: str = CASE) -> Path:
    """Write the files of the analysis; returns the input file."""
    head = "name,magnitude,rate,rake,longitude,latitude,depth,strike,dip,length,width\n"
    rows = [
        f"R{n},{m},{rate},180,{-122 + 0.1 * n},38,0,0,90,{20e3 + 10e3 * n},12000\n"
        for n, (m, rate) in enumerate(zip(MAGNITUDES, RATES, strict=True))
    ]
    (folder / "ruptures.csv").write_text(head + "".join(rows))
    _intensities().to_netcdf(folder / "intensities.nc", engine="h5netcdf")
    _relief().to_netcdf(folder / "relief.nc", engine="h5netcdf")
    (folder / "faults.gmt").write_text("-123 37\n-121 39\n>\n-121.8 37\n-121.7 39\n")
    path = folder / "hazard.toml"
    path.write_text(case)
    return path


def _intensities() -> xr.Dataset:
    pga = motion()
    dims = ("rupture", "variation", "site")
    spectra = pga[:, :, None] * np.array([2.0, 1.0, 0.2])[:, None]
    return xr.Dataset(
        {
            "pga": (dims, pga, {"units": "m s-2"}),
            "pgv": (dims, 0.1 * pga, {"units": "m s-1"}),
            "rotd50": (("rupture", "variation", "period", "site"), spectra, {"units": "m s-2"}),
        },
        {
            "rupture": [f"R{n}" for n in range(len(MAGNITUDES))],
            "site": [f"S{n}" for n in range(SITES)],
            "period": list(PERIODS),
            "longitude": ("site", [-122.1, -121.8, -121.9, -121.6]),
            "latitude": ("site", [38.0, 38.2, 37.8, 38.1]),
        },
    )


def _relief() -> xr.Dataset:
    x, y = np.linspace(-122.3, -121.4, 30), np.linspace(37.6, 38.4, 25)
    heights = 300 * np.sin(20 * x) * np.cos(15 * y)[:, None]
    return xr.Dataset(
        {"elevation": (("latitude", "longitude"), heights)}, {"longitude": x, "latitude": y}
    )
