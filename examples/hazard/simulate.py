"""Simulate the variations of a few ruptures, and store their peak velocities for hazard.

Run this in the folder of the script, then `groundswell hazard simulated.toml`.
"""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import xarray as xr

import groundswell as gs

VARIATIONS = 4  # of depth and strike of each rupture
FOLDER = Path("runs")


def simulate(rupture: dict[str, str], variation: int, rng: np.random.Generator) -> xr.DataArray:
    """Peak ground velocity (y, x) of one variation, m/s."""
    settings = {
        "source.0.x": float(rupture["x"]),
        "source.0.y": float(rupture["y"]),
        "source.0.magnitude": float(rupture["magnitude"]),
        "source.0.strike": float(rng.uniform(0, 360)),
        "source.0.depth": float(rng.uniform(600, 2000)),
    }
    folder = FOLDER / f"{rupture['name']}-{variation}"
    result = gs.run("case.toml", settings=settings, folder=folder, resume="auto")
    return result.shaking_map["pgv"]


def main() -> None:
    """Run all variations; those that are complete are not run again."""
    rng = np.random.default_rng(1)
    with Path("ruptures.csv").open() as file:
        ruptures = list(csv.DictReader(file))
    maps = [
        xr.concat([simulate(rupture, n, rng) for n in range(VARIATIONS)], "variation")
        for rupture in ruptures
    ]
    pgv = xr.concat(maps, "rupture").assign_coords(rupture=[each["name"] for each in ruptures])
    pgv.attrs["units"] = "m s-1"
    pgv.to_dataset(name="pgv").to_netcdf("intensities.nc", engine="h5netcdf")


if __name__ == "__main__":
    main()
