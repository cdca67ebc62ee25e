"""Readers of a solution's files: the attributes of `Result`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from groundswell.formats.netcdf import open_dataset
from groundswell.formats.text import read_json, read_table
from groundswell.simulation.readers import FileReader, RecordReader
from groundswell.solvers.poisson.recordable import NO_UNIT
from groundswell.spectral_elements.vtkhdf import LagrangeElements

if TYPE_CHECKING:
    import xarray


def _table(path: Path) -> xarray.Dataset:
    """A CSV table with its first column as coordinate; columns without a unit are plain numbers."""
    import xarray

    (name, first), *others = read_table(path).items()
    at = first.astype(int) if name == "iteration" else first
    units = {"time": "s"} | dict.fromkeys(("smallest", "largest", "mean"), _unit(path.parent))
    about = {key: {"units": units.get(key, NO_UNIT)} for key, _ in [(name, at), *others]}
    columns = {key: (name, column, about[key]) for key, column in others}
    return xarray.Dataset(columns, {name: (name, at, about[name])})


def _unit(folder: Path) -> str:
    """The unit of u, if the case gives it."""
    path = folder / "solution.json"
    found = read_json(path) if path.exists() else {}
    return str(found.get("unit", NO_UNIT))


def _fields(path: Path) -> xarray.Dataset:
    elements = LagrangeElements.read(path)
    unit = str(elements.attrs.get("units", NO_UNIT))
    return elements.as_dataset(dict.fromkeys(elements.fields, unit))


# Euclidean norms of the residual by iteration, and their ratios to the first.
residuals = FileReader("convergence.csv", _table, "run the case without [time]; see history")

# Of a solution in time: iterations, the range of u and its mean, by time, s.
history = FileReader("history.csv", _table, "run the case with [time]")

# Of a solution in time: flows through sides, and what has flowed in, by time, s.
flows = FileReader(
    "flows.nc",
    lambda path: open_dataset(path).load(),
    "run the case with [time]; without it, solution has the flows",
)

# u, and its error if the exact u is known, (element, node), with the nodes' x, y and z, m. The
# nodes in the file are equidistant in each element, with a degree of at most 10.
fields = FileReader(
    "solution.vtkhdf",
    _fields,
    "run the case with output.fields = true",
)

# Iterations, convergence, the range of u, and errors if the exact solution is known.
solution = FileReader("solution.json", read_json)

# The files of `output.record` and of the film, by name. All of them have units of their own.
records = RecordReader({}, {flows.file, fields.file}, downward=False)
