"""Response spectra of all variations of all ruptures at all sites, from strain Green tensors.

    python compute_intensities.py [BACKEND]

Reads `tensors.zarr`, and writes `intensities.nc`: RotD50 by rupture, variation, site and period.
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import xarray

from groundswell.backends import Backend, open_backend
from groundswell.errors import GroundswellError
from groundswell.seismology.case.intensity import IntensityOutput
from groundswell.seismology.green import Rupture, read_tensors, synthesize_variations
from groundswell.seismology.intensity.seismograms import measure

FOLDER = Path(__file__).parent
WANTED = IntensityOutput(measures=("rotd50",), periods=(3.0, 4.0, 5.0, 7.5, 10.0))


def rupture_of(name: str) -> Rupture:
    """The files of a rupture."""
    folder = FOLDER / "ruptures"
    return Rupture(folder / f"{name}.csv", folder / f"{name}_variations.csv")


def spectra(velocity: xarray.DataArray, backend: Backend) -> xarray.Dataset:
    """RotD50 (variation, station, period) of velocity (variation, station, component, time)."""
    parts = [measure(of_variation, WANTED, backend) for of_variation in velocity]
    return xarray.concat(parts, "variation")


def main(backend: str = "cpu") -> None:
    """Compute and write the spectra of all ruptures."""
    device, tensors = open_backend(backend), read_tensors([FOLDER / "tensors.zarr"])
    with (FOLDER / "ruptures.csv").open(encoding="utf-8") as file:
        names = [row["name"] for row in csv.DictReader(file)]
    found = []
    for name in names:
        found.append(spectra(synthesize_variations(tensors, rupture_of(name), device), device))
        print(name, flush=True)
    dataset = xarray.concat(found, "rupture", combine_attrs="drop").assign_coords(rupture=names)
    dataset.to_netcdf(FOLDER / "intensities.nc", engine="h5netcdf")


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except GroundswellError as error:
        sys.exit(f"{error}; see README.md for the commands that come first")
