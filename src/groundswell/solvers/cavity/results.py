"""Readers of a run's results: the solver's part of `Result`."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from groundswell.formats import netcdf
from groundswell.formats.damage import read_errors_reported
from groundswell.formats.text import read_json, read_table, read_text
from groundswell.simulation.readers import FileReader, RecordReader
from groundswell.simulation.summary import read_summary
from groundswell.solvers.cavity.case import AXES, FIELDS
from groundswell.solvers.cavity.recording import recordable_of, unit_of

if TYPE_CHECKING:
    import xarray


# Pressure, velocity and temperature on all points, walls included, each (z, y, x).
fields = FileReader(
    "flow.nc",
    partial(netcdf.read_netcdf, required=(*AXES, *FIELDS)),
    "run the case with output.fields = true",
)


def profiles(folder: Path) -> dict[str, xarray.Dataset]:
    """All fields on the three centre lines, by axis, with the position as coordinate."""
    import xarray

    path, kind = folder / "profiles.csv", kind_of_fluid(folder)
    about, metre = recordable_of(kind), {"units": unit_of(kind, "m")}
    header, *lines = read_text(path, "profiles").splitlines()
    rows = [line.split(",") for line in lines]
    names = header.split(",")[2:]
    with read_errors_reported(
        path, "profiles", "run the case again", if_missing="run the case again"
    ):
        tables = {a: np.array([row[1:] for row in rows if row[0] == a], float) for a in AXES}
        return {
            axis: xarray.Dataset(
                {
                    name: (axis, column, about[name].attrs)
                    for name, column in zip(names, table[:, 1:].T, strict=True)
                },
                {axis: (axis, table[:, 0], metre)},
            )
            for axis, table in tables.items()
        }


def kind_of_fluid(folder: Path) -> str:
    """What `recordable_of` needs: whether the set-up in the summary has units."""
    found = read_summary(folder)["case"].get("quantities", [])
    has_units = any(each["key"] == "viscosity" and each["unit"] for each in found)
    return "properties" if has_units else "rayleigh"


def _table(path: Path) -> xarray.Dataset:
    """A CSV table with its first column as coordinate.

    Positions and times may have units; Nusselt numbers, counts and residuals, which are relative to
    scales of the flow, are plain numbers.
    """
    import xarray

    (name, first), *others = read_table(path).items()
    units = {"time": "s", "step": "1"}.get(name, "m")
    plain, units = {"units": "1"}, unit_of(kind_of_fluid(path.parent), units)
    columns = {key: (name, column, plain) for key, column in others}
    return xarray.Dataset(columns, {name: (name, first, {"units": units})})


# Root mean squares of the rates of change by step, and the grid in use (0 is the finest).
residuals = FileReader("residuals.csv", _table, "run the case without time.duration; see history")

# Of flow in time: mean Nusselt numbers of both walls and cycles, by time.
history = FileReader("history.csv", _table, "run the case with time.duration")

# Local Nusselt numbers along the mid-lines of the hot and of the cold wall.
nusselt = FileReader("nusselt.csv", _table, "this case has no pair of heated walls")

# Mean Nusselt numbers, peak velocities on centre lines, and whether the flow is steady.
heat = FileReader("heat.json", read_json)


def records(folder: Path) -> dict[str, xarray.Dataset]:
    """The files of `output.record` and of the film, by name; values are read when they are used.

    Raises:
        InputError: the run has not recorded fields, or a file is damaged.
    """
    recordable = recordable_of(kind_of_fluid(folder))
    found: dict[str, xarray.Dataset] = RecordReader(recordable, {fields.file}, downward=False)(
        folder
    )
    return found
